import { setImmediate } from 'node:timers/promises';
import { excerpt, type FoundLine } from './grep-query.js';
import type { LineMatcher } from './line-matcher.js';

/** Options for searching a text. */
export interface TextSearch {
  readonly matcher: LineMatcher;
  readonly context: number;
  readonly maxMatches: number;
  readonly maxLineChars: number;
  readonly pace: Pace;
}

/** Work after which the event loop runs: a few milliseconds. */
const slice = 2_000_000;
/** Maximum work for a single line, during which nothing else can run, not even an abort. */
const maxLineWork = 20_000_000;

/** Yields to the event loop at intervals, so that a long search does not block it. */
export class Pace {
  readonly #signal: AbortSignal;
  #work = 0;
  /** Number of lines that were too long for the pattern. */
  skippedLines = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Counts work; returns a promise to await if it is time to yield. */
  spend(work: number): Promise<void> | undefined {
    this.#work += work;
    if (this.#work < slice) return undefined;
    this.#work = 0;
    return this.#rest();
  }

  async #rest(): Promise<void> {
    await setImmediate();
    this.#signal.throwIfAborted();
  }
}

/** Returns the matching lines of a text with their context lines, in order, each once. */
export const searchText = async (text: string, search: TextSearch): Promise<readonly FoundLine[]> => {
  const { matcher, context, pace } = search;
  const found: FoundLine[] = [];
  const before: FoundLine[] = [];
  let matches = 0;
  let after = 0;
  let number = 0;
  for (let start = 0; start < text.length && (matches < search.maxMatches || after > 0);) {
    const end = endOfLine(text, start);
    const line = text.slice(start, text[end - 1] === '\r' && end > start ? end - 1 : end);
    start = end + 1;
    number += 1;
    const pause = pace.spend(line.length * matcher.cost + matcher.cost);
    if (pause !== undefined) await pause;
    if (matches < search.maxMatches && isMatch(line, search)) {
      matches += 1;
      after = context;
      found.push(...before.splice(0), {
        number,
        text: excerpt(line, placeIn(line, search), search.maxLineChars),
        isMatch: true,
      });
    } else if (after > 0) {
      after -= 1;
      found.push({ number, text: excerpt(line, 0, search.maxLineChars), isMatch: false });
    } else if (context > 0) {
      before.push({ number, text: excerpt(line, 0, search.maxLineChars), isMatch: false });
      if (before.length > context) before.shift();
    }
  }
  return matches > 0 ? found : [];
};

const endOfLine = (text: string, start: number): number => {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
};

const isMatch = (line: string, { matcher, pace }: TextSearch): boolean => {
  if (line.length * matcher.cost > maxLineWork && matcher.cost > 1) {
    pace.skippedLines += 1;
    return false;
  }
  return matcher.test(line);
};

const placeIn = (line: string, { matcher, maxLineChars }: TextSearch): number =>
  line.length > maxLineChars ? matcher.place(line) : 0;
