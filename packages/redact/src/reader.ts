import { is, kindOf } from './characters.js';
import type { KeyStrength } from './key-name.js';
import type { Place } from './replace.js';
import { looksRandom, maxLooked } from './value.js';

const bracket = 93;

/** No detector reports a secret that begins further than this before the character that it was called for. */
export const maxReach = 48;
/** How far back a detector looks for what gives a value its meaning. Streams keep more than this. */
const maxLook = 160;
const minLongRun = 12;
const maxRemembered = 256;

/** The strengths of names that a redactor has met. */
export type Strengths = Map<string, KeyStrength>;

/** What the readers of one redactor share. */
export interface ReaderSettings {
  readonly replacement: string;
  readonly strengths: Strengths;
}
/** Longer than any word that {@link Reader.wordsOnLine} is asked for. */
const maxWord = 24;

/** A word, and where it begins. */
interface WordOnLine {
  readonly at: number;
  readonly word: string;
}

/**
 * Reads a text that may still be growing.
 *
 * Every look at a character goes through this class. A look past the end of an unfinished text sets `starved`: the decision
 * that needed it is discarded and made again when more text has arrived. This is why a stream gives what the whole text
 * gives, however it is cut: detectors need no code for the end of a chunk.
 */
export class Reader {
  /** For looking back only; looks ahead go through the methods. */
  readonly text: string;
  readonly length: number;
  /** What secrets are replaced with. */
  readonly replacement: string;
  /** Whether the current decision looked past the end of an unfinished text. */
  starved = false;
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

  readonly #strengths: Strengths;

  constructor(text: string, { replacement, strengths }: ReaderSettings, { isWhole, isBeginning, barrier }: Place) {
    this.text = text;
    this.length = text.length;
    this.replacement = replacement;
    this.#strengths = strengths;
    this.#isWhole = isWhole;
    this.#isBeginning = isBeginning;
    this.#barrier = barrier;
  }

  /** End of the last secret. Text before it counts as replaced, so that a second pass finds nothing else. */
  get barrier(): number {
    return this.#barrier;
  }

  pass(end: number): void {
    this.#barrier = end;
  }

  /** How far back a detector may look from here. */
  floor(index: number): number {
    return Math.max(this.#barrier, index - maxLook);
  }

  code(index: number): number {
    if (index < this.length) return index < 0 ? Number.NaN : this.text.charCodeAt(index);
    if (!this.#isWhole) this.starved = true;
    return Number.NaN;
  }

  /** The code before this place; that of a bracket where a replacement ends. */
  before(index: number): number {
    if (index > this.#barrier) return this.text.charCodeAt(index - 1);
    return this.#barrier === 0 && this.#isBeginning ? Number.NaN : bracket;
  }

  slice(start: number, end: number): string {
    if (end > this.length && !this.#isWhole) this.starved = true;
    return this.text.slice(start, end);
  }

  /** Whether the text continues with this here. Starves only while it could still become that. */
  matches(literal: string, index: number): boolean {
    if (this.text.startsWith(literal, index)) return true;
    const left = this.length - index;
    if (left < literal.length && left >= 0 && !this.#isWhole && this.text.endsWith(literal.slice(0, left))) {
      this.starved = true;
    }
    return false;
  }

  /** Like {@link Reader.matches} for small ASCII letters, in either case. */
  matchesLetters(letters: string, index: number): boolean {
    for (let offset = 0; offset < letters.length; offset += 1) {
      if ((this.code(index + offset) | 32) !== letters.charCodeAt(offset)) return false;
    }
    return true;
  }

  /** Where the run of characters of these classes (or, with `isOf` false, of none of them) ends, at most `max` further. */
  endOfRun(start: number, bits: number, max: number, isOf = true): number {
    const limit = Math.min(this.length, start + max);
    const name = isOf ? bits : -bits;
    // A run in which many candidates begin is read once.
    this.#runs ??= new Map();
    let run = this.#runs.get(name);
    if (run === undefined) this.#runs.set(name, (run = { start, end: start }));
    if (start < run.start || start >= run.end) {
      run.start = start;
      run.end = start;
    }
    let { end } = run;
    while (end < limit && is(this.text.charCodeAt(end), bits) === isOf) end += 1;
    run.end = end;
    if (end >= this.length && end < start + max && !this.#isWhole) this.starved = true;
    return Math.min(end, limit);
  }

  /** The strength of a name, computed once for the first names that a redactor meets. */
  remember(name: string, compute: (name: string) => KeyStrength): KeyStrength {
    const known = this.#strengths.get(name);
    if (known !== undefined || this.#strengths.has(name)) return known;
    const strength = compute(name);
    if (this.#strengths.size < maxRemembered) this.#strengths.set(name, strength);
    return strength;
  }

  /** Whether 12 letters and digits in a row are somewhere in this part. What has been searched is not searched again. */
  hasLongRun(from: number, to: number): boolean {
    const isContinued = from >= this.#searchedFrom && from <= this.#searchedTo;
    let index = isContinued ? Math.max(from, this.#searchedTo - minLongRun + 1) : from;
    let run = 0;
    while (index < to) {
      run = kindOf(this.text.charCodeAt(index)) === 0 ? 0 : run + 1;
      if (run === minLongRun) return true;
      index += 1;
    }
    if (!isContinued) this.#searchedFrom = from;
    this.#searchedTo = isContinued ? Math.max(to, this.#searchedTo) : to;
    return false;
  }

  /** Whether this part looks random. */
  isRandom(start: number, end: number): boolean {
    return this.hasLongRun(start, Math.min(end, start + maxLooked)) && looksRandom(this.text.slice(start, end));
  }

  /** Where this character next occurs, from here on; the end of the text if it does not. Searched once. */
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
   * The words of a set between the beginning of the line and here, no further back than {@link Reader.floor}, in order.
   * Each character is searched once.
   */
  wordsOnLine(expression: RegExp, index: number): readonly WordOnLine[] {
    const floor = this.floor(index);
    const isContinued = index >= this.#lineTo && floor <= this.#lineTo && this.#lineTo > this.#lineFrom;
    const from = isContinued ? this.#lineTo : floor;
    const lineFeed = this.text.slice(from, index).lastIndexOf('\n') + from;
    const isSameLine = isContinued && lineFeed < from;
    if (!isSameLine) {
      this.#lineFrom = Math.max(floor, lineFeed + 1);
      this.#words = [];
    }
    const start = isSameLine ? Math.max(this.#lineFrom, from - maxWord) : this.#lineFrom;
    const last = this.#words.at(-1)?.at ?? -1;
    for (const match of this.text.slice(start, index).matchAll(expression)) {
      // A match at the cut may be the end of a longer word.
      const isCut = isSameLine && match.index === 0;
      const at = start + match.index;
      if (at > last && !isCut) this.#words.push({ at, word: match[0] });
    }
    this.#lineTo = index;
    return this.#words.filter(({ at }) => at >= floor);
  }

  skipSpaces(from: number, max: number): number {
    let index = from;
    while (index < from + max && (this.code(index) === 32 || this.code(index) === 9)) index += 1;
    return index;
  }
}
