import { cutText } from '@h/bounded';
import { isEmptyUsage } from '@h/prices';
import { formatCost, formatDuration, formatUsage, oneLine } from '../format.js';
import type { Trace, TraceNode, TraceStatus } from '../trace.js';

/** A row of the waterfall in the page. */
export interface Row {
  readonly depth: number;
  readonly kind: 'turn' | TraceNode['kind'];
  readonly status: TraceStatus;
  readonly name: string;
  /** Milliseconds since the first turn began. */
  readonly start: number;
  readonly end: number;
  readonly note?: string | undefined;
  readonly time: string;
  readonly tokens?: string | undefined;
  readonly cost?: string | undefined;
  /** Time of the first delta. */
  readonly first?: number | undefined;
  readonly details: readonly (readonly [label: string, text: string])[];
}

/** Number of rows above which texts are shortened, so that the page opens quickly. */
const manyRows = 300;
const maxChars = { few: 20_000, many: 1500 } as const;

/** Returns the rows of all turns in tree order. */
export const rowsOf = (traces: readonly Trace[]): readonly Row[] => {
  const first = Math.min(...traces.map(({ startedAt }) => startedAt));
  const total = traces.reduce(
    (sum, { nodes }) => sum + nodes.reduce((rows, { children }) => rows + 1 + children.length, 1),
    0,
  );
  const limit = total > manyRows ? maxChars.many : maxChars.few;
  return traces.flatMap((trace) => {
    const offset = trace.startedAt - first;
    return [turnRow(trace, offset, limit), ...trace.nodes.flatMap((node) => nodeRows(node, 1, offset, limit))];
  });
};

const turnRow = (trace: Trace, offset: number, limit: number): Row => {
  const { id, outcome, durationMs, usage, cost, reason, parent } = trace;
  const status = outcome === undefined ? 'open' : outcome === 'completed' || outcome === 'replied' ? 'ok' : 'error';
  const details = [
    ['turn', id],
    ['parent', parent],
    ['session', trace.session],
    ['outcome', outcome ?? 'no end recorded'],
    ['reason', reason],
    ['input', trace.input],
  ];
  return {
    depth: 0,
    kind: 'turn',
    status,
    name: `turn ${id.slice(0, 8)}`,
    start: offset,
    end: offset + durationMs,
    note: outcome ?? 'no end recorded',
    time: formatDuration(durationMs),
    ...(!isEmptyUsage(usage) && { tokens: formatUsage(usage) }),
    ...(cost !== undefined && cost > 0 && { cost: formatCost(cost) }),
    details: details.flatMap(([label, text]) =>
      label === undefined || text === undefined || text === '' ? [] : [[label, cutText(text, limit)] as const],
    ),
  };
};

/** Returns a short note: the input of a tool, an error, or a finish reason. */
const noteOf = ({ kind, note, details, children }: TraceNode): string => {
  if (kind === 'step') {
    const problems = children.filter(({ status }) => status === 'error').length;
    return problems === 0 ? '' : `${problems} ${problems === 1 ? 'problem' : 'problems'}`;
  }
  if (kind !== 'tool') return note ?? '';
  const input = details.find(([label]) => label === 'input')?.[1] ?? '';
  return [note === 'ok' ? '' : (note ?? ''), oneLine(input.replaceAll(/[\s{}"]+/g, ' ').replaceAll(' : ', ': '), 80)]
    .filter((part) => part !== '')
    .join(' · ');
};

const withNote = (note: string): { readonly note?: string } => (note === '' ? {} : { note: cutText(note, 300) });

const nodeRows = (node: TraceNode, depth: number, offset: number, limit: number): readonly Row[] => {
  const { kind, status, name, start, end, usage, cost, firstDeltaMs, details, children } = node;
  const row: Row = {
    depth,
    kind,
    status,
    name: cutText(name, 200),
    start: offset + start,
    end: offset + end,
    ...withNote(noteOf(node)),
    time: kind === 'notice' ? '' : formatDuration(end - start),
    ...(usage !== undefined && !isEmptyUsage(usage) && { tokens: formatUsage(usage) }),
    ...(cost !== undefined && cost > 0 && { cost: formatCost(cost) }),
    ...(firstDeltaMs !== undefined && { first: offset + start + firstDeltaMs }),
    details: details.map(([label, text]) => [label, cutText(text, limit)] as const),
  };
  return [row, ...children.flatMap((child) => nodeRows(child, depth + 1, offset, limit))];
};
