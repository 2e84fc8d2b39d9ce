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
import { createPlaces, type Places } from './places.js';

/** What is done with a turn that was found open. */
export type RecoveryAction = 'resume' | 'finish' | 'leave';

/** Options of {@link recoverTurns}. */
export interface RecoverTurnsOptions {
  /**
   * - `'resume'`: each goes on where its journal ends.
   * - `'finish'`: each is ended as interrupted; nothing is run.
   * - `'ask'`: `ask` says it of each.
   */
  readonly policy: 'resume' | 'finish' | 'ask';
  /**
   * Says what to do with a turn; `'leave'` keeps it open. Needed by the policy `'ask'`. It is asked about one turn at a time, the
   * oldest first, and does not wait for those that it has sent on their way. A turn about which it fails is left open.
   */
  readonly ask?: ((turn: UnfinishedTurn) => RecoveryAction | PromiseLike<RecoveryAction>) | undefined;
  /**
   * How many turns may be at work at the same time. One that waits for a person (`approval.request`) is not at work: another is
   * taken up meanwhile, and it goes on as soon as it is answered, also when all places are taken.
   *
   * @defaultValue `4`, as many turns as `createLanes()` of `@h/queue` lets run: a start should be no burst that providers
   * answer with 429
   */
  readonly concurrency?: number | undefined;
  /** Is shown what resumed turns do, and may answer their requests for approval. It only looks: what it throws changes nothing. */
  readonly onEvent?: ((event: TurnEvent, turn: UnfinishedTurn) => void) | undefined;
  /** Aborted, nobody is asked and no turn is taken up any more, and those that were resumed are cancelled. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a turn that was found open. */
export interface RecoveredTurn extends UnfinishedTurn {
  /** What was done with it: `'leave'` also where nothing could be. */
  readonly action: RecoveryAction;
  /** How it ended; absent for one that was left open. */
  readonly outcome?: TurnOutcome | undefined;
  /** Why it ended like that, or why it was left without anybody having said so. */
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
 * Takes care of the turns that were open when their process died: several at a time, the oldest first, and those of one
 * session one after the other. To be called when a program starts, before it begins turns of its own: a new turn in a session
 * ends the one before it.
 *
 * No turn holds up the others, whatever becomes of it: one that cannot be opened, because another process has taken it up or
 * its files cannot be read, has the outcome `error`, and stays open.
 *
 * @returns what became of each, the oldest first; nothing when the signal was aborted before
 * @throws InvalidOptionError, and what the store throws when it is asked for the open turns
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
  // Each turn listens to it, and there may be many that wait for somebody.
  setMaxListeners(0, stop.signal);
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal && isAborted(signal)) onAbort();
  try {
    return await recoverAll(agent, turns, { ask, onEvent, signal: stop.signal, inPlace: createPlaces(concurrency) });
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
};

type Ask = NonNullable<RecoverTurnsOptions['ask']>;

/** Who says what to do. Everything that it needs is checked before the first turn is touched. */
const askerOf = (options: RecoverTurnsOptions): Ask => {
  checkOptions(owner, options, checks);
  const { policy, ask } = options;
  if (policy !== 'ask') return () => policy;
  if (!ask) {
    throw new InvalidOptionError({
      owner,
      option: 'ask',
      message: `${owner} needs "ask" for the policy 'ask': a function that says what to do with a turn.`,
    });
  }
  return ask;
};

interface Recovery extends Pick<RecoverTurnsOptions, 'onEvent'> {
  readonly ask: Ask;
  readonly signal: AbortSignal;
  readonly inPlace: Places;
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

/** What to do with a turn. It never fails: what cannot be found out is left. */
const chosen = async (turn: UnfinishedTurn, { ask, signal }: Recovery): Promise<Result> => {
  if (signal.aborted) return leftBy(signal);
  const aborted = abortOf(signal);
  try {
    const action = await Promise.race([ask(turn), aborted.promise]);
    // Read anew: it may have been aborted while somebody was asked.
    return isAborted(signal) ? leftBy(signal) : { action: checkedAction(action) };
  } catch (error) {
    if (isAborted(signal)) return leftBy(signal);
    return { action: 'leave', reason: 'It could not be found out what to do with it.', error: toErrorInfo(error) };
  } finally {
    aborted.forget();
  }
};

const isAborted = ({ aborted }: AbortSignal): boolean => aborted;

/** Nothing, once the signal is aborted. */
const abortOf = (signal: AbortSignal): { readonly promise: Promise<undefined>; readonly forget: () => void } => {
  let forget = (): void => undefined;
  const promise = new Promise<undefined>((resolve) => {
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    forget = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, forget };
};

const actions: readonly unknown[] = ['resume', 'finish', 'leave'] satisfies RecoveryAction[];

const checkedAction = (action: unknown): RecoveryAction => {
  if (actions.includes(action)) return action as RecoveryAction;
  throw new InvalidOptionError({
    owner,
    option: 'ask',
    message: `${owner} takes 'resume', 'finish' or 'leave' as an answer of "ask"; it was given ${showValue(action)}.`,
  });
};

const leftBy = ({ reason }: AbortSignal): Result => ({
  action: 'leave',
  reason: `It was not taken up any more: ${toErrorInfo(reason).message}`,
});

const act = (agent: Agent, turn: UnfinishedTurn, choice: Result, recovery: Recovery): Promise<Result> | Result => {
  const { action } = choice;
  const { inPlace, signal, onEvent } = recovery;
  if (action === 'leave') return choice;
  return inPlace(async (place) => {
    if (signal.aborted) return leftBy(signal);
    try {
      if (action === 'finish') return { action, ...(await followTurn(agent.finish(turn.turn), place)) };
      return {
        action,
        ...(await followTurn(agent.resume(turn.turn, { signal }), place, (event) => onEvent?.(event, turn))),
      };
    } catch (error) {
      return { action, outcome: 'error', reason: 'It could not be taken up.', error: toErrorInfo(error) };
    }
  });
};
