import { setMaxListeners } from 'node:events';
import {
  toErrorInfo,
  type Agent,
  type ErrorInfo,
  type TurnEvent,
  type TurnOutcome,
  type UnfinishedTurn,
} from '@h/turn';
import {
  anyFunction,
  checkOptions,
  instanceOf,
  InvalidOptionError,
  oneOf,
  required,
  showValue,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import { followTurn } from './follow-turn.js';
import { createSlots, type Slots } from './slots.js';

/** What to do with an unfinished turn. */
export type TurnRecovery = 'resume' | 'finish' | 'leave';

/** Options of {@link recoverTurns}. */
export interface RecoverTurnsOptions {
  /**
   * - `'resume'`: continues each where its journal ends.
   * - `'finish'`: ends each as interrupted and runs nothing.
   * - `'ask'`: calls `ask` for each.
   */
  readonly policy: 'resume' | 'finish' | 'ask';
  /**
   * Decides about a turn; `'leave'` keeps it unfinished. Required by the policy `'ask'`. It is called for one turn at a time, the
   * oldest first, without waiting for turns that were resumed. A turn for which it fails is left.
   */
  readonly ask?: ((turn: UnfinishedTurn) => TurnRecovery | PromiseLike<TurnRecovery>) | undefined;
  /**
   * How many turns run at the same time. A turn that waits for approval (`approval.request`) does not count. It continues as soon as
   * it is answered, even if that exceeds the limit.
   *
   * @defaultValue `4`, the limit of `createLanes()` of `@h/queue`, so that a start is not a burst that providers answer with 429
   */
  readonly concurrency?: number | undefined;
  /** Receives the events of resumed turns and may answer their requests for approval. Errors that it throws are ignored. */
  readonly onEvent?: ((event: TurnEvent, turn: UnfinishedTurn) => void) | undefined;
  /** When aborted, no further turn is asked about or resumed, and running ones are cancelled. */
  readonly signal?: AbortSignal | undefined;
}

/** The result for an unfinished turn. */
export interface RecoveredTurn extends UnfinishedTurn {
  /** What was done; `'leave'` also if nothing could be done. */
  readonly action: TurnRecovery;
  /** Absent for a turn that was left. */
  readonly outcome?: TurnOutcome | undefined;
  /** Why it ended, or why it was left although `ask` did not say so. */
  readonly reason?: string | undefined;
  readonly error?: ErrorInfo | undefined;
}

type Result = Omit<RecoveredTurn, keyof UnfinishedTurn>;

const owner = 'recoverTurns()';

const checks: OptionChecks<RecoverTurnsOptions> = {
  policy: required(oneOf('resume', 'finish', 'ask')),
  ask: anyFunction,
  concurrency: integerFrom(1),
  onEvent: anyFunction,
  signal: instanceOf(AbortSignal),
};

/**
 * Recovers the turns that were unfinished when their process ended: several at a time, the oldest first, and those of one
 * session one after the other. Call it at startup before the first turn: a new turn in a session ends the unfinished one.
 *
 * Turns do not affect each other. One that cannot be opened, because another process has resumed it or its files cannot be
 * read, has the outcome `error` and stays unfinished.
 *
 * @returns the results, the oldest turn first; empty if the signal was aborted before
 * @throws InvalidOptionError, and what the store throws when it lists unfinished turns
 *
 * @example
 * ```ts
 * const recovered = await recoverTurns(agent, { policy: 'resume' });
 * for (const { session, outcome } of recovered) console.log(`${session}: ${outcome}`);
 * ```
 */
export const recoverTurns = async (agent: Agent, options: RecoverTurnsOptions): Promise<readonly RecoveredTurn[]> => {
  const ask = askerOf(options);
  const { signal, concurrency = 4, onEvent } = options;
  if (signal && isAborted(signal)) return [];
  const given = await agent.unfinished();
  const turns = given.toSorted((left, right) => left.startedAt - right.startedAt);
  const stop = new AbortController();
  // Each turn adds a listener, and many may wait for approval.
  setMaxListeners(0, stop.signal);
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal && isAborted(signal)) onAbort();
  try {
    return await recoverAll(agent, turns, { ask, onEvent, signal: stop.signal, inSlot: createSlots(concurrency) });
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
};

type Ask = NonNullable<RecoverTurnsOptions['ask']>;

/** Returns the function that decides, after all options were checked. */
const askerOf = (options: RecoverTurnsOptions): Ask => {
  checkOptions(owner, options, checks);
  const { policy, ask } = options;
  if (policy !== 'ask') return () => policy;
  if (!ask) {
    throw new InvalidOptionError({
      owner,
      option: 'ask',
      message: `${owner}: "ask" is required by the policy 'ask': a function that returns 'resume', 'finish' or 'leave'.`,
    });
  }
  return ask;
};

interface Recovery extends Pick<RecoverTurnsOptions, 'onEvent'> {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly inSlot: Slots;
}

const recoverAll = async (
  agent: Agent,
  turns: readonly UnfinishedTurn[],
  recovery: Recovery,
): Promise<readonly RecoveredTurn[]> => {
  const latest = new Map<string, Promise<RecoveredTurn>>();
  const recovered: Promise<RecoveredTurn>[] = [];
  for (const turn of turns) {
    const choice = await chosen(turn, recovery);
    const recover = async (): Promise<RecoveredTurn> => ({ ...turn, ...(await act(agent, turn, choice, recovery)) });
    const before = latest.get(turn.session);
    const end = before ? before.then(recover) : recover();
    latest.set(turn.session, end);
    recovered.push(end);
  }
  return Promise.all(recovered);
};

/** Decides about a turn. Never rejects: without an answer the turn is left. */
const chosen = async (turn: UnfinishedTurn, { ask, signal }: Recovery): Promise<Result> => {
  if (signal.aborted) return leftBy(signal);
  const aborted = abortOf(signal);
  try {
    const action = await Promise.race([ask(turn), aborted.promise]);
    // It may have been aborted while `ask` ran.
    return isAborted(signal) ? leftBy(signal) : { action: checkedAction(action) };
  } catch (error) {
    if (isAborted(signal)) return leftBy(signal);
    return { action: 'leave', reason: '`ask` failed, so the turn was left.', error: toErrorInfo(error) };
  } finally {
    aborted.forget();
  }
};

const isAborted = ({ aborted }: AbortSignal): boolean => aborted;

/** Resolves when the signal is aborted. */
const abortOf = (signal: AbortSignal): { readonly promise: Promise<undefined>; readonly forget: () => void } => {
  let forget = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    forget = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, forget };
};

