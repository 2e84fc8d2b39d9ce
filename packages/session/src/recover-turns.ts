import type { Agent, SessionStore, TurnEvent, TurnOutcome, UnfinishedTurn } from '@h/turn';
import { aFunction, checkOptions, instanceOf, InvalidOptionError, objectWith, oneOf, required, showValue, type OptionChecks } from '@h/turn/options';
import { finishTurn } from './finish-turn.js';

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
  /** The store of the agent. Needed to finish turns, and so by the policies `'finish'` and `'ask'`. */
  readonly sessions?: SessionStore | undefined;
  /** Says what to do with a turn; `'leave'` keeps it open. Needed by the policy `'ask'`. */
  readonly ask?: ((turn: UnfinishedTurn) => RecoveryAction | PromiseLike<RecoveryAction>) | undefined;
  /** Is shown what resumed turns do, and may answer their requests for approval. It only looks: what it throws changes nothing. */
  readonly onEvent?: ((event: TurnEvent, turn: UnfinishedTurn) => void) | undefined;
  /** Aborted, no further turn is taken up, and the one that was resumed is cancelled. */
  readonly signal?: AbortSignal | undefined;
}

/** What became of a turn that was found open. */
export interface RecoveredTurn extends UnfinishedTurn {
  readonly action: RecoveryAction;
  /** How it ended; absent for one that was left open. */
  readonly outcome?: TurnOutcome | undefined;
  readonly reason?: string | undefined;
}

const owner = 'recoverTurns()';

const checks: OptionChecks<RecoverTurnsOptions> = {
  policy: required(oneOf('resume', 'finish', 'ask')),
  sessions: objectWith('open', 'locate', 'unfinished'),
  ask: aFunction,
  onEvent: aFunction,
  signal: instanceOf(AbortSignal),
};

/**
 * Takes care of the turns that were open when their process died, one after the other, the oldest first. To be called
 * when a program starts, before it begins turns of its own: a new turn in a session ends the one before it.
 *
 * A turn that another process has taken up meanwhile is left to it; its outcome says `error`, its reason that it is busy.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const recovered = await recoverTurns(agent, { policy: 'resume' });
 * for (const { session, outcome } of recovered) console.log(`${session}: ${outcome}`);
 * ```
 */
export const recoverTurns = async (agent: Agent, options: RecoverTurnsOptions): Promise<readonly RecoveredTurn[]> => {
  const chosen = chooser(options);
  const recovered: RecoveredTurn[] = [];
  for (const turn of await agent.unfinished()) {
    if (isGivenUp(options)) break;
    const action = await chosen(turn);
    // It may have been given up while somebody was asked.
    if (isGivenUp(options)) break;
    recovered.push(await recover(agent, turn, action, options));
  }
  return recovered;
};

const isGivenUp = ({ signal }: RecoverTurnsOptions): boolean => signal?.aborted === true;

/** How the action is chosen. Everything that it needs is checked before the first turn is touched. */
const chooser = (options: RecoverTurnsOptions): NonNullable<RecoverTurnsOptions['ask']> => {
  checkOptions(owner, options, checks);
  const { policy, sessions, ask } = options;
  if (policy === 'resume') return () => policy;
  if (!sessions) throw missing('sessions', `for the policy '${policy}': the store of the agent`);
  if (policy === 'finish') return () => policy;
  if (!ask) throw missing('ask', "for the policy 'ask': a function that says what to do with a turn");
  return ask;
};

const missing = (option: string, what: string): InvalidOptionError => new InvalidOptionError({ owner, option, message: `${owner} needs "${option}" ${what}.` });

const recover = async (agent: Agent, turn: UnfinishedTurn, action: RecoveryAction, options: RecoverTurnsOptions): Promise<RecoveredTurn> => {
  switch (action) {
    case 'leave':
      return { ...turn, action };
    case 'resume':
      return { ...turn, action, ...(await resume(agent, turn, options)) };
    case 'finish': {
      const { outcome, reason } = await finishTurn(options.sessions as SessionStore, turn.turn);
      return { ...turn, action, outcome, reason };
    }
    default:
      throw new InvalidOptionError({ owner, option: 'ask', message: `${owner} takes 'resume', 'finish' or 'leave' as an answer of "ask"; it was given ${showValue(action)}.` });
  }
};

const resume = (agent: Agent, turn: UnfinishedTurn, { onEvent, signal }: RecoverTurnsOptions): Promise<Pick<RecoveredTurn, 'outcome' | 'reason'>> =>
  new Promise((resolve, reject) => {
    let end: Pick<RecoveredTurn, 'outcome' | 'reason'> = { outcome: 'cancelled' };
    agent.resume(turn.turn, { signal }).subscribe({
      next: (event) => {
        if (event.type === 'turn.end') end = { outcome: event.outcome, reason: event.reason };
        show(event, turn, onEvent);
      },
      error: reject,
      complete: () => resolve(end),
    });
  });

const show = (event: TurnEvent, turn: UnfinishedTurn, onEvent: RecoverTurnsOptions['onEvent']): void => {
  try {
    onEvent?.(event, turn);
  } catch {
    // A view that fails must not take down the process that recovers.
  }
};
