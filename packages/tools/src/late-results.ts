import { LruMap } from '@h/bounded';
import type { ToolEffect } from '@h/turn';

/** A call that was given up, and then succeeded after all. */
export interface LateResult {
  readonly id: string;
  readonly name: string;
  readonly effect: ToolEffect;
  readonly turn: string;
  /** How its result was reported to the model. */
  readonly reportedAs: 'timed-out' | 'cancelled';
  /** How long it really took, in milliseconds. */
  readonly durationMs: number;
}

/** How many sessions are kept in mind, and how many calls of each. */
const maxSessions = 256;
const maxCalls = 20;

/**
 * What came in after its call had been given up, by session, until the model was told.
 *
 * Belongs to the driver, outlives turns, and changes nothing in any of them: `tools()` reads it.
 */
export class LateResults {
  readonly #sessions = new LruMap<string, readonly LateResult[]>(maxSessions);

  add(session: string, result: LateResult): void {
    this.#sessions.set(session, [...this.of(session), result].slice(-maxCalls));
  }

  /** What the model of this session has not been told yet, oldest first. */
  of(session: string): readonly LateResult[] {
    return this.#sessions.get(session) ?? [];
  }

  /** Forgets what the model has been told. */
  settle(session: string, told: readonly LateResult[]): void {
    const left = this.of(session).filter((result) => !told.includes(result));
    if (left.length === 0) this.#sessions.delete(session);
    else this.#sessions.set(session, left);
  }
}
