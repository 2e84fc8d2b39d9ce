import { createHash } from 'node:crypto';
import { addUsage, noUsage } from '@h/turn';
import { cacheHitRate } from '@h/prices';
import { count, formatCost, formatDuration, oneLine } from '../format.js';
import { formatTrace } from '../format-trace.js';
import type { Trace } from '../trace.js';
import { rowsOf } from './rows.js';
import { viewerScript } from './viewer-script.js';
import { viewerStyle } from './viewer-style.js';

/**
 * Creates a page that shows turns as a waterfall. The page is one file and works offline. Its content security policy
 * allows only its own script and style. Recorded data is embedded as data, never as markup.
 *
 * @example
 * ```ts
 * await writeFile('turn.html', traceHtml([buildTrace(id, lines)]));
 * ```
 */
export const traceHtml = (traces: readonly Trace[]): string => {
  const [first] = traces;
  const title = traces.length === 1 && first !== undefined ? `Turn ${oneLine(first.id, 40)}` : `${traces.length} turns`;
  const policy = `default-src 'none'; style-src '${hashOf(viewerStyle)}'; script-src '${hashOf(viewerScript)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${escape(title)}</title>
<style>${viewerStyle}</style>
</head>
<body>
<header>
<div class="heading"><h1>${escape(title)}</h1>${first === undefined ? '' : badge(traces)}${asked(first)}</div>
<dl class="facts">${factsOf(traces)
    .map(
      ([label, value, more]) =>
        `<div><dt>${escape(label)}</dt><dd>${escape(value)}${more === undefined ? '' : `<small>${escape(more)}</small>`}</dd></div>`,
    )
    .join('')}</dl>
<div class="tools">
<label class="search"><span class="hidden">Filter</span><input id="filter" type="search" placeholder="Filter   /" autocomplete="off" spellcheck="false"></label>
<button type="button" id="errors" aria-pressed="false">Only problems</button>
<button type="button" id="expand">Expand all</button>
<button type="button" id="collapse">Collapse all</button>
<span class="zoom" role="group" aria-label="Zoom"><button type="button" id="out" aria-label="Zoom out" title="Zoom out  −">−</button><button type="button" id="in" aria-label="Zoom in" title="Zoom in  +">+</button><button type="button" id="fit" title="Show all  0">Fit</button></span>
<button type="button" id="follow" aria-pressed="false" title="Show the time of the rows in view">Follow</button>
<span class="legend" aria-hidden="true"><i class="model"></i>model<i class="tool"></i>tool<i class="notice"></i>notice<i class="error"></i>problem</span>
</div>
<div class="rule"><span class="corner" id="found" role="status"></span><div class="scale"><canvas id="map" aria-hidden="true"></canvas><div id="window"></div><div id="axis" aria-hidden="true"></div></div></div>
</header>
<main><div id="rows" role="treegrid" aria-label="What happened, in the order of time" aria-colcount="2"></div></main>
<aside id="details" aria-label="Details" hidden></aside>
<div id="tip" role="tooltip" hidden></div>
<footer>↑ ↓ move · ← → fold · Enter details · Esc close · + − 0 zoom · / filter</footer>
<noscript><pre>${escape(traces.map((trace) => formatTrace(trace)).join('\n\n'))}</pre></noscript>
<script type="application/json" id="data">${embed(rowsOf(traces))}</script>
<script>${viewerScript}</script>
</body>
</html>
`;
};

const badge = (traces: readonly Trace[]): string => {
  const outcomes = traces.map(({ outcome }) => outcome ?? 'no end recorded');
  const worst = outcomes.find((outcome) => outcome !== 'completed' && outcome !== 'replied');
  return `<span class="badge ${worst === undefined ? 'ok' : 'bad'}">${escape(worst ?? outcomes[0] ?? '')}</span>`;
};

const asked = (trace: Trace | undefined): string =>
  trace === undefined || trace.input === '' ? '' : `<q>${escape(oneLine(trace.input, 160))}</q>`;

/** Returns the facts at the top of the page: a label, a value and a remark. */
const factsOf = (
  traces: readonly Trace[],
): readonly (readonly [label: string, value: string, more?: string | undefined])[] => {
  const usage = traces.reduce((sum, trace) => addUsage(sum, trace.usage), noUsage);
  const sum = (of: (trace: Trace) => number): number => traces.reduce((total, trace) => total + of(trace), 0);
  const first = Math.min(...traces.map(({ startedAt }) => startedAt));
  const last = Math.max(...traces.map(({ startedAt, durationMs }) => startedAt + durationMs));
  const costs = traces.map(({ cost }) => cost);
  const hits = cacheHitRate(usage);
  const models = [...new Set(traces.flatMap((trace) => trace.models))];
  return [
    ['Duration', traces.length === 0 ? '–' : formatDuration(last - first)],
    ['Steps', count(sum(({ steps }) => steps))],
    ['Tool calls', count(sum(({ toolCalls }) => toolCalls))],
    ['Tokens in', count(usage.input), hits === undefined ? undefined : `${Math.round(hits * 100)} % cached`],
    ['Tokens out', count(usage.output), usage.reasoning > 0 ? `${count(usage.reasoning)} reasoning` : undefined],
    ['Cost', costs.some((cost) => cost === undefined) ? 'unknown' : formatCost(sum(({ cost }) => cost ?? 0))],
    [
      'Model',
      models[0] === undefined ? '–' : oneLine(models[0], 50),
      models.length > 1 ? `and ${models.length - 1} more` : undefined,
    ],
  ];
};

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character);

/** Serializes JSON so that it cannot close its script element. */
const embed = (value: unknown): string => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
