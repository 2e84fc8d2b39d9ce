import type { ModelRequest } from '@h/turn';
import type { Account } from './account.js';
import type { CostForecast } from './model-call.js';
import type { LimitName, LimitState } from './limits.js';

/** The forecast of a step. */
export interface StepForecast {
  readonly now: number;
  readonly inputTokens: number;
  /** `undefined` if the price is unknown. */
  readonly cost: CostForecast | undefined;
  /** The most tokens that a last answer needs. */
  readonly closingTokens: number;
  /** Whether the last possible step sums up. */
  readonly wrapsUp: boolean;
}

/** The plan of a step. */
export interface StepPlan {
  /** The limit without room for the step. */
  readonly refusedBy?: LimitState | undefined;
  /** Whether the step fits once other turns release their reservations. */
  readonly mayWait?: boolean | undefined;
  /** The limit that allows this step and no other. */
  readonly last?: LimitState | undefined;
  /** The output within all limits that leaves room for a last answer. */
  readonly outputTokens: number;
  /** The output within all limits. */
  readonly mostOutputTokens: number;
}

interface Room {
  readonly most: number;
  /** The output after which another step fits. */
  readonly next: number;
}

/** The share of the time that is reserved for the last answer, and its maximum. */
const closingTimeShare = 0.1;
const longestClosingMs = 60_000;

/**
 * The reserve for the last answer is at most this fraction of a limit, so that small limits still allow a first step.
 */
const closingShare = 4;

/** Decides what a step may do: refuse it, let it wait, make it the last, or limit its output. */
export const planStep = (accounts: readonly Account[], forecast: StepForecast): StepPlan => {
  const { now } = forecast;
  let last: LimitState | undefined;
  let [outputTokens, mostOutputTokens] = [Infinity, Infinity];
  for (const account of accounts) {
    const refusedBy = account.refuses(now);
    if (refusedBy) return { refusedBy, outputTokens: 0, mostOutputTokens: 0 };
    for (const limit of account.forecastNames) {
      const { most } = roomIn(limit, account.left(limit, now), account.state(limit, now).max, forecast);
      // Reservations of other turns may be released, so they do not make a step the last.
      const alone = roomIn(limit, account.left(limit, now, true), account.state(limit, now).max, forecast);
      if (most < 1) {
        return { refusedBy: account.state(limit, now), mayWait: alone.most >= 1, outputTokens: 0, mostOutputTokens: 0 };
      }
      if (alone.next < 1) last ??= account.state(limit, now);
      mostOutputTokens = Math.min(mostOutputTokens, most);
      outputTokens = Math.min(outputTokens, most, alone.next < 1 ? Infinity : alone.next);
    }
    last ??= lastByCountOrTime(account, now);
  }
  if (last === undefined || !forecast.wrapsUp) {
    return { outputTokens: forecast.wrapsUp ? outputTokens : mostOutputTokens, mostOutputTokens };
  }
  return { last, outputTokens: mostOutputTokens, mostOutputTokens };
};

/** The limit on steps, tool calls or time that allows no further step. */
const lastByCountOrTime = (account: Account, now: number): LimitState | undefined => {
  const isLast = (limit: LimitName, least: number): boolean =>
    account.limits(limit) && account.left(limit, now) < least;
  if (isLast('maxSteps', 2)) return account.state('maxSteps', now);
  if (isLast('maxToolCalls', 1)) return account.state('maxToolCalls', now);
  if (!account.limits('maxDurationMs')) return undefined;
  const time = account.state('maxDurationMs', now);
  return time.max - time.used <= Math.min(longestClosingMs, time.max * closingTimeShare) ? time : undefined;
};

const roomIn = (
  limit: LimitName,
  left: number,
  max: number,
  { inputTokens, cost, closingTokens }: StepForecast,
): Room => {
  const closing = Math.min(closingTokens, max / closingShare);
  switch (limit) {
    case 'maxInputTokens':
      return { most: left >= inputTokens ? Infinity : 0, next: left >= 2 * inputTokens + closing ? Infinity : 0 };
    case 'maxOutputTokens':
      return { most: left, next: atLeast(left - closing, closing) };
    case 'maxTokens':
      // Output of this step is input of the next one.
      return { most: left - inputTokens, next: atLeast((left - 2 * inputTokens - closing) / 2, closing) };
    default:
      return cost === undefined ? { most: Infinity, next: Infinity } : costRoom(left, max, cost, closingTokens);
  }
};

