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
import { type Allowance, allowanceChecks, checkExtension } from './limits.js';
import { Budget } from './budget.js';
import type { CostOf } from './model-call.js';
import type { Reserves } from './step-plan.js';
import { approximateTokens } from './token-estimate.js';

/** How the last step that a limit allows is used. */
export interface WrapUpOptions {
  /**
   * Tokens that are kept for the last answer where tokens or cost are limited; never more than a quarter of a limit.
   *
   * @defaultValue `1_000`
   */
  readonly tokens?: number | undefined;
  /** What the model is told when a limit comes near, after the numbers. */
  readonly nearText?: string | undefined;
  /** What the model is told in the last step, after the numbers. */
  readonly lastText?: string | undefined;
}

/** Options of {@link guardrails}. */
export interface GuardrailsOptions extends Allowance {
  /**
   * How many steps a turn may make: model calls, each with the tool calls it asks for. A step that is asked again after
   * an error is still one step. `0` lets none begin, `Infinity` sets no limit.
   *
   * @defaultValue `50`, two to five times what a coding agent needs for one ordinary request
   */
  readonly maxSteps?: number | undefined;
  /** What all turns of a session may use together. What they used is kept in the session. */
  readonly session?: Allowance | undefined;
  /** A budget that is shared with other turns and agents, or a function that finds the one for a turn. */
  readonly budget?: Budget | ((turn: TurnEventOf<'turn.start'>) => Budget | undefined) | undefined;
  /** What a model call costs. A limit on cost needs it. */
  readonly costOf?: CostOf | undefined;
  /**
   * What becomes of a limit on cost once a call has an unknown price: `stop` ends the turn before its next step, because
   * the limit cannot be kept any more; `ignore` goes on and counts what is known.
   *
   * @defaultValue `'stop'`
   */
  readonly unknownCost?: 'stop' | 'ignore' | undefined;
  /**
   * With so many steps left, the next one included, the limit on steps is near.
   *
   * @defaultValue a tenth of the limit, at most 5
   */
  readonly reserveSteps?: number | undefined;
  /**
   * With so many tokens left a limit on tokens is near.
   *
   * @defaultValue a tenth of the limit, at least 512
   */
  readonly reserveTokens?: number | undefined;
  /**
   * With this share of it left a limit on cost is near.
   *
   * @defaultValue `0.1`
   */
  readonly reserveCostFraction?: number | undefined;
  /**
   * The model is told once when a limit comes near, and the last step that a limit allows runs without tools, so that
   * the work is summed up. `false` tells it nothing and leaves the last step its tools.
   */
  readonly wrapUp?: false | WrapUpOptions | undefined;
  /**
   * How many times for each message of a user an answer that was cut off at the output limit may go on. `0` is off.
   *
   * @defaultValue `2`
   */
  readonly maxTokensRecoveries?: number | undefined;
  /**
   * Counts tokens before the provider has: of what is new in a request, and of pieces of an answer. Synchronous and fast.
   *
   * @defaultValue `approximateTokens`, which is rather too low
   */
  readonly estimateTokens?: ((text: string) => number) | undefined;
  /**
   * Whether a result counts as an exception.
   *
   * @defaultValue calls that failed, timed out, had invalid input or named no tool that there is; but not a command that ran and
   * ended with an exit code, as tests do that an agent is there to mend
   */
  readonly isException?: ((result: TurnEventOf<'tool.result'>) => boolean) | undefined;
}

/** Options with their defaults. */
export interface GuardrailsSettings extends Reserves {
  readonly turn: Allowance;
  readonly session: Allowance | undefined;
  readonly budgetOf: (turn: TurnEventOf<'turn.start'> | undefined) => Budget | undefined;
  readonly costOf: CostOf | undefined;
  readonly stopsOnUnknownCost: boolean;
  readonly wrapUp: Required<WrapUpOptions> | undefined;
  readonly maxTokensRecoveries: number;
  readonly estimateTokens: (text: string) => number;
  readonly isException: (result: TurnEventOf<'tool.result'>) => boolean;
}

const defaultMaxSteps = 50;
const nearText = 'Do what matters most now, and leave nothing half done.';
const lastText =
  'This is the last step, and tools do not run any more. Answer now with what you have: what is done, what is not, and what should come next.';

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
 * @throws InvalidOptionError `invalid-option` that names the option, its value and what it takes
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
      message: 'guardrails() needs "costOf" to keep "maxCost"; without it no cost is known.',
    });
  }
  return {
    turn: { ...turn, maxSteps: turn.maxSteps ?? defaultMaxSteps },
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
    isException,
  };
};

/** The code of a command that ran, and said no. */
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
