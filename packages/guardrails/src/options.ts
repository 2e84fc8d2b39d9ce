import type { CostOf } from '@h/prices';
import { approximateTokens } from '@h/tokens';
import type { TurnEventOf } from '@h/turn';
import {
  anyFunction,
  nonEmptyString,
  checkOptions,
  anyOf,
  instanceOf,
  InvalidOptionError,
  numberFrom,
  objectOf,
  oneOf,
  integerFrom,
  type OptionChecks,
} from '@h/options';
import { finiteLimitsOf, type FiniteLimits } from './account.js';
import { type Allowance, allowanceChecks, checkExtension } from './limits.js';
import { Budget } from './budget.js';
import type { Reserves } from './step-plan.js';

/** How the last step that a limit allows sums up the work. */
export interface WrapUpOptions {
  /**
   * Tokens that are reserved for the last answer under limits on tokens or cost; at most a quarter of a limit.
   *
   * @defaultValue `1_000`, a summary of about 700 words
   */
  readonly tokens?: number | undefined;
  /**
   * The message to the model when a limit comes near, after the numbers.
   *
   * @defaultValue asks it to do what matters most, and to finish what it starts
   */
  readonly nearText?: string | undefined;
  /**
   * The message to the model in the last step, after the numbers.
   *
   * @defaultValue asks it to report what is done, what is not, and what should come next
   */
  readonly lastText?: string | undefined;
}

/** Options of {@link guardrails}. */
export interface GuardrailsOptions extends Allowance {
  /**
   * Maximum number of steps of a turn: model calls, each with the tool calls it asks for. The retries of a step belong
   * to the same step. `0` allows none, `Infinity` sets no limit.
   *
   * @defaultValue `50`, two to five times what a coding agent needs for one ordinary request
   */
  readonly maxSteps?: number | undefined;
  /** Limits of all turns of a session together. What they use is stored in the session. */
  readonly session?: Allowance | undefined;
  /** A budget that is shared with other turns and agents, or a function that finds the one for a turn. */
  readonly budget?: Budget | ((turn: TurnEventOf<'turn.start'>) => Budget | undefined) | undefined;
  /**
   * Returns the cost of a model call, in the unit of `maxCost`; `undefined` if the price is unknown. A limit on cost
   * needs it. A call has the requested name of its model; if that price is unknown, the name in the answer.
   */
  readonly costOf?: CostOf | undefined;
  /**
   * What happens under a limit on cost after a call with an unknown price: `stop` ends the turn before its next step,
   * because the limit can no longer be enforced; `ignore` continues and counts the known cost.
   *
   * @defaultValue `'stop'`
   */
  readonly unknownCost?: 'stop' | 'ignore' | undefined;
  /**
   * The number of steps left, the next one included, from which the limit on steps counts as near.
   *
   * @defaultValue a tenth of the limit, at most 5
   */
  readonly reserveSteps?: number | undefined;
  /**
   * The number of tokens left from which a limit on tokens counts as near.
   *
   * @defaultValue a tenth of the limit, at least 512
   */
  readonly reserveTokens?: number | undefined;
  /**
   * The share left from which a limit on cost counts as near.
   *
   * @defaultValue `0.1`, the share that `reserveTokens` has
   */
  readonly reserveCostFraction?: number | undefined;
  /**
   * Warns the model once when a limit comes near, and runs the last step that a limit allows without tools, so that it
   * sums up the work. `false` disables both.
   *
   * @defaultValue `{ tokens: 1_000 }`
   */
  readonly wrapUp?: false | WrapUpOptions | undefined;
  /**
   * How often an answer that was truncated at the output limit continues, for each message of the user. `0` disables
   * it.
   *
   * @defaultValue `2`, so that one answer takes at most three times the output limit
   */
  readonly maxTokensRecoveries?: number | undefined;
  /**
   * Estimates the tokens of a text before the provider has counted them: new messages, and deltas of an answer.
   * Synchronous and fast.
   *
   * @defaultValue `approximateTokens` of `@h/tokens`, which errs on the low side
   */
  readonly estimateTokens?: ((text: string) => number) | undefined;
  /**
   * Whether a result counts as an exception.
   *
   * @defaultValue calls that failed, timed out, had invalid input or named an unknown tool; but not a command that ran
   * and ended with an exit code, as failing tests do
   */
  readonly isException?: ((result: TurnEventOf<'tool.result'>) => boolean) | undefined;
}