const actions: readonly unknown[] = ['resume', 'finish', 'leave'] satisfies TurnRecovery[];

const checkedAction = (action: unknown): TurnRecovery => {
  if (actions.includes(action)) return action as TurnRecovery;
  throw new InvalidOptionError({
    owner,
    option: 'ask',
    message: `${owner}: "ask" must return 'resume', 'finish' or 'leave'; received ${showValue(action)}.`,
  });
};

const leftBy = ({ reason }: AbortSignal): Result => ({
  action: 'leave',
  reason: `Recovery was aborted before the turn was resumed: ${toErrorInfo(reason).message}`,
});

const act = (agent: Agent, turn: UnfinishedTurn, choice: Result, recovery: Recovery): Promise<Result> | Result => {
  const { action } = choice;
  const { inSlot, signal, onEvent } = recovery;
  if (action === 'leave') return choice;
  return inSlot(async (slot) => {
    if (signal.aborted) return leftBy(signal);
    try {
      if (action === 'finish') return { action, ...(await followTurn(agent.finish(turn.turn), slot)) };
      return {
        action,
        ...(await followTurn(agent.resume(turn.turn, { signal }), slot, (event) => onEvent?.(event, turn))),
      };
    } catch (error) {
      return { action, outcome: 'error', reason: 'The turn could not be opened.', error: toErrorInfo(error) };
    }
  });
};
