import type { CostOf } from '@h/prices';
import type { Usage } from '@h/turn';

/** Returns a cost that can be added to others; `undefined` for any other value. */
export const soundCost = (cost: unknown): number | undefined =>
  typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : undefined;

/** Returns the cost of a call. If `costOf` throws or returns no sound cost, the price is unknown. */
export const priceOf = (costOf: CostOf, usage: Usage, model: string | undefined): number | undefined => {
  try {
    return soundCost(costOf(usage, model));
  } catch {
    return undefined;
  }
};
