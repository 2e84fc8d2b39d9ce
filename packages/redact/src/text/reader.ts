import { codeAt, is, kindOf } from './characters.js';
import { keyStrength, type KeyStrength } from '../names/key-name.js';
import { PlaceReader } from '../likely/likely-place.js';
import type { Place } from './replace.js';
import { looksRandom, maxLooked } from '../values/value.js';

const bracket = 93;

/** Maximum distance between the start of a secret and the character for which its detector was called. */
export const maxReach = 96;
/** Maximum number of characters that a detector looks back for context. Streams retain more than this. */
const maxLook = 160;
const minLongRun = 12;

/** Settings shared by the readers of one redactor. */
export interface ReaderSettings {
  readonly replacement: string;
}

/** Upper bound of the length of words in {@link Reader.wordsOnLine}. */
const maxWord = 24;

/** A word with its offset. */
interface WordOnLine {
  readonly at: number;
  readonly word: string;
}

/**
 * Reads a text that may still be growing.
 *
 * Detectors read all characters through this class. A read past the end of an unfinished text sets `starved`: the
 * current decision is discarded and repeated when more text has arrived. A stream therefore returns the same result as
 * the whole text for any chunks, without special code in the detectors.
 */
export class Reader {
  /** The text, for looking back only. Looking ahead requires the methods. */
  readonly text: string;
  readonly length: number;
  /** The replacement of secrets. */
  readonly replacement: string;
  /** Whether the current decision has read past the end of an unfinished text. */
  starved = false;
  /** Whether the secrets of a table that begins before are still ahead. */
  hasAhead = false;
  readonly #isWhole: boolean;
  readonly #isBeginning: boolean;
  #barrier: number;
  /** The last run of each class, by the bits of the class. */
  #runs: Map<number, { start: number; end: number }> | undefined;
  #next: Map<string, { readonly from: number; readonly at: number }> | undefined;
  #lineFrom = 0;
  #lineTo = 0;
  #words: WordOnLine[] = [];
  #searchedFrom = 0;
  #searchedTo = 0;
  #table = -1;
  /** End of the next replacement in the text. */
  #replacementEnd = 0;
  #place: PlaceReader | undefined;
  #strengths: Map<string, KeyStrength> | undefined;

  constructor(text: string, { replacement }: ReaderSettings, { isWhole, isBeginning, barrier }: Place) {
    this.text = text;
    this.length = text.length;
    this.replacement = replacement;
    this.#isWhole = isWhole;
    this.#isBeginning = isBeginning;
    this.#barrier = barrier;
  }

