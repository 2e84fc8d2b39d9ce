import { harness, reply, type Reply, type SessionStore } from '@h/turn';

/**
 * Ends a turn whose process is gone, without running anything: `agent.finish()` for who has a store and no agent.
 *
 * The transcript is completed: what the model had answered is kept, calls that may have run are answered `interrupted`,
 * and the turn ends with the outcome `error`. A turn that has ended stays as it is.
 *
 * @returns what became of the turn; its error has the code `unknown-turn` when no journal of it is kept, and
 * `session-busy` while it runs
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
