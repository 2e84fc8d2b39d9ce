import { LruMap } from '@h/bounded';
import type { ToolEffect } from '@h/turn';

/** A call that succeeded after it had timed out or been cancelled. */
export interface LateResult {
  readonly id: string;
  readonly name: string;
  readonly effect: ToolEffect;
  readonly turn: string;
  /** Outcome that was reported to the model. */
  readonly reportedAs: 'timed-out' | 'cancelled';
  /** Actual duration, in milliseconds. */
  readonly durationMs: number;
}

/** Sessions that are remembered, and calls of each. */
const maxSessions = 256;
const maxCalls = 20;

/**
 * Results that arrived after their call had been answered, by session, until they are reported to the model.
 *
 * Owned by the driver and read by `tools()`. It outlives turns and changes nothing in them.
 */
export class LateResults {
  readonly #sessions = new LruMap<string, readonly LateResult[]>(maxSessions);

  add(session: string, result: LateResult): void {
    this.#sessions.set(session, [...this.of(session), result].slice(-maxCalls));
  }

  /** Returns the results that were not reported yet, oldest first. */
  of(session: string): readonly LateResult[] {
    return this.#sessions.get(session) ?? [];
  }

  /** Forgets results that were reported. */
  settle(session: string, told: readonly LateResult[]): void {
    const left = this.of(session).filter((result) => !told.includes(result));
    if (left.length === 0) this.#sessions.delete(session);
    else this.#sessions.set(session, left);
  }
}
