import type * as z from 'zod';
import type { usageReport } from '../../api/contract.js';
import { niceStep } from './waterfall.js';

type Report = z.infer<typeof usageReport>;

/** Cost per day, stacked by agent. */
export interface UsageChart {
  /** Agents by descending cost. */
  readonly agents: readonly string[];
  readonly days: readonly { readonly day: string; readonly costs: readonly number[]; readonly total: number }[];
  readonly max: number;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** Whether a model without a known price was used, so that costs are too low. */
  readonly isIncomplete: boolean;
}

const dayMs = 86_400_000;
const maxDays = 400;

/** Arranges a report as a chart: days without usage are part of the axis. */
export const chartOf = ({ days }: Report, from: string, to: string): UsageChart => {
  const byAgent = new Map<string, number>();
  const byDay = new Map<string, Map<string, number>>();
  for (const { day, agent, usage } of days) {
    const cost = usage.cost ?? 0;
    byAgent.set(agent, (byAgent.get(agent) ?? 0) + cost);
    const costs = byDay.get(day) ?? new Map<string, number>();
    byDay.set(day, costs.set(agent, (costs.get(agent) ?? 0) + cost));
  }
  const agents = [...byAgent].toSorted((left, right) => right[1] - left[1]).map(([agent]) => agent);
  const rows = daysBetween(from, to).map((day) => {
    const costs = agents.map((agent) => byDay.get(day)?.get(agent) ?? 0);
    return { day, costs, total: costs.reduce((sum, cost) => sum + cost, 0) };
  });
  const highest = Math.max(0, ...rows.map(({ total }) => total));
  const step = niceStep(highest / 4 || 0.25);
  const steps = Math.max(1, Math.ceil(highest / step - 1e-9));
  return {
    agents,
    days: rows,
    max: steps * step,
    ticks: Array.from({ length: steps + 1 }, (_, index) => ({
      at: index * step,
      label: `$${(index * step).toFixed(Math.max(2, Math.ceil(-Math.log10(step) - 1e-9)))}`,
    })),
    isIncomplete: days.some(({ usage }) => usage.cost === null),
  };
};

const daysBetween = (from: string, to: string): readonly string[] => {
  const days: string[] = [];
  const end = Date.parse(to);
  for (let at = Date.parse(from); at <= end && days.length < maxDays; at += dayMs) days.push(isoDay(at));
  return days;
};

export const isoDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Totals of a report by agent and model, by descending cost. */
export const totalsOf = ({ days }: Report) => {
  const totals = new Map<string, Report['days'][number]>();
  for (const row of days) {
    const key = `${row.agent}\n${row.model}`;
    const known = totals.get(key);
    totals.set(key, known ? { ...row, turns: known.turns + row.turns, usage: addUsage(known.usage, row.usage) } : row);
  }
  return [...totals.values()].toSorted((left, right) => (right.usage.cost ?? 0) - (left.usage.cost ?? 0));
};

type Usage = Report['days'][number]['usage'];
const addUsage = (left: Usage, right: Usage): Usage => ({
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
  cost: left.cost === null || right.cost === null ? null : left.cost + right.cost,
});
