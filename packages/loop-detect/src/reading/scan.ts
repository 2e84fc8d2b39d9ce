import { finishHash } from './canonical.js';
import { figureOf, type Token } from './figures.js';
import { isLabelOfId, isTemporary, shortestIdOfLetters, shortestTemporary, volatileId } from './volatile.js';
import { WordSample } from './word-sample.js';

/** A summary of a text, sufficient to compare two outputs. */
export interface Scan {
  /** Hash of the text with every number, hash and id masked. */
  readonly shape: number;
  /** Hash of the text without what differs from run to run although nothing has changed. */
  readonly exact: number;
  /** Sum of the plain numbers, or of the ratios if there are any; `undefined` if the text has none. */
  readonly level?: number | undefined;
  /** Hash of the beginning, as {@link scanStart} returns it. */
  readonly start: number;
  /** The plain numbers, if there are several and no ratios. */
  readonly numbers?: readonly number[] | undefined;
  /** Whether `level` is the sum of ratios: `12 of 214`, `3/5`, `45%`. */
  readonly isRatio?: boolean | undefined;
  /** Sum of the hashes of its parts in any order, without scores; `undefined` if it was not read in full. */
  readonly bag?: number | undefined;
  /** The smallest hashes of its words, for {@link similarity}. */
  readonly words: readonly number[];
  /** Hashes of its different lines; if they are many, one hash of all of them. */
  readonly lines: readonly number[];
  /** Number of its different lines, if they are many. */
  readonly lineCount?: number | undefined;
}

/** Maximum number of numbers, and of ratios, that are summed. */
const maxNumbers = 12;
/** Maximum number of different lines with one hash each; more lines have one hash together. */
const maxLines = 16;
/** Texts longer than this are read in full at both ends; in the middle only letters count. */
export const maxRead = 8_000;
const [other, letter, digit] = [0, 1, 2] as const;
/** The class of each UTF-16 unit; those beyond ASCII count as letters, apart from arrows, boxes, bars and spinners. */
const classes = new Uint8Array(65_536)
  .fill(letter, 128)
  .fill(other, 0x21_90, 0x22_00)
  .fill(other, 0x25_00, 0x25_a0)
  .fill(other, 0x28_00, 0x29_00);
