import {
  arrayOf,
  integerFrom,
  InvalidOptionError,
  numberFrom,
  objectOf,
  oneOf,
  type OptionChecks,
  required,
} from '@h/options';
import type { TurnOutcome } from '@h/turn';
import type { Counters } from './counters.js';

/**
 * Maximum amounts. Absent and `Infinity` mean no limit; `0` allows nothing.
 *
 * A limit of N means that the N+1st is not started.
 */
export interface Limits {
  /** Steps: model calls, each with the tool calls it asks for. The retries of a step belong to the same step. */
  readonly maxSteps?: number | undefined;
  /** Tool calls that run. Denied calls do not count. */
  readonly maxToolCalls?: number | undefined;
  /** Tokens sent and received. Every request counts in full, including tokens that the provider read from its cache. */
  readonly maxTokens?: number | undefined;
  /** Tokens sent. */
  readonly maxInputTokens?: number | undefined;
  /** Tokens received, reasoning included, over all steps. */
  readonly maxOutputTokens?: number | undefined;
  /** Cost, in the unit of `costOf`. */
  readonly maxCost?: number | undefined;
  /** Running time in milliseconds, including waits for tools and approvals. */
  readonly maxDurationMs?: number | undefined;
  /** Tool calls that failed. */
  readonly maxExceptions?: number | undefined;
  /** Steps in a row in which a tool call failed. */
  readonly maxConsecutiveExceptions?: number | undefined;
  /** Characters of the turn's input and of messages that arrive while it runs. */
  readonly maxInputChars?: number | undefined;
  /** Characters that the model writes: text, reasoning, inputs of tools. */
  readonly maxOutputChars?: number | undefined;
}

/** Limits, and how they grow. */
export interface Allowance extends Limits {
  /** Raises limits with every completion. Off unless given. */
  readonly extension?: Extension | undefined;
}

export type LimitName = keyof Limits;

/** A limit and what was used of it. */
export interface LimitState {
  /** The owner of the limit: `turn`, `session`, or the name of a budget. */
  readonly scope: string;
  readonly limit: LimitName;
  readonly used: number;
  /** The limit, extensions included. */
  readonly max: number;
}

interface LimitFacts {
  /** The counter that the limit applies to. */
  readonly measure: (counters: Partial<Counters>) => number;
  readonly outcome: TurnOutcome;
  /** `has <done> 3 of the 3 <things> that it may <verb>` */
  readonly words: readonly [done: string, things: string, verb: string];
  /** Whether an extension adds units; otherwise it grows in proportion to the steps. */
  readonly isCounted?: true;
  /** What must be left for another step to begin; 0 if only exceeding the limit matters. */
  readonly perStep: number;
}

/** Smaller amounts count as 0. */
const trace = 1e-12;

export const limitFacts: Readonly<Record<LimitName, LimitFacts>> = {
  maxSteps: {
    measure: ({ steps = 0 }) => steps,
    outcome: 'max-steps',
    words: ['made', 'steps', 'make'],
    isCounted: true,
    perStep: 1,
  },
  maxToolCalls: {
    measure: ({ toolCalls = 0 }) => toolCalls,
    outcome: 'budget-exceeded',
    words: ['made', 'tool calls', 'make'],
    isCounted: true,
    perStep: 0,
  },
  maxTokens: {
    measure: ({ inputTokens = 0, outputTokens = 0 }) => inputTokens + outputTokens,
    outcome: 'budget-exceeded',
    words: ['used', 'tokens', 'use'],
    perStep: 1,
  },
  maxInputTokens: {
    measure: ({ inputTokens = 0 }) => inputTokens,
    outcome: 'budget-exceeded',
    words: ['sent', 'tokens', 'send'],
    perStep: 1,
  },
  maxOutputTokens: {
    measure: ({ outputTokens = 0 }) => outputTokens,
    outcome: 'budget-exceeded',
    words: ['received', 'tokens', 'receive'],
    perStep: 1,
  },
  maxCost: {
    measure: ({ cost = 0 }) => cost,
    outcome: 'budget-exceeded',
    words: ['cost', 'units of money', 'cost'],
    perStep: trace,
  },
  maxDurationMs: {
    measure: ({ durationMs = 0 }) => durationMs,
    outcome: 'timed-out',
    words: ['taken', 'milliseconds', 'take'],
    perStep: trace,
  },
  maxExceptions: {
    measure: ({ exceptions = 0 }) => exceptions,
    outcome: 'budget-exceeded',
    words: ['had', 'failed tool calls', 'have'],
    isCounted: true,
    perStep: 0,
  },
  maxConsecutiveExceptions: {
    measure: ({ consecutiveExceptions = 0 }) => consecutiveExceptions,
    outcome: 'budget-exceeded',
    words: ['had', 'failing steps in a row', 'have'],
    perStep: 0,
  },
  maxInputChars: {
    measure: ({ inputChars = 0 }) => inputChars,
    outcome: 'budget-exceeded',
    words: ['taken in', 'characters', 'take in'],
    perStep: 0,
  },
  maxOutputChars: {
    measure: ({ outputChars = 0 }) => outputChars,
    outcome: 'budget-exceeded',
    words: ['written', 'characters', 'write'],
    perStep: 1,
  },
};

