import { cleanUsage } from '@h/prices';
import { isDeepStrictEqual } from 'node:util';
import type { JSONObject, JSONValue } from '@h/turn';
import type { UsageTotals } from './totals.js';

const version = 1;

/** What a turn has used and its journal does not contain. */
export interface StoredTurn {
  readonly id: string;
  /** Usage of side questions and sub-agents. */
  readonly extra: UsageTotals;
  /** The part of `extra` that side questions have used. */
  readonly side: UsageTotals;
}

/** Adds a running turn to the output of {@link writeTotals}. */
export const withTurn = (session: JSONValue, { id, extra, side }: StoredTurn): JSONValue => ({
  ...(session as JSONObject),
  turn: { id, extra: writeTotals(extra), side: writeTotals(side) },
});

/** Parses the turn in the output of {@link withTurn}; returns `undefined` if it contains no other than this turn. */
export const readTurn = (value: JSONValue | undefined, id: string): StoredTurn | undefined => {
  const { turn } = (value ?? {}) as { readonly turn?: Readonly<Record<string, JSONValue>> | null };
  const [extra, side] = [readTotals(turn?.['extra']), readTotals(turn?.['side'])];
  return turn?.['id'] === id && extra && side ? { id, extra, side } : undefined;
};

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
