import { counted, grouped, tokens } from '../format.js';
import type { Comparison } from '../replay/comparison.js';
import type { Replayed } from '../replay/replay.js';

/** The rows of a comparison: a name, and the cells without and with the operators. */
export const replayRows = (comparison: Comparison): readonly (readonly [string, readonly [string, string]])[] =>
  Object.entries(cellOf).map(([name, cell]) => [name, [cell(comparison.without), cell(comparison.with)]]);

const cellOf: Readonly<Record<string, (replayed: Replayed) => string>> = {
  'model calls': ({ modelCalls }) => grouped(modelCalls),
  'calls that ran': ({ toolCalls }) => grouped(toolCalls),
  'calls denied': ({ denied }) => list(denied),
  approvals: ({ approvals }) => grouped(approvals),
  compactions: ({ compactions }) => grouped(compactions),
  'tokens sent': (replayed) => tokens(replayed.tokens),
  'largest request': ({ largest }) => `${tokens(largest)} tokens`,
  'turns ended': ({ outcomes }) => list(outcomes),
};

const list = (counts: Readonly<Record<string, number>>): string =>
  Object.keys(counts).length === 0
    ? '0'
    : Object.entries(counts)
        .map(([name, count]) => counted(count, name, name))
        .join(', ');
