import type picocolors from 'picocolors';
import type { AuditTotals } from '../analysis/totals.js';
import type { SessionReport } from '../analysis/session.js';
import { counted, dollars, grouped, noName, percent, price, printable, skippedLinesText, tokens } from '../format.js';
import { replayRows } from './replay-rows.js';

type Colors = ReturnType<typeof picocolors.createColors>;

/** Rows of a table in the text. The JSON and HTML reports have all of them. */
const maxRows = 10;
const maxNameChars = 48;

/** Returns the report for a terminal. */
export const textReport = (totals: AuditTotals, sessions: readonly SessionReport[], colors: Colors): string => {
  const { spending, skipped } = totals;
  const { usage } = spending;
  const lines = [
    colors.bold(`${counted(totals.sessions, 'session')}, ${counted(spending.requests, 'model call')}`),
    `${tokens(usage.input)} tokens in (${percent(usage.cacheRead, usage.input)} from the cache), ${tokens(usage.output)} out, ${dollars(spending.cost)}${unpriced(spending.unpriced)}`,
    '',
    ...savingLines(totals, colors),
    ...replayLines(totals, colors),
    ...table(colors, 'By model', Object.entries(totals.byModel), (spent) => [
      counted(spent.requests, 'call'),
      `${tokens(spent.usage.input + spent.usage.output)} tokens`,
      price(spent),
    ]),
    ...table(colors, 'By tool', Object.entries(totals.byTool), ({ calls, errors, resultTokens }) => [
      counted(calls, 'call'),
      `${grouped(errors)} failed`,
      `${tokens(resultTokens)} tokens`,
    ]),
    ...table(colors, 'By day', Object.entries(totals.byDay).slice(-maxRows), (spent) => [
      counted(spent.requests, 'call'),
      price(spent),
    ]),
    ...table(colors, 'Most expensive sessions', expensive(sessions), ({ spending: spent, format }) => [
      format,
      counted(spent.requests, 'call'),
      price(spent),
    ]),
    ...findingLines(totals, colors),
    ...skipped.slice(0, maxRows).map(({ path, reason }) => colors.yellow(printable(`Skipped ${path}: ${reason}`))),
    ...(skipped.length > maxRows ? [colors.yellow(`… and ${counted(skipped.length - maxRows, 'more file')}`)] : []),
    ...(totals.skippedLines > 0 ? [colors.yellow(skippedLinesText(totals.skippedLines))] : []),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
};

const unpriced = (count: number): string => (count === 0 ? '' : `, without ${counted(count, 'call')} of unknown price`);

const noFinding = 'no loop, no destructive command, no secret, no waste was found';

const savingLines = ({ savings, sessions }: AuditTotals, colors: Colors): readonly string[] => [
  colors.bold('What the harness would have done'),
  ...(savings.length === 0 ? [`  nothing: ${sessions === 0 ? 'no session was read' : noFinding}`] : []),
  ...savings.map(({ package: name, effect, tokens: saved, cost }) => {
    const figures = [
      ...(saved === undefined ? [] : [`${tokens(saved)} tokens`]),
      ...(cost === undefined || cost === 0 ? [] : [dollars(cost)]),
    ];
    return `  ${colors.cyan(name.padEnd(16))} ${effect}${figures.length === 0 ? '' : colors.green(` · ${figures.join(', ')}`)}`;
  }),
  '',
];

const replayLines = ({ replay }: AuditTotals, colors: Colors): readonly string[] =>
  replay
    ? table(colors, 'Replayed', replayRows(replay), ([before, after]) => [before, after], ['without', 'with operators'])
    : [];

const expensive = (sessions: readonly SessionReport[]): readonly (readonly [string, SessionReport])[] =>
  sessions.toSorted((one, other) => other.spending.cost - one.spending.cost).map((session) => [session.path, session]);

const table = <Row>(
  colors: Colors,
  title: string,
  entries: readonly (readonly [string, Row])[],
  cells: (row: Row) => readonly string[],
  head?: readonly string[],
): readonly string[] => {
  if (entries.length === 0) return [];
  const rows = [
    ...(head ? [['', ...head]] : []),
    ...entries.slice(0, maxRows).map(([name, row]) => [shortened(name || noName), ...cells(row)]),
  ];
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const left = entries.length - Math.min(entries.length, maxRows);
  return [
    colors.bold(title),
    ...rows.map(
      (row) =>
        `  ${row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  ')}`,
    ),
    ...(left > 0 ? [colors.dim(`  … and ${grouped(left)} more`)] : []),
    '',
  ];
};

const shortened = (name: string): string =>
  printable(name.length > maxNameChars ? `…${name.slice(1 - maxNameChars)}` : name);

const findingLines = (totals: AuditTotals, colors: Colors): readonly string[] => [
  ...section(
    colors,
    'Loops',
    totals.loops.listed,
    ({ tool, detector, call }) => `${tool} · ${detector} at call ${call}`,
  ),
  ...section(
    colors,
    'Commands that would be denied',
    totals.denied.listed,
    ({ command, rule }) => `${command} · ${rule}`,
  ),
  ...section(
    colors,
    'Results that address the model',
    totals.injections.listed,
    ({ tool, rules }) => `${tool} · ${rules.join(', ')}`,
  ),
  ...section(
    colors,
    'Cache breaks',
    totals.cacheBreaks.listed,
    ({ cause, changes, lostTokens }) => `${tokens(lostTokens)} tokens · ${[cause, ...changes].join(' · ')}`,
  ),
  ...section(colors, 'Secrets', Object.entries(totals.secretsByKind), ([kind, count]) => `${kind}: ${grouped(count)}`),
];

const section = <Finding>(
  colors: Colors,
  title: string,
  findings: readonly Finding[],
  lineOf: (finding: Finding) => string,
): readonly string[] =>
  findings.length === 0
    ? []
    : [colors.bold(title), ...findings.slice(0, maxRows).map((finding) => `  ${printable(lineOf(finding))}`), ''];
