import { addUsage, noUsage, type Usage } from '@h/turn';

/** Usage and cost of model calls. */
export interface UsageTotals {
  readonly usage: Usage;
  /** In US dollars; `undefined` as soon as the price of one call is unknown. */
  readonly cost: number | undefined;
  /** Cost of the calls with a known price: a lower bound for the total cost. */
  readonly knownCost: number;
  /** Number of calls, including failed ones and side questions. */
  readonly calls: number;
  /** Number of calls without a known price. */
  readonly unpricedCalls: number;
  /** Number of failed calls. Their usage is included. */
  readonly failedCalls: number;
}

export const noTotals: UsageTotals = Object.freeze({
  usage: noUsage,
  cost: 0,
  knownCost: 0,
  calls: 0,
  unpricedCalls: 0,
  failedCalls: 0,
});

/** Adds two totals. */
export const addTotals = (left: UsageTotals, right: UsageTotals): UsageTotals =>
  left === noTotals
    ? right
    : {
        usage: addUsage(left.usage, right.usage),
        cost: left.cost === undefined || right.cost === undefined ? undefined : left.cost + right.cost,
        knownCost: left.knownCost + right.knownCost,
        calls: left.calls + right.calls,
        unpricedCalls: left.unpricedCalls + right.unpricedCalls,
        failedCalls: left.failedCalls + right.failedCalls,
      };

/** Returns the totals of one call. A failed call without usage is free, whatever price is given. */
export const totalsOfCall = (usage: Usage, cost: number | undefined, failed: boolean): UsageTotals => {
  const price = failed && usage.input + usage.output === 0 ? 0 : cost;
  return {
    usage,
    cost: price,
    knownCost: price ?? 0,
    calls: 1,
    unpricedCalls: price === undefined ? 1 : 0,
    failedCalls: failed ? 1 : 0,
  };
};

/**
 * Formats totals for display: `$0.4200 (12,000 input / 800 output tokens)`, `at least $0.4200 (…)` if prices are
 * missing, or `unknown cost (…)`.
 */
export const formatTotals = ({ usage, cost, knownCost }: UsageTotals): string => {
  const tokens = `${grouped(usage.input)} input / ${grouped(usage.output)} output tokens`;
  if (cost !== undefined) return `$${cost.toFixed(4)} (${tokens})`;
  return `${knownCost > 0 ? `at least $${knownCost.toFixed(4)}` : 'unknown cost'} (${tokens})`;
};

const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');
