import type { Finder, Findings, Place, Secret } from './replace.js';

/** Matches a line feed, a return, a tab or a quote as strings in JSON and code have it, escaped any number of times. */
const escape = /(?<!\\)\\+[nrt"']/;
const characters: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['"', '"'],
  ["'", "'"],
]);
/** Maximum number of characters of the first line of a string that are read again. */
const maxFirstLine = 200;

/** Whether the quote at an offset begins a string. */
const opens = (text: string, quote: number): boolean => {
  const before = text.charAt(quote - 1) === ' ' ? quote - 2 : quote - 1;
  return '[({,:='.includes(text.charAt(before) || '-') && /[\w$#+|-]/.test(text.charAt(quote + 1));
};

/** A text without escapes, whose strings begin lines, and its offsets in the text with them. */
class Unescaped {
  readonly text: string;
  /** The offsets behind each replaced character, in the text and in the one with escapes. */
  readonly #here: number[] = [0];
  readonly #there: number[] = [0];

  constructor(escaped: string) {
    let text = '';
    let last = 0;
    const replace = (start: number, end: number, character: string): void => {
      text += escaped.slice(last, start) + character;
      last = end;
      this.#here.push(text.length);
      this.#there.push(end);
    };
    let slash = escaped.indexOf('\\');
    let quote = escaped.indexOf('"');
    while (slash !== -1 || quote !== -1) {
      if (quote !== -1 && (slash === -1 || quote < slash)) {
        if (opens(escaped, quote)) replace(quote, quote + 1, '\n');
        quote = escaped.indexOf('"', quote + 1);
        continue;
      }
      let end = slash;
      while (escaped.charAt(end) === '\\') end += 1;
      const character = characters.get(escaped.charAt(end));
      if (character !== undefined) replace(slash, end + 1, character);
      if (quote === end) quote = escaped.indexOf('"', end + 1);
      slash = escaped.indexOf('\\', end);
    }
    this.text = text + escaped.slice(last);
  }

  /** Returns the offset in the escaped text. */
  escaped(offset: number): number {
    const at = lastUpTo(this.#here, offset);
    return (this.#there[at] ?? 0) + offset - (this.#here[at] ?? 0);
  }

  /** Returns the offset of the character that is, or is part of what is, at an offset of the escaped text. */
  unescaped(offset: number): number {
    const at = lastUpTo(this.#there, offset);
    const next = this.#here[at + 1] ?? Number.POSITIVE_INFINITY;
    return Math.min((this.#here[at] ?? 0) + offset - (this.#there[at] ?? 0), next - 1);
  }
}

/** Returns the index of the last number that is not larger than a limit. */
const lastUpTo = (numbers: readonly number[], limit: number): number => {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
};

/** Returns the start of the backslashes at the end of a text, which may begin an escape. */
const beforeEscape = (text: string): number => {
  let end = text.length;
  while (end > 0 && text.charAt(end - 1) === '\\') end -= 1;
  return end;
};

/** Returns the start of the string around an offset, if it is near; the offset without one. */
const startOfString = (text: string, at: number): number => {
  const floor = Math.max(0, at - maxFirstLine);
  for (let quote = text.lastIndexOf('"', at - 1); quote >= floor; quote = text.lastIndexOf('"', quote - 1)) {
    if (quote + 1 === text.length || opens(text, quote)) return quote + 1;
    if (quote === 0) break;
  }
  return at;
};

/**
 * Creates a finder for secrets in strings of several lines, as in `{"output": "user\tpassword\njoe\t…"}`. It reads them as
 * lines. Used for one text, because it remembers whether there was such a string.
 */
export const escapedLinesFinder = (forms: Finder): Finder => {
  let hasEscapes = false;
  /** Number of characters before the first string that have not left yet. */
  let skipped = 0;
  return (text: string, place: Place): Findings => {
    const known = place.isWhole ? text : text.slice(0, Math.max(place.from, beforeEscape(text)));
    let from = place.from + skipped;
    if (!hasEscapes) {
      const found = known.slice(from).search(escape);
      if (found === -1) {
        return { secrets: [], settled: place.isWhole ? text.length : startOfString(known, known.length), ahead: [] };
      }
      hasEscapes = true;
      from = Math.max(from, startOfString(known, from + found));
    }
    const view = new Unescaped(known);
    const inView = (secret: Secret): Secret => ({
      ...secret,
      start: view.unescaped(secret.start),
      end: view.unescaped(secret.end),
    });
    const inText = (secret: Secret): Secret => ({
      ...secret,
      start: view.escaped(secret.start),
      end: view.escaped(secret.end),
    });
    const found = forms(view.text, {
      ...place,
      from: view.unescaped(from),
      barrier: view.unescaped(place.barrier),
      ahead: place.ahead.map(inView),
    });
    const secrets = found.secrets.map(inText);
    const settled = Math.max(view.escaped(found.settled), secrets.at(-1)?.end ?? place.barrier, place.from);
    skipped = Math.max(0, from - settled);
    return { secrets, settled, ahead: found.ahead.map(inText) };
  };
};
