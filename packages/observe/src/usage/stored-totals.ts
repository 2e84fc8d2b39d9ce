import { cleanUsage } from '@h/prices';
import { isDeepStrictEqual } from 'node:util';
import type { JSONValue } from '@h/turn';
import type { UsageTotals } from './totals.js';

const version = 1;

/** Converts totals to compact JSON. */
export const writeTotals = ({ usage, cost, knownCost, calls, unpricedCalls, failedCalls }: UsageTotals): JSONValue => ({
  v: version,
  usage: { ...usage },
  cost: cost ?? null,
  knownCost,
  calls,
  unpricedCalls,
  failedCalls,
});

/** Parses the output of {@link writeTotals}; returns `undefined` for any other value. */
export const readTotals = (value: JSONValue | undefined): UsageTotals | undefined => {
  if (typeof value !== 'object' || value === null || !('usage' in value) || value['v'] !== version) return undefined;
  const { usage, cost, knownCost, calls, unpricedCalls, failedCalls } = value as Record<string, unknown>;
  const counts = [knownCost, calls, unpricedCalls, failedCalls];
  const isSound =
    counts.every((count) => typeof count === 'number' && Number.isFinite(count) && count >= 0) &&
    (cost === null || cost === knownCost);
  if (!isSound || !isDeepStrictEqual(cleanUsage(usage as object), usage)) return undefined;
  return {
    usage: cleanUsage(usage as object),
    cost: cost === null ? undefined : (cost as number),
    knownCost: knownCost as number,
    calls: calls as number,
    unpricedCalls: unpricedCalls as number,
    failedCalls: failedCalls as number,
  };
};