/** Options with their defaults. */
export interface GuardrailsSettings extends Reserves {
  readonly turn: Allowance;
  readonly turnLimits: FiniteLimits;
  readonly session: Allowance | undefined;
  readonly budgetOf: (turn: TurnEventOf<'turn.start'> | undefined) => Budget | undefined;
  /** Whether a session or a budget counts what the turn uses. */
  readonly outlivesTurn: boolean;
  /** Whether the characters of the input are counted. */
  readonly countsInput: boolean;
  /** Whether the running time of the turn is counted. */
  readonly isTimed: boolean;
  readonly costOf: CostOf | undefined;
  readonly stopsOnUnknownCost: boolean;
  readonly wrapUp: Required<WrapUpOptions> | undefined;
  readonly maxTokensRecoveries: number;
  readonly estimateTokens: (text: string) => number;
  /** `Infinity` if unknown. */
  readonly maxTokensPerChar: number;
  readonly isException: (result: TurnEventOf<'tool.result'>) => boolean;
}

const defaultMaxSteps = 50;
const nearText = 'Do what matters most now, and finish what you start.';
const lastText =
  'This is the last step, and tools no longer run. Answer now with what you have: what is done, what is not, and what should come next.';

const wrapUpChecks: OptionChecks<WrapUpOptions> = {
  tokens: numberFrom(1, Infinity),
  nearText: nonEmptyString,
  lastText: nonEmptyString,
};

const checks: OptionChecks<GuardrailsOptions> = {
  ...allowanceChecks,
  session: objectOf(allowanceChecks),
  budget: anyOf(instanceOf(Budget, 'a budget made by createBudget()'), anyFunction),
  costOf: anyFunction,
  unknownCost: oneOf('stop', 'ignore'),
  reserveSteps: numberFrom(0, Infinity),
  reserveTokens: numberFrom(0, Infinity),
  reserveCostFraction: numberFrom(0, 1),
  wrapUp: anyOf(oneOf(false), objectOf(wrapUpChecks)),
  maxTokensRecoveries: integerFrom(0),
  estimateTokens: anyFunction,
  isException: anyFunction,
};

/**
 * The options with their defaults.
 *
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it accepts
 */
export const settingsOf = (options: GuardrailsOptions): GuardrailsSettings => {
  checkOptions('guardrails()', options, checks);
  checkExtension('guardrails()', { ...options, maxSteps: options.maxSteps ?? defaultMaxSteps });
  const {
    session,
    budget,
    costOf,
    unknownCost,
    reserveSteps,
    reserveTokens,
    reserveCostFraction = 0.1,
    wrapUp = {},
    ...rest
  } = options;
  const { maxTokensRecoveries = 2, estimateTokens = approximateTokens, isException = isFailure, ...turn } = rest;
  if (session !== undefined) checkExtension('guardrails()', session, 'session.extension');
  const shared = typeof budget === 'function' ? [] : (budget?.limits() ?? []);
  const hasCostLimit =
    [turn, session].some((allowance) => (allowance?.maxCost ?? Infinity) !== Infinity) ||
    shared.some(({ limit }) => limit === 'maxCost');
  if (hasCostLimit && costOf === undefined) {
    throw new InvalidOptionError({
      owner: 'guardrails()',
      option: 'costOf',
      message: 'guardrails(): "maxCost" needs "costOf"; without it every cost is unknown.',
    });
  }
  const own = { ...turn, maxSteps: turn.maxSteps ?? defaultMaxSteps };
  const outlivesTurn = session !== undefined || budget !== undefined;
  return {
    outlivesTurn,
    countsInput: outlivesTurn || (turn.maxInputChars ?? Infinity) !== Infinity,
    isTimed: outlivesTurn || (turn.maxDurationMs ?? Infinity) !== Infinity,
    turn: own,
    turnLimits: finiteLimitsOf(own),
    session,
    budgetOf:
      typeof budget === 'function' ? (start) => (start === undefined ? undefined : budget(start)) : () => budget,
    costOf,
    stopsOnUnknownCost: unknownCost !== 'ignore',
    reserveSteps,
    reserveTokens,
    reserveCostFraction,
    wrapUp:
      wrapUp === false
        ? undefined
        : {
            tokens: wrapUp.tokens ?? 1000,
            nearText: wrapUp.nearText ?? nearText,
            lastText: wrapUp.lastText ?? lastText,
          },
    maxTokensRecoveries,
    estimateTokens,
    maxTokensPerChar: estimateTokens === approximateTokens ? 1 : Infinity,
    isException,
  };
};

/** The code of a command that ran and returned a non-zero exit code. */
const commandFailed = 'command-failed';

const isFailure = (result: TurnEventOf<'tool.result'>): boolean => {
  switch (result.status) {
    case 'failed':
      return result.error.code !== commandFailed;
    case 'timed-out':
    case 'invalid-input':
    case 'unknown-tool':
      return true;
    default:
      return false;
  }
};
