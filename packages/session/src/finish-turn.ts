import { harness, intercept, reply, stop, type Reply, type SessionStore, type ToolDriver, type ToolOutcome, type TurnOperator } from '@h/turn';

/** What the journal says of a turn whose process is gone. */
const reason = 'The process ended before the turn did.';

/**
 * Ends a turn whose process is gone, without running anything.
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
  reply(harness({ model: () => [], tools: nothingRuns, sessions }).pipe(stopAtOnce()).resume(turn));

/** Asks for the end as soon as the turn is shown again; what it waits for is then answered and nothing is begun. */
const stopAtOnce = (): TurnOperator =>
  intercept('finish-turn', (context) => ({ observe: { 'turn.start': () => context.emit(stop('error', reason)) } }));

const interrupted: ToolOutcome = { status: 'interrupted', reason, output: { type: 'error-text', value: `Interrupted: ${reason}` } };

/** Nothing is run after a stop; should a call come all the same, it is not. */
const nothingRuns: ToolDriver = {
  definitions: () => [],
  run: (calls) => calls.map(({ id }) => ({ type: 'result', id, outcome: interrupted })),
};
