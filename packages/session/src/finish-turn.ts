import { harness, reply, type Reply, type SessionStore } from '@h/turn';

/**
 * Ends an unfinished turn without running anything, like `agent.finish()` for callers that have a store but no agent.
 *
 * Completes the transcript: answers of the model stay, calls that may have run are answered `interrupted`, and the turn ends
 * with the outcome `error`. A turn that has ended does not change.
 *
 * @returns the outcome. The code of its error is `unknown-turn` if there is no journal of the turn, and `session-busy` while
 * the turn runs.
 *
 * @example
 * ```ts
 * for (const { turn } of await sessions.unfinished()) await finishTurn(sessions, turn);
 * ```
 */
export const finishTurn = (sessions: SessionStore, turn: string): Promise<Reply> =>
  reply(
    harness({ model: () => [], sessions })
      .pipe()
      .finish(turn),
  );