export const limitNames = Object.keys(limitFacts) as readonly LimitName[];

/** A sentence about what was used of a limit. */
export const describeLimit = ({ scope, limit, used, max }: LimitState): string => {
  const [done, things, verb] = limitFacts[limit].words;
  return `The ${scope} has ${done} ${figure(used)} of the ${figure(max)} ${things} that it may ${verb}.`;
};

/** A number for display: an integer, or four significant digits if it is small. */
export const figure = (value: number): string =>
  String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(4)));

/**
 * Limits that an extension may raise: all except the limit on consecutive failures, which an extension would make
 * useless.
 */
export type ExtendableLimit = Exclude<LimitName, 'maxConsecutiveExceptions'>;

/** How limits grow with every completion: an answer with which the model finished. */
export interface Extension {
  /**
   * With `e` the limit after `n` completions is `base + (1 + e) × n`. `0` is off.
   *
   * A limit that is not counted in steps or calls (tokens, cost, time, characters) grows by the same share as
   * `maxSteps`, which therefore must be limited too.
   */
  readonly perCompletion: number;
  /** The limits that grow. */
  readonly limits: readonly ExtendableLimit[];
  /**
   * The size up to which a limit may grow, as a multiple of its base.
   *
   * @defaultValue `2`, so that completed tasks at most double a budget
   */
  readonly maxFactor?: number | undefined;
}

/**
 * The value of a limit after a number of completions.
 *
 * @example
 * ```ts
 * const extension = { perCompletion: 0.5, limits: ['maxSteps'] } as const;
 * effectiveLimit({ maxSteps: 5, extension }, 'maxSteps', 2); // 8
 * ```
 */
export const effectiveLimit = (allowance: Allowance, limit: LimitName, completions = 0): number => {
  const base = allowance[limit] ?? Infinity;
  const { extension } = allowance;
  if (extension === undefined || extension.perCompletion === 0 || completions === 0 || base === Infinity) return base;
  if (!extension.limits.some((name) => name === limit)) return base;
  const units = (1 + extension.perCompletion) * completions;
  const raised = limitFacts[limit].isCounted ? base + units : base * (1 + units / (allowance.maxSteps ?? Infinity));
  return Math.min(raised, base * (extension.maxFactor ?? 2));
};

const amounts = new Set<LimitName>(['maxCost', 'maxDurationMs']);

const limits = Object.fromEntries(
  limitNames.map((name) => [name, amounts.has(name) ? numberFrom(0, Infinity) : integerFrom(0, Infinity)]),
) as OptionChecks<Limits>;

const extension: OptionChecks<Extension> = {
  perCompletion: required(numberFrom(0)),
  limits: required(arrayOf(oneOf(...limitNames.filter((name) => name !== 'maxConsecutiveExceptions')))),
  maxFactor: numberFrom(1, Infinity),
};

/** The checks of limits and extensions. */
export const allowanceChecks: OptionChecks<Allowance> = { ...limits, extension: objectOf(extension) };

/**
 * Rejects an extension in proportion to steps without a limit on steps.
 *
 * @throws InvalidOptionError `invalid-option`
 */
export const checkExtension = (owner: string, allowance: Allowance, option = 'extension'): void => {
  const { extension, maxSteps = Infinity } = allowance;
  if (extension === undefined || extension.perCompletion === 0 || (maxSteps !== Infinity && maxSteps !== 0)) return;
  const inProportion = extension.limits.find(
    (name) => limitFacts[name].isCounted !== true && (allowance[name] ?? Infinity) !== Infinity,
  );
  if (inProportion === undefined) return;
  throw new InvalidOptionError({
    owner,
    option,
    message: `${owner}: "${option}" raises "${inProportion}" in proportion to "maxSteps", which has no limit above 0. Set "maxSteps", or remove "${inProportion}" from the extension.`,
  });
};
