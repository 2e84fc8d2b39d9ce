import type { TurnOutcome } from '@h/turn';
import type { Tally } from '../tally.js';
import { oneLine } from './printable.js';
import { counted, duration, grouped } from './quantity.js';
import type { Paper } from './tool-line.js';

/** The closing lines of a turn: how it ended and why, what it took, and which files it changed. */
export const summaryLines = ({ end, startedAt, toolCalls, troubled, files }: Tally, { palette }: Pick<Paper, 'palette'>): readonly string[] => {
  if (end === undefined) return [];
  const { outcome, usage, steps, at } = end;
  const reason = oneLine(end.error?.message ?? end.reason ?? '');
  const colour = colourOf(outcome);
  const numbers = [
    counted(steps, 'step'),
    counted(toolCalls, 'tool call') + (troubled === 0 ? '' : ` (${grouped(troubled)} not ok)`),
    `tokens: ${grouped(usage.input)} in, ${grouped(usage.cacheRead)} cached, ${grouped(usage.output)} out`,
    duration(at - (startedAt ?? at)),
  ];
  return [
    `${palette[colour](`${outcome === 'completed' || outcome === 'replied' ? '✓' : '■'} ${outcome}`)}${reason === '' ? '' : ` · ${reason}`}`,
    palette.dim(`  ${numbers.join(' · ')}`),
    palette.dim(`  files changed: ${filesText(files)}`),
  ];
};

const colourOf = (outcome: TurnOutcome): 'green' | 'red' | 'yellow' => {
  if (outcome === 'completed' || outcome === 'replied') return 'green';
  return outcome === 'error' ? 'red' : 'yellow';
};

const maxFiles = 10;

const filesText = (files: Tally['files']): string => {
  if (files.size === 0) return 'none';
  const named = [...files].slice(0, maxFiles).map(([path, tally]) => `${oneLine(path)} (${'change' in tally ? tally.change : `+${tally.additions} −${tally.deletions}`})`);
  const left = files.size - named.length;
  return [...named, ...(left === 0 ? [] : [counted(left, 'more file')])].join(', ');
};