for (let code = 0; code < 128; code += 1) {
  if (code >= 48 && code <= 57) classes[code] = digit;
  else if ((code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95) classes[code] = letter;
}
const mixed = (hash: number): number => Math.imul(hash ^ (hash >>> 15), 2246822507);
const classOf = (code: number): number => classes[code] as number;
const [dot, colon, dash, blank, quote, equals] = [46, 58, 45, 32, 34, 61];
/** What ends a line; a record in JSON is one too. */
const [lineEnd, opening, closing] = [10, 123, 125];
/** Signs from here on are drawn: bars, boxes and spinners. */
const firstBar = 0x25_00;
const codesOf = (characters: string): ReadonlySet<number> =>
  new Set(Array.from(characters, (character) => character.charCodeAt(0)));
/** Characters of a long text that are hashed in one call. */
const chunk = 2048;
/** What may be between a label and its number. */
const labelGaps = codesOf(' \t:=#"\'\\([');

/**
 * Scans a text once, character by character, and classifies its numbers.
 *
 * Times, durations, process ids, ports, seeds, attempts, addresses, UUIDs and temporary names are volatile and ignored.
 * The time is linear in the length of the text.
 *
 * @param seed a short string that is included in `shape` and `exact`
 */
export const scan = (text: string, seed = ''): Scan => {
  const scanner = new Scanner(text, seed);
  const startEnd = readStart(scanner, text);
  const start = scanner.exact;
  if (text.length <= maxRead) {
    scanner.read(startEnd, text.length);
  } else {
    scanner.read(startEnd, maxRead / 2);
    const end = text.length - maxRead / 2;
    // In chunks: V8 optimizes a function that is called often better than one with a long loop.
    for (let at = maxRead / 2; at < end; at += chunk) scanner.skim(at, Math.min(end, at + chunk));
    scanner.read(text.length - maxRead / 2, text.length);
  }
  return scanner.result(start);
};

/** Units of a text, such as words and signs, that {@link scanStart} reads. */
const startUnits = 16;

/** Hashes the beginning of a text as `exact` does: texts with different hashes are different in `exact`. */
export const scanStart = (text: string, seed = ''): number => {
  const scanner = new Scanner(text, seed);
  readStart(scanner, text);
  return scanner.exact;
};

/** Reads the beginning of a text. @returns where it ends */
const readStart = (scanner: Scanner, text: string): number =>
  scanner.read(0, Math.min(text.length, maxRead / 2), startUnits);

class Scanner {
  readonly #text: string;
  // Signed, so that V8 stores the hashes as integers.
  #shapeHigh = 0xdeadbeef | 0;
  #shapeLow = 0x41c6ce57;
  #valuesHigh = 0x9e3779b9 | 0;
  #valuesLow = 0x85ebca6b | 0;
  readonly #words = new WordSample();
  #bag = 0;
  /** The bag before the current line; `undefined` if its beginning was not read. */
  #lineStart: number | undefined = 0;
  readonly #lines = new Set<number>();
  readonly #numbers: number[] = [];
  #ratios = 0;
  #ratioSum = 0;
  /** The last word without digits, which may be the label of the next number. */
  #labelStart = 0;
  #labelEnd = -1;
  /** Whether the last character was a space. */
  #isBlank = false;

  constructor(text: string, seed: string) {
    this.#text = text;
    for (let at = 0; at < seed.length; at += 1) this.#feed(seed.charCodeAt(at), 7);
    // The first line has the same hash as in any other place.
    this.#lineStart = this.#bag;
  }

  /** @param maxUnits how many units are hashed at most. @returns the end of the last one */
  read(from: number, to: number, maxUnits = Infinity): number {
    const text = this.#text;
    let at = from;
    let isBlank = this.#isBlank;
    let units = 0;
    while (at < to && units < maxUnits) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === other) {
        at += 1;
        if (code === blank || code === 9 || code === 13 || code >= firstBar) {
          if (!isBlank) {
            this.#mix(blank, blank);
            units += 1;
          }
          isBlank = true;
          continue;
        }
        isBlank = false;
        if (code === opening) this.#endLine();
        // The length of a line of equal signs says how far something is.
        const isRun = at > 2 && code === text.charCodeAt(at - 2) && code === text.charCodeAt(at - 3);
        if (!isRun) {
          this.#feed(code, code);
          units += 1;
        }
        if (code === lineEnd || code === closing) this.#endLine();
        continue;
      }
      isBlank = false;
      at = this.#token(at, to);
      units += 1;
    }
    this.#isBlank = isBlank;
    return at;
  }

  /** Hashes only the letters. */
  skim(from: number, to: number): void {
    const text = this.#text;
    let high = this.#shapeHigh;
    let low = this.#shapeLow;
    for (let at = from; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (classOf(code) !== letter) continue;
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    this.#shapeHigh = high;
    this.#shapeLow = low;
    this.#labelEnd = -1;
    this.#isBlank = false;
    this.#lineStart = undefined;
  }

  /** The bag of the parts of a line identifies it. */
  #endLine(): void {
    const line = this.#lineStart === undefined ? 0 : (this.#bag - this.#lineStart) | 0;
    if (line !== 0) this.#lines.add(line);
    this.#lineStart = this.#bag;
  }

  get #distinctLines(): readonly number[] {
    if (this.#lines.size <= maxLines) return [...this.#lines];
    let sum = 0;
    for (const line of this.#lines) sum = (sum + mixed(line)) | 0;
    return [sum];
  }

  /** Hash of all that was read. */
  get exact(): number {
    return finishHash(this.#shapeHigh ^ this.#valuesHigh, this.#shapeLow ^ this.#valuesLow);
  }

  /** @param start hash of the beginning */
  result(start: number): Scan {
    this.#endLine();
    const hasRatio = this.#ratios > 0;
    const numbers = hasRatio ? [] : this.#numbers;
    return {
      shape: finishHash(this.#shapeHigh, this.#shapeLow),
      exact: this.exact,
      start,
      ...(hasRatio && { level: this.#ratioSum, isRatio: true }),
      ...(numbers.length > 0 && { level: numbers.reduce((sum, number) => sum + number) }),
      ...(numbers.length > 1 && { numbers }),
      ...(this.#text.length <= maxRead && { bag: this.#bag }),
      words: this.#words.hashes,
      lines: this.#distinctLines,
      ...(this.#lines.size > maxLines && { lineCount: this.#lines.size }),
    };
  }

  /** Reads the token that begins here. @returns where it ends */
  #token(start: number, to: number): number {
    const text = this.#text;
    let at = start;
    let hash = 0x811c9dc5 | 0;
    // Most tokens are words.
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      if (classOf(code) !== letter) break;
      hash = Math.imul(hash ^ code, 2654435761);
    }
    let digitGroups = 0;
    let hasLetter = at > start;
    let hasSign = false;
    let before = letter as number;
    for (; at < to; at += 1) {
      const code = text.charCodeAt(at);
      const kind = classOf(code);
      if (kind === other) {
        if (code !== dot && code !== dash && code !== colon) break;
        const next = at + 1 < to ? classOf(text.charCodeAt(at + 1)) : other;
        if (next === other || (code === colon && (before !== digit || next !== digit))) break;
        hasSign = true;
      } else if (kind === letter) hasLetter = true;
      else if (before !== digit) digitGroups += 1;
      before = kind;
      hash = Math.imul(hash ^ code, 2654435761);
    }
    if (digitGroups > 0 || (at - start >= shortestTemporary && isTemporary(text, start, at))) {
      const label = this.#labelBefore(start);
      this.#labelEnd = -1;
      return this.#addFigure({ text, start, end: at, hasLetter, digitGroups, hasSign, label });
    }
    if (this.#isRandomId(start, at)) {
      this.#labelEnd = -1;
      return this.#volatile(at);
    }
    this.#feed(hash, hash);
    if (at - start > 1) this.#words.add((mixed(hash) >>> 12) & 0xfffff);
    this.#labelStart = start;
    this.#labelEnd = at;
    return at;
  }

  /** Adds a token with digits to the summary. @returns its end, including its unit */
  #addFigure(token: Token): number {
    const { kind, end, value = '', number, ratio, isScore } = figureOf(token);
    if (kind === 'volatile') return this.#volatile(end);
    if (number !== undefined) this.#addNumber(number);
    if (ratio !== undefined) this.#addRatio(ratio);
    if (kind === 'name') this.#feedName(value);
    else this.#feed(35, 35);
    this.#hashValue(value, isScore);
    return end;
  }

  /** Hashes the letters of a name, and each run of digits as one sign. */
  #feedName(token: string): void {
    let isRun = false;
    for (const character of token) {
      const isDigit = character >= '0' && character <= '9';
      if (!isDigit || !isRun) this.#feed(isDigit ? 35 : character.charCodeAt(0), 35);
      isRun = isDigit;
    }
  }

  /** Whether a word without digits is a random id by its label. */
  #isRandomId(start: number, end: number): boolean {
    const isShort = end - start < shortestIdOfLetters;
    if (isShort && this.#labelEnd - this.#labelStart !== 2) return false;
    const isLabelled = isLabelOfId(this.#labelBefore(start));
    const before = this.#text.charCodeAt(start - 1);
    const isAfterSign =
      before === quote || before === equals || (before === blank && this.#text.charCodeAt(start - 2) === colon);
    const isValue = !isShort && isAfterSign;
    return (isLabelled || isValue) && volatileId.test(this.#text.slice(Math.max(0, start - 24), start));
  }

  #labelBefore(start: number): string {
    if (this.#labelEnd < 0 || start - this.#labelEnd > 6) return '';
    for (let at = this.#labelEnd; at < start; at += 1) if (!labelGaps.has(this.#text.charCodeAt(at))) return '';
    return this.#text.slice(Math.max(this.#labelStart, this.#labelEnd - 32), this.#labelEnd);
  }

  #volatile(end: number): number {
    this.#feed(126, 126);
    return end;
  }

  #hashValue(token: string, isScore = false): void {
    let hash = 0x811c9dc5 | 0;
    for (let index = 0; index < token.length; index += 1) {
      const code = token.charCodeAt(index);
      this.#valuesHigh = Math.imul(this.#valuesHigh ^ code, 2654435761);
      this.#valuesLow = Math.imul(this.#valuesLow ^ code, 1597334677);
      hash = Math.imul(hash ^ code, 2654435761);
    }
    if (!isScore) this.#bag = (this.#bag + mixed(hash)) | 0;
    this.#valuesHigh = Math.imul(this.#valuesHigh ^ 10, 2654435761);
    this.#valuesLow = Math.imul(this.#valuesLow ^ 10, 1597334677);
  }

  #feed(high: number, low: number): void {
    if (high !== lineEnd) this.#bag = (this.#bag + mixed(high)) | 0;
    this.#mix(high, low);
  }

  #mix(high: number, low: number): void {
    this.#shapeHigh = Math.imul(this.#shapeHigh ^ high, 2654435761);
    this.#shapeLow = Math.imul(this.#shapeLow ^ low, 1597334677);
  }

  #addNumber(value: number): void {
    if (this.#numbers.length < maxNumbers) this.#numbers.push(value);
  }

  #addRatio(value: number): void {
    if (this.#ratios >= maxNumbers) return;
    this.#ratios += 1;
    this.#ratioSum += value;
  }
}
