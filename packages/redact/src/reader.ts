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
const maxRemembered = 64;

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
  #runStart = 0;
  #runEnd = 0;
  #runBits = 0;
  #searchedFrom = 0;
  #searchedTo = 0;

  readonly #strengths = new Map<string, KeyStrength>();

  constructor(text: string, replacement: string, { isWhole, isBeginning, barrier }: Place) {
    this.text = text;
    this.length = text.length;
    this.replacement = replacement;
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
    const known = isOf ? bits : -bits;
    // A run in which many candidates begin is read once.
    const isKnown = known === this.#runBits && start >= this.#runStart && start < this.#runEnd;
    let end = isKnown ? this.#runEnd : start;
    while (end < limit && is(this.text.charCodeAt(end), bits) === isOf) end += 1;
    if (!isKnown) {
      this.#runBits = known;
      this.#runStart = start;
    }
    this.#runEnd = end;
    if (end >= this.length && end < start + max && !this.#isWhole) this.starved = true;
    return Math.min(end, limit);
  }

  /** The strength of a name, computed once for names that the text repeats. */
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

  skipSpaces(from: number, max: number): number {
    let index = from;
    while (index < from + max && (this.code(index) === 32 || this.code(index) === 9)) index += 1;
    return index;
  }
}
