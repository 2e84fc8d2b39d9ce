import type { UsageTotals } from '@h/observe';
import type { TurnOutcome, Usage } from '@h/turn';
import type { Tally } from '../tally.js';
import { oneLine } from './printable.js';
import { counted, duration, grouped } from './quantity.js';
import type { Paper } from './tool-line.js';

/** The summary of a turn: outcome, reason, usage and changed files. */
export const summaryLines = (
  { end, startedAt, toolCalls, troubled, files, switches, waitedMs, reasoning }: Tally,
  { palette }: Pick<Paper, 'palette'>,
  totals?: (turn: string) => UsageTotals,
): readonly string[] => {
  if (end === undefined) return [];
  const { outcome, usage, steps, at } = end;
  const reason = oneLine(end.error?.message ?? end.reason ?? '');
  const color = colorOf(outcome);
  const numbers = [
    counted(steps, 'step'),
    counted(toolCalls, 'tool call') + (troubled === 0 ? '' : ` (${grouped(troubled)} not ok)`),
    `tokens: ${grouped(usage.input)} in, ${grouped(usage.cacheRead)} cached${hitRate(usage)}, ${grouped(usage.output)} out${reasoningText(reasoning)}`,
    ...costText(totals?.(end.turn), outcome),
    duration(at - (startedAt ?? at)),
    ...(switches === 0 ? [] : [counted(switches, 'switch', 'switches')]),
    ...(waitedMs === 0 ? [] : [`${duration(waitedMs)} waiting for retries`]),
  ];
  return [
    `${palette[color](`${outcome === 'completed' || outcome === 'replied' ? '✓' : '■'} ${outcome}`)}${reason === '' ? '' : ` · ${reason}`}`,
    palette.dim(`  ${numbers.join(' · ')}`),
    palette.dim(`  files changed: ${filesText(files)}`),
  ];
};

/** Reasoning tokens as a share of the output, and the effort of the last request. */
const reasoningText = (used: Tally['reasoning']): string => {
  if (used === undefined || (used.tokens === 0 && used.effort === undefined)) return '';
  const effort = used.effort === undefined ? '' : ` (${used.effort})`;
  return used.tokens === 0 ? `, reasoning${effort}` : `, ${grouped(used.tokens)} of them reasoning${effort}`;
};

const hitRate = ({ input, cacheRead }: Usage): string =>
  cacheRead === 0 ? '' : ` (${Math.round((cacheRead / input) * 100)} %)`;

/**
 * Includes model calls of sub-agents and summaries. A cancelled call reports no usage although it has a cost, so the
 * cost is not exact in that case.
 */
const costText = (totals: UsageTotals | undefined, outcome: TurnOutcome): readonly string[] => {
  if (totals === undefined || totals.calls === 0) return [];
  const { cost, knownCost, usage } = totals;
  if (cost !== undefined && outcome !== 'cancelled' && usage.input + usage.output > 0) return [dollars(cost)];
  return [knownCost > 0 ? `at least ${dollars(knownCost)}` : 'cost unknown'];
};

const dollars = (amount: number): string => `$${amount.toFixed(amount < 1 ? 4 : 2)}`;

const colorOf = (outcome: TurnOutcome): 'green' | 'red' | 'yellow' => {
  if (outcome === 'completed' || outcome === 'replied') return 'green';
  return outcome === 'error' ? 'red' : 'yellow';
};

const maxFiles = 10;

const filesText = (files: Tally['files']): string => {
  if (files.size === 0) return 'none';
  const named = [...files]
    .slice(0, maxFiles)
    .map(
      ([path, tally]) =>
        `${oneLine(path)} (${'change' in tally ? tally.change : `+${tally.additions} −${tally.deletions}`})`,
    );
  const left = files.size - named.length;
  return [...named, ...(left === 0 ? [] : [counted(left, 'more file')])].join(', ');
};