const costRoom = (left: number, max: number, { input, perOutputToken }: CostForecast, closingTokens: number): Room => {
  const tokensFor = (money: number): number => {
    if (money < 0) return 0;
    return perOutputToken === 0 ? Infinity : money / perOutputToken;
  };
  const closing = Math.min(closingTokens * perOutputToken, max / closingShare);
  return {
    most: tokensFor(left - input),
    next: atLeast(tokensFor(left - 2 * input - closing), Math.min(closingTokens, tokensFor(max / closingShare))),
  };
};

/** Room that is too small for an answer counts as none. */
const atLeast = (tokens: number, least: number): number => (tokens < least ? 0 : tokens);

/** What must be left for a limit not to count as near. */
export interface Reserves {
  readonly reserveSteps: number | undefined;
  readonly reserveTokens: number | undefined;
  readonly reserveCostFraction: number;
}

/** Bounds of the default reserve, which is a tenth of the limit. */
const leastTokens = 512;
const mostSteps = 5;
const share = 0.1;

/** The reserve of a limit: with less left, the limit is near. */
const reserveOf = (
  limit: LimitName,
  max: number,
  { reserveSteps, reserveTokens, reserveCostFraction }: Reserves,
): number => {
  switch (limit) {
    case 'maxSteps':
      return reserveSteps ?? Math.min(mostSteps, Math.ceil(max * share));
    case 'maxTokens':
    case 'maxInputTokens':
    case 'maxOutputTokens':
      return reserveTokens ?? Math.max(leastTokens, max * share);
    case 'maxCost':
      return max * reserveCostFraction;
    case 'maxToolCalls':
      return Math.min(mostSteps, Math.ceil(max * share));
    case 'maxExceptions':
    case 'maxConsecutiveExceptions':
      return 0;
    default:
      return max * share;
  }
};

/** Finds limits that have come near and were not reported. */
export class NearLimits {
  readonly #reserveFor: (limit: LimitName, max: number) => number;
  #reported: Set<string> | undefined;

  constructor(reserves: Reserves) {
    this.#reserveFor = (limit, max) => reserveOf(limit, max, reserves);
  }

  /** Records that a limit was reported. */
  reported({ scope, limit }: LimitState): void {
    (this.#reported ??= new Set()).add(`${limit} ${scope}`);
  }

  /** The finite, partly used limits that have come near. */
  find(accounts: readonly Account[], now: number): readonly LimitState[] {
    let found: LimitState[] | undefined;
    for (const account of accounts) {
      for (const limit of account.names) {
        if (!account.isNear(limit, now, this.#reserveFor)) continue;
        if (this.#reported?.has(`${limit} ${account.scope}`) !== true) (found ??= []).push(account.state(limit, now));
      }
    }
    return found ?? none;
  }
}

const none: readonly LimitState[] = [];

/** The time until a limit on duration comes near or is used up, in milliseconds; `undefined` without such a limit. */
export const nextTimeMs = (accounts: readonly Account[], now: number, reserves: Reserves): number | undefined => {
  let next: number | undefined;
  for (const account of accounts) {
    if (!account.limits('maxDurationMs')) continue;
    const { used, max } = account.state('maxDurationMs', now);
    const untilNear = max - reserveOf('maxDurationMs', max, reserves) - used;
    const until = Math.max(0, untilNear > 0 ? untilNear : max - used);
    next = Math.min(next ?? Infinity, until);
  }
  return next;
};

/**
 * The output that current models can write at least. No more is requested unless the caller does, and as much is
 * reserved in a shared budget for an answer of unknown length.
 */
export const commonMaximum = 16_384;

/** The request with an answer that is at most this long. */
export const clamped = <Request extends ModelRequest>(request: Request, outputTokens: number): Request => {
  const { maxOutputTokens } = request.settings;
  const most = Math.max(1, Math.floor(outputTokens));
  return most < (maxOutputTokens ?? commonMaximum)
    ? { ...request, settings: { ...request.settings, maxOutputTokens: most } }
    : request;
};