  /** What is before values that are scored. */
  get place(): PlaceReader {
    return (this.#place ??= new PlaceReader(this.text, this));
  }

  /** Returns how certain it is that the value of a name is secret. Texts repeat their names, so each is read once. */
  strengthOf(name: string): KeyStrength {
    this.#strengths ??= new Map();
    const known = this.#strengths.get(name);
    if (known !== undefined || this.#strengths.has(name)) return known;
    const strength = keyStrength(name);
    this.#strengths.set(name, strength);
    return strength;
  }

  /** End of the last secret. Text before it counts as replaced, so that a second pass finds nothing else. */
  get barrier(): number {
    return this.#barrier;
  }

  pass(end: number): void {
    this.#barrier = end;
  }

  /** Moves the barrier behind the replacements before an offset, so that a second pass decides like the first one. */
  passReplacements(index: number): void {
    while (index >= this.#replacementEnd) {
      this.#barrier = Math.max(this.#barrier, this.#replacementEnd);
      const next = this.text.indexOf(this.replacement, this.#barrier);
      this.#replacementEnd = next === -1 ? Number.POSITIVE_INFINITY : next + this.replacement.length;
    }
  }

  /** Returns the first offset that a detector may read from here. */
  floor(index: number): number {
    return Math.max(this.#barrier, index - maxLook);
  }

  code(index: number): number {
    if (index >= this.length && !this.#isWhole) this.starved = true;
    return codeAt(this.text, index);
  }

  /** Returns the code before an offset; that of a bracket after a replacement. */
  before(index: number): number {
    if (index > this.#barrier) return codeAt(this.text, index - 1);
    return this.#barrier === 0 && this.#isBeginning ? Number.NaN : bracket;
  }

  slice(start: number, end: number): string {
    if (end > this.length && !this.#isWhole) this.starved = true;
    return this.text.slice(start, end);
  }

  /** Returns whether the text continues with a string. Starves only while the text may still become that string. */
  matches(literal: string, index: number): boolean {
    if (this.text.startsWith(literal, index)) return true;
    const left = this.length - index;
    if (left < literal.length && left >= 0 && !this.#isWhole && this.text.endsWith(literal.slice(0, left))) {
      this.starved = true;
    }
    return false;
  }

  /** Like {@link Reader.matches}, ignoring the case of ASCII letters. `letters` must be in lower case. */
  matchesLetters(letters: string, index: number): boolean {
    for (let offset = 0; offset < letters.length; offset += 1) {
      if ((this.code(index + offset) | 32) !== letters.charCodeAt(offset)) return false;
    }
    return true;
  }

  /**
   * Returns the end of a run of characters of these classes (with `isOf` false, of no such class), at most `max` later.
   */
  endOfRun(start: number, bits: number, max: number, isOf = true): number {
    const limit = Math.min(this.length, start + max);
    const name = isOf ? bits : -bits;
    // A run with many candidates is read once.
    this.#runs ??= new Map();
    let run = this.#runs.get(name);
    if (run === undefined) this.#runs.set(name, (run = { start, end: start }));
    if (start < run.start || start >= run.end) {
      run.start = start;
      run.end = start;
    }
    let { end } = run;
    while (end < limit && is(codeAt(this.text, end), bits) === isOf) end += 1;
    run.end = end;
    if (end >= this.length && end < start + max && !this.#isWhole) this.starved = true;
    return Math.min(end, limit);
  }

  /** Returns whether a range contains 12 consecutive letters and digits. Searches each character once. */
  hasLongRun(from: number, to: number): boolean {
    const isContinued = from >= this.#searchedFrom && from <= this.#searchedTo;
    let index = isContinued ? Math.max(from, this.#searchedTo - minLongRun + 1) : from;
    let run = 0;
    while (index < to) {
      run = kindOf(codeAt(this.text, index)) === 0 ? 0 : run + 1;
      if (run === minLongRun) return true;
      index += 1;
    }
    if (!isContinued) this.#searchedFrom = from;
    this.#searchedTo = isContinued ? Math.max(to, this.#searchedTo) : to;
    return false;
  }

  /** Returns whether the rows after this offset have not been read. */
  isNewTable(rowsStart: number): boolean {
    if (rowsStart === this.#table) return false;
    this.#table = rowsStart;
    return true;
  }

  /** Returns whether a range looks random. */
  isRandom(start: number, end: number): boolean {
    return this.hasLongRun(start, Math.min(end, start + maxLooked)) && looksRandom(this.text.slice(start, end));
  }

  /** Returns the next offset of a character; the end of the text without one. Searches each character once. */
  next(character: string, from: number): number {
    this.#next ??= new Map();
    const known = this.#next.get(character);
    if (known !== undefined && known.from <= from && known.at >= from) return known.at;
    const found = this.text.indexOf(character, from);
    const at = found === -1 ? this.length : found;
    this.#next.set(character, { from, at });
    return at;
  }

  /**
   * Returns the words of a set between the beginning of the line, or the maximum distance, and an offset, in order. A
   * command may have several secrets, so it also counts before the last one. Searches each character once.
   */
  wordsOnLine(expression: RegExp, index: number): readonly WordOnLine[] {
    const floor = Math.max(0, index - maxLook);
    const isContinued = index >= this.#lineTo && floor <= this.#lineTo && this.#lineTo > this.#lineFrom;
    const from = isContinued ? this.#lineTo : floor;
    const lineFeed = this.text.slice(from, index).lastIndexOf('\n') + from;
    const isSameLine = isContinued && lineFeed < from;
    if (!isSameLine) {
      this.#lineFrom = Math.max(floor, lineFeed + 1);
      this.#words = [];
    }
    // The floor never moves back on a line, so earlier words are not needed again.
    while ((this.#words[0]?.at ?? floor) < floor) this.#words.shift();
    if (isSameLine && from === index) return this.#words;
    const start = isSameLine ? Math.max(this.#lineFrom, from - maxWord) : this.#lineFrom;
    const last = this.#words.at(-1)?.at ?? -1;
    const part = this.text.slice(start, index);
    // `matchAll` would copy the expression for each call.
    expression.lastIndex = 0;
    for (let match = expression.exec(part); match !== null; match = expression.exec(part)) {
      // A match at the first offset may be the end of a longer word.
      const isCut = isSameLine && match.index === 0;
      const at = start + match.index;
      if (at > last && at >= floor && !isCut) this.#words.push({ at, word: match[0] });
    }
    this.#lineTo = index;
    return this.#words;
  }

  skipSpaces(from: number, max: number): number {
    let index = from;
    while (index < from + max && (this.code(index) === 32 || this.code(index) === 9)) index += 1;
    return index;
  }
}
