import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs, styleText } from 'node:util';
import { loadPrices, type CostOf } from '@h/prices';
import { buildTrace } from '../build-trace.js';
import { formatTrace, type TracePaint } from '../format-trace.js';
import { traceHtml } from '../html/trace-html.js';
import { readTrace } from '../read-trace.js';
import type { Trace } from '../trace.js';

/** Output of the program. */
export interface Terminal {
  readonly isTerminal: boolean;
  print(text: string): void;
  printError(text: string): void;
}

const help = `Usage: h-trace FILE [options]

Shows a recording of record(FILE) of @h/observe: prints each turn as a tree with times and tokens, and writes a page
with a waterfall that opens offline.

  --html PATH    path of the page (default: FILE.html)
  --no-html      write no page
  --turn ID      show only turns whose id starts with ID
  --help         show this help`;

/** Runs the program. Returns 0, 1 if the recording cannot be read or the page written, 2 for invalid arguments. */
export const main = async (args: readonly string[], terminal: Terminal): Promise<number> => {
  const given = readArguments(args);
  if (typeof given === 'string') {
    terminal.printError(`${given}\n\n${help}`);
    return 2;
  }
  if (given.help) {
    terminal.print(help);
    return 0;
  }
  const { file, turn, html } = given;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    terminal.printError(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  });
  if (text === undefined) return 1;
  const { turns, skipped } = readTrace(text);
  const chosen = [...turns].filter(([id]) => turn === undefined || id.startsWith(turn));
  if (chosen.length === 0) {
    terminal.printError(
      turn === undefined
        ? `${file} contains no recorded turn. Create recordings with record() of @h/observe.`
        : `${file} contains no turn whose id starts with ${JSON.stringify(turn)}.`,
    );
    return 1;
  }
  const costOf = await pricesIfInstalled();
  const traces = chosen
    .map(([id, lines]) => buildTrace(id, lines, costOf))
    .toSorted((left, right) => left.startedAt - right.startedAt);
  terminal.print(traces.map((trace) => formatTrace(trace, terminal.isTerminal ? colors : undefined)).join('\n\n'));
  if (skipped > 0) {
    terminal.printError(
      `${skipped} ${skipped === 1 ? 'line was' : 'lines were'} skipped: torn by a crash, or not part of a recording.`,
    );
  }
  return html === undefined ? 0 : writePage(html, traces, terminal);
};

interface Arguments {
  readonly file: string;
  readonly html: string | undefined;
  readonly turn: string | undefined;
  readonly help: boolean;
}

const readArguments = (args: readonly string[]): Arguments | string => {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        html: { type: 'string' },
        'no-html': { type: 'boolean' },
        turn: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [file = '', ...more] = positionals;
    if (values.help !== true && (file === '' || more.length > 0)) return 'h-trace requires exactly one file.';
    return {
      file,
      html: values['no-html'] === true ? undefined : (values.html ?? `${file}.html`),
      turn: values.turn,
      help: values.help === true,
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

const writePage = async (path: string, traces: readonly Trace[], terminal: Terminal): Promise<number> => {
  try {
    await writeFile(path, traceHtml(traces), { mode: 0o600 });
    terminal.print(`\n${path}`);
    return 0;
  } catch (error) {
    terminal.printError(`Cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  }
};

/** Recordings contain no prices. Costs are shown if the price catalog is installed. */
const pricesIfInstalled = async (): Promise<CostOf | undefined> => {
  try {
    return await loadPrices();
  } catch {
    return undefined;
  }
};

const colors: TracePaint = {
  strong: (text) => styleText('bold', text),
  faint: (text) => styleText('dim', text),
  good: (text) => styleText('green', text),
  bad: (text) => styleText('red', text),
  warn: (text) => styleText('yellow', text),
};
