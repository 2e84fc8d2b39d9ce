import type { Account } from './account.js';
import type { LimitName, LimitState } from './limits.js';

/** From when on a limit counts as near. */
export interface Reserves {
  readonly reserveSteps: number | undefined;
  readonly reserveTokens: number | undefined;
  readonly reserveCostFraction: number;
}

/** What is a tenth of the limit, but not less or more than this. */
const leastTokens = 512;
const mostSteps = 5;
const share = 0.1;

/** How much has to be left for the limit not to be near. */
export const reserveOf = (
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

/** Finds limits that have come near, each once. Something of them was used, and they are finite. */
export const nearLimits = (
  reserves: Reserves,
): ((accounts: readonly Account[], now: number) => readonly LimitState[]) => {
  const told = new Map<Account, Set<LimitName>>();
  const isNews = (account: Account, limit: LimitName): boolean => {
    const known = told.get(account) ?? new Set();
    told.set(account, known);
    return !known.has(limit) && known.add(limit) !== undefined;
  };
  return (accounts, now) => {
    let found: LimitState[] | undefined;
    for (const account of accounts) {
      for (const limit of account.names) {
        const state = account.state(limit, now);
        const { used, max } = state;
        if (used > 0 && max - used <= reserveOf(limit, max, reserves) && isNews(account, limit)) {
          (found ??= []).push(state);
        }
      }
    }
    return found ?? none;
  };
};

const none: readonly LimitState[] = [];

/** How long until a limit on time comes near or is used up; nothing where there is none. */
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
