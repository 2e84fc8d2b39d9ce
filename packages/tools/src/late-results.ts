import { LruMap } from '@h/bounded';
import type { Message, ToolEffect } from '@h/turn';

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
  settle(session: string, reported: readonly LateResult[]): void {
    const left = this.of(session).filter((result) => !reported.includes(result));
    if (left.length === 0) this.#sessions.delete(session);
    else this.#sessions.set(session, left);
  }
}

/** Creates the message that reports calls which completed late. */
export const lateNote = (results: readonly LateResult[]): Message => {
  const lines = results.map(({ name, id, reportedAs, durationMs }) => {
    const before = reportedAs === 'timed-out' ? 'reported as timed out' : 'cancelled when its turn ended';
    return `- ${name} (call ${id}), ${before}, completed after ${durationMs} ms without an error`;
  });
  return {
    role: 'user',
    content: [
      '[Note from the harness, not from the user. These tool calls have completed after they timed out or were cancelled:',
      ...lines,
      'Check their effects before you repeat them.]',
    ].join('\n'),
    metadata: { internal: true, kind: 'late-results' },
  };
};
