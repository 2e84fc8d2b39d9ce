/** Prints the measures as Markdown. */
import { markdownTable } from '../report.mjs';

const grouped = (value) => Math.round(value).toLocaleString('en-US');
const millions = (value) => `${(value / 1e6).toFixed(1)} M`;
const percent = (share, digits = 1) =>
  share === undefined || Number.isNaN(share) ? '–' : `${(share * 100).toFixed(digits)} %`;
const dollars = (value) => `$${value.toFixed(2)}`;
const share = (part, whole) => percent(whole === 0 ? undefined : part / whole);

/** @type {(measures: Awaited<ReturnType<typeof import('./measures.mjs').measureRuns>>, source: string) => string} */
export const valueMarkdown = (measures, source) =>
  [
    `${measures.runs} runs, ${grouped(measures.steps)} model calls, ${measures.successes} runs that end with an answer. ${source}`,
    ...sections(measures).flatMap(([title, text, table]) => [`### ${title}`, text, table]),
  ].join('\n\n');

const sections = ({ calibration, cache, compaction, caps, loops, journal, ablation }) => [
  [
    'Prefix cache',
    calibration.inputError === undefined
      ? 'The recordings have no usage, so the model of the cache is not calibrated.'
      : `The model of the provider's cache was fitted to every other request. On the other ${grouped(calibration.requests)} requests its input differs by ${percent(calibration.inputError)} (median), the cached share by ${percent(calibration.shareError)} of the input (mean), the sum of the cached tokens by ${percent(calibration.totalError)}.`,
    markdownTable(
      ['the same calls with', 'input', 'cached', 'cost', 'cost per million'],
      Object.entries(cache).map(([name, { input, cacheRead, cost }]) => [
        name,
        millions(input),
        share(cacheRead, input),
        dollars(cost),
        dollars((cost / input) * 1e6),
      ]),
    ),
  ],
  [
    'Compaction',
    'Identifiers (paths, addresses, hashes, codes) that calls after the compaction used, and that were still in context. All had the same limit; a method that cuts between messages may leave less.',
    markdownTable(
      ['', 'needed later', 'in context', 'share', 'of the limit used'],
      Object.entries(compaction).map(([name, { needed, kept, tokens, budget }]) => [
        name,
        grouped(needed),
        grouped(kept),
        share(kept, needed),
        share(tokens, budget),
      ]),
    ),
  ],
  [
    'Caps of tool results',
    'Tokens that the cap removes, times the later requests that would have carried them; and the lines of capped results that later inputs quoted.',
    markdownTable(
      ['cap', 'results', 'tokens removed', '× requests', 'quoted later', 'still visible'],
      caps.map(({ maxChars, capped, tokens, carried, quoted, visible }) => [
        `${grouped(maxChars)} characters`,
        grouped(capped),
        grouped(tokens),
        millions(carried),
        grouped(quoted),
        share(visible, quoted),
      ]),
    ),
  ],
  [
    'Loops',
    'Calls after the one that `loopDetect` would have refused, until the next message of the user.',
    markdownTable(
      ['runs', 'stopped', 'calls after that', 'input tokens', 'false stops', 'warned'],
      [
        [
          grouped(loops.runs),
          grouped(loops.stopped),
          grouped(loops.calls),
          millions(loops.tokens),
          `${loops.falseStops} of ${loops.successes} successes`,
          grouped(loops.warned),
        ],
      ],
    ),
  ],
  [
    'Journal',
    'Bytes on disk of `fileSessions`, beside the messages themselves and a log that stores every request in full.',
    markdownTable(
      ['steps', 'journal per step', 'messages per step', 'full requests per step'],
      [
        [
          grouped(journal.steps),
          ...[journal.journal, journal.content, journal.fullLog].map(
            (bytes) => `${(bytes / journal.steps / 1000).toFixed(1)} kB`,
          ),
        ],
      ],
    ),
  ],
  [
    'Ablation',
    'The same runs through the loop with these operators. The recorded model answers as it did; it does not react to warnings.',
    markdownTable(
      ['operators', 'model calls', 'tool calls', 'input', 'cached', 'largest request', 'cost', 'completed'],
      Object.entries(ablation).map(([name, { requests, toolCalls, input, cacheRead, largest, cost, completed }]) => [
        name,
        grouped(requests),
        grouped(toolCalls),
        millions(input),
        share(cacheRead, input),
        grouped(largest),
        dollars(cost),
        grouped(completed),
      ]),
    ),
  ],
];
