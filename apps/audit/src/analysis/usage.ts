import type { CostOf } from '@h/prices';
import { addUsage, noUsage, type Usage } from '@h/turn';
import type { AuditRecord } from '../read/record.js';

/** Model calls with their usage, and the dollars of those with a known price. */
export interface Spending {
  requests: number;
  usage: Usage;
  cost: number;
  /** Model calls without a known price or without usage. */
  unpriced: number;
}

export const noSpending = (): Spending => ({ requests: 0, usage: noUsage, cost: 0, unpriced: 0 });

/** Adds a model call to a sum. */
export const spend = (sum: Spending, usage: Usage | undefined, cost: number | undefined): void => {
  sum.requests += 1;
  if (usage) sum.usage = addUsage(sum.usage, usage);
  if (cost === undefined) sum.unpriced += 1;
  else sum.cost += cost;
};

/** Adds a sum to a sum. */
export const addSpending = (sum: Spending, other: Spending): void => {
  sum.requests += other.requests;
  sum.usage = addUsage(sum.usage, other.usage);
  sum.cost += other.cost;
  sum.unpriced += other.unpriced;
};

/** Names beyond this number are counted together. */
const maxNames = 200;
const otherName = '(other)';

/** Returns the member of a map with bounded size. */
export const memberOf = <Value>(map: Map<string, Value>, name: string, create: () => Value): Value => {
  const key = map.has(name) || map.size < maxNames ? name : otherName;
  const found = map.get(key) ?? create();
  map.set(key, found);
  return found;
};

/** Sums up model calls by model and day. */
export class UsageAnalysis {
  readonly total = noSpending();
  readonly byModel = new Map<string, Spending>();
  readonly byDay = new Map<string, Spending>();
  readonly #costOf: CostOf;

  constructor(costOf: CostOf) {
    this.#costOf = costOf;
  }

  take(record: AuditRecord): void {
    if (record.type !== 'request') return;
    const { usage, model, at } = record;
    const cost = usage && this.#costOf(usage, model);
    spend(this.total, usage, cost);
    spend(memberOf(this.byModel, model ?? 'unknown', noSpending), usage, cost);
    if (at !== undefined) spend(memberOf(this.byDay, new Date(at).toISOString().slice(0, 10), noSpending), usage, cost);
  }
}
