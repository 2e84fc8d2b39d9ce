import type { SessionReport } from '../analysis/session.js';
import type { AuditTotals } from '../analysis/totals.js';
import { counted, dollars, duration, grouped, noName, percent, price, skippedLinesText, tokens } from '../format.js';
import { replayRows } from './replay-rows.js';

const maxSessions = 500;

/** Returns the report as one HTML page without scripts, fonts or requests, which opens offline. */
export const htmlReport = (totals: AuditTotals, sessions: readonly SessionReport[]): string => {
  const { spending } = totals;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Audit of ${counted(totals.sessions, 'session')}</title>
<style>${style}</style>
<h1>Audit of ${counted(totals.sessions, 'session')}</h1>
<p>What coding agents did according to their transcripts, and what the packages of h would have done at their defaults. Costs are
list prices, and findings are guesses about recordings: what was reported may have been right.</p>
<dl>
${fact('Model calls', grouped(spending.requests))}
${fact('Input', `${tokens(spending.usage.input)} tokens`)}
${fact('From the cache', percent(spending.usage.cacheRead, spending.usage.input))}
${fact('Output', `${tokens(spending.usage.output)} tokens`)}
${fact('Cost', dollars(spending.cost))}
${spending.unpriced === 0 ? '' : fact('Calls of unknown price', grouped(spending.unpriced))}
</dl>
<h2>What the harness would have done</h2>
${table(
  ['Package', 'Effect', 'Tokens', 'Cost'],
  totals.savings.map(({ package: name, effect, tokens: saved, cost }) => [
    name,
    effect,
    saved === undefined ? '' : tokens(saved),
    cost === undefined || cost === 0 ? '' : dollars(cost),
  ]),
)}
${
  totals.replay
    ? `<h2>Replayed</h2>${table(
        ['', 'Without operators', 'With operators'],
        replayRows(totals.replay).map(([name, cells]) => [name, ...cells]),
      )}`
    : ''
}
<h2>Cost by day</h2>
${columns(Object.entries(totals.byDay).map(([day, spent]) => ({ name: day, value: spent.cost, label: `${price(spent)}, ${counted(spent.requests, 'call')}` })))}
<h2>Models</h2>
${bars(Object.entries(totals.byModel).map(([name, spent]) => ({ name, value: spent.usage.input + spent.usage.output, label: `${tokens(spent.usage.input + spent.usage.output)} tokens, ${price(spent)}` })))}
<h2>Tools</h2>
${bars(
  Object.entries(totals.byTool)
    .slice(0, 30)
    .map(([name, { calls, errors, resultTokens }]) => ({
      name: name || noName,
      value: resultTokens,
      label: `${tokens(resultTokens)} tokens, ${counted(calls, 'call')}, ${grouped(errors)} failed`,
    })),
)}
${findings(
  'Loops',
  ['Tool', 'Detector', 'Call', 'Session'],
  totals.loops.count,
  totals.loops.listed.map(({ tool, detector, call, path }) => [tool, detector, grouped(call), path]),
)}
${findings(
  'Commands that would be denied',
  ['Command', 'Rule', 'Reason', 'Session'],
  totals.denied.count,
  totals.denied.listed.map(({ command, rule, why, path }) => [command, rule, why, path]),
)}
${findings(
  'Commands that would be asked about',
  ['Command', 'Rule', 'Reason', 'Session'],
  totals.asked.count,
  totals.asked.listed.map(({ command, rule, why, path }) => [command, rule, why, path]),
)}
${findings(
  'Results that address the model',
  ['Tool', 'Verdict', 'Rules', 'Session'],
  totals.injections.count,
  totals.injections.listed.map(({ tool, verdict, rules, path }) => [tool, verdict, rules.join(', '), path]),
)}
${findings(
  'Results beyond the cap',
  ['Tool', 'Characters', 'Tokens beyond', 'Session'],
  totals.oversized.count,
  totals.oversized.listed.map(({ tool, chars, excessTokens, path }) => [
    tool,
    grouped(chars),
    tokens(excessTokens),
    path,
  ]),
)}
${findings(
  'Cache breaks',
  ['Cause', 'What changed', 'Tokens', 'Pause', 'Session'],
  totals.cacheBreaks.count,
  totals.cacheBreaks.listed.map(({ cause, changes, lostTokens, pauseMs, path }) => [
    cause,
    changes.join('; '),
    tokens(lostTokens),
    pauseMs === undefined ? '' : duration(pauseMs),
    path,
  ]),
)}
${findings(
  'Secrets',
  ['Kind', 'Count'],
  Object.values(totals.secretsByKind).reduce((sum, count) => sum + count, 0),
  Object.entries(totals.secretsByKind).map(([kind, count]) => [kind, grouped(count)]),
)}
<h2>Sessions</h2>
${table(
  ['Session', 'Format', 'Calls', 'Tokens', 'Cost', 'Loops', 'Denied', 'Secrets'],
  sessions
    .toSorted((one, other) => other.spending.cost - one.spending.cost)
    .slice(0, maxSessions)
    .map(({ path, format, spending: spent, loops, commands, secrets }) => [
      path,
      format,
      grouped(spent.requests),
      tokens(spent.usage.input + spent.usage.output),
      price(spent),
      grouped(loops.count),
      grouped(commands.denied.count),
      grouped(secrets.count),
    ]),
)}
${sessions.length > maxSessions ? `<p>${grouped(sessions.length - maxSessions)} more sessions are in the JSON report.</p>` : ''}
${
  totals.skipped.length === 0
    ? ''
    : `<h2>Skipped files</h2>${table(
        ['File', 'Reason'],
        totals.skipped.map(({ path, reason }) => [path, reason]),
      )}`
}
${totals.skippedLines === 0 ? '' : `<p>${skippedLinesText(totals.skippedLines)}</p>`}
</html>
`;
};

const style = `
:root { color-scheme: light dark; --bar: #3b82c4; --line: #8884; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; } dt { opacity: .7; } dd { margin: 0; font-size: 1.5rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; min-width: 40rem; } th { white-space: nowrap; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: anywhere; }
td:first-child { min-width: 8.5rem; }
.bar { height: 12px; border-radius: 2px; background: var(--bar); margin-bottom: .6rem; } .label { overflow-wrap: anywhere; }
@media (max-width: 40rem) { dl + h2 + .scroll { table, tbody, tr, td { display: block; min-width: 0; } tr:first-child { display: none; }
tr { border-bottom: 1px solid var(--line); padding: .3rem 0; } td { border: 0; padding: 0; } td:first-child { font-weight: 600; } td:nth-child(3):not(:empty)::after { content: ' tokens'; } } }
svg { width: 100%; height: 160px; } rect { fill: var(--bar); } .days { display: flex; justify-content: space-between; }
`;

const escaped = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0) ?? 0};`);

const fact = (name: string, value: string): string => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`;

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  rows.length === 0
    ? '<p>None.</p>'
    : `<div class="scroll"><table><tr>${head.map((name) => `<th scope="col">${name}</th>`).join('')}</tr>${rows.map((row) => `<tr>${row.map((cell) => `<td>${escaped(cell)}</td>`).join('')}</tr>`).join('\n')}</table></div>`;

const findings = (
  title: string,
  head: readonly string[],
  count: number,
  rows: readonly (readonly string[])[],
): string =>
  count === 0
    ? ''
    : `<h2>${title}: ${grouped(count)}</h2>${table(head, rows)}${count > rows.length && rows.length >= 20 ? `<p>The first ${rows.length} are shown.</p>` : ''}`;

interface Bar {
  readonly name: string;
  readonly value: number;
  readonly label: string;
}

/** Draws horizontal bars with their labels. */
const bars = (given: readonly Bar[]): string => {
  if (given.length === 0) return '<p>None.</p>';
  const largest = Math.max(...given.map(({ value }) => value), Number.EPSILON);
  return given
    .map(({ name, value, label }) => {
      const width = ((100 * value) / largest).toFixed(2);
      return `<div class="label">${escaped(name)} · ${escaped(label)}</div><div class="bar" style="width:${width}%"></div>`;
    })
    .join('\n');
};

const chartWidth = 800;
const columnsHeight = 160;
/** Fewer days have bars with their labels instead. */
const minColumns = 14;

/** Draws one column for each of many days. */
const columns = (given: readonly Bar[]): string => {
  if (given.length === 0) return '<p>The transcripts contain no times.</p>';
  if (given.length < minColumns) return bars(given);
  const largest = Math.max(...given.map(({ value }) => value), Number.EPSILON);
  const width = chartWidth / given.length;
  const rows = given.map(({ name, value, label }, index) => {
    const height = Math.max(1, (value / largest) * columnsHeight);
    return `<rect x="${(index * width).toFixed(1)}" y="${(columnsHeight - height).toFixed(1)}" width="${Math.max(1, width - 2).toFixed(1)}" height="${height.toFixed(1)}"><title>${escaped(`${name}: ${label}`)}</title></rect>`;
  });
  const highest = largest > Number.EPSILON ? `<p>The highest column is ${dollars(largest)}.</p>` : '';
  const days = [given[0], given.at(-1)].map((day) => `<span>${escaped(day?.name ?? '')}</span>`);
  return `<svg viewBox="0 0 ${chartWidth} ${columnsHeight}" preserveAspectRatio="none" role="img" aria-label="Cost by day">${rows.join('')}</svg><div class="days">${days.join('')}</div>${highest}`;
};
