import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';

/** The cost of a call; nothing where it is not known, which is so too where `costOf` throws or says no number from 0. */
export const knownCost = (costOf: CostOf | undefined, usage: Usage, model: string | undefined): number | undefined => {
  let cost: number | undefined;
  try {
    cost = costOf?.(usage, model);
  } catch {
    return undefined;
  }
  return typeof cost === 'number' && cost >= 0 && cost < Infinity ? cost : undefined;
};

/** What the next call will cost: what it sends, and each token that it receives. */
export interface CostForecast {
  readonly input: number;
  readonly perOutputToken: number;
}

const probe = 1000;

/**
 * A forecast for a call that sends so many tokens. What the last call read from or wrote to the cache is taken as read from the cache.
 */
export const forecastCost = (
  costOf: CostOf | undefined,
  inputTokens: number,
  last: Usage | undefined,
  model: string | undefined,
): CostForecast | undefined => {
  const cached = last === undefined ? 0 : Math.min(inputTokens, last.cacheRead + last.cacheWrite);
  const usage: Usage = { input: inputTokens, cacheRead: cached, cacheWrite: 0, output: 0, reasoning: 0 };
  const input = knownCost(costOf, usage, model);
  const more = knownCost(costOf, { ...usage, output: probe }, model);
  return input === undefined || more === undefined
    ? undefined
    : { input, perOutputToken: Math.max(0, more - input) / probe };
};
