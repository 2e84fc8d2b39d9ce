import { is, token } from './characters.js';
import type { Place } from './finder.js';

const bracket = 93;
const slash = 47;
const dot = 46;

/** No prefix of a token has its anchor further from its beginning. */
export const maxReach = 12;

/** A text, or as much of it as is there, while it is gone through. */
export class Reader {
  readonly text: string;
  /** Whether nothing follows. */
  readonly isWhole: boolean;
  /** What stands in the place of secrets. */
  readonly replacement: string;
  /** Where something waits for more text, if anything does: nothing from there on is decided. */
  pendingFrom: number | undefined;
  /** End of the last secret. What stands before is as good as replaced, so that a second time nothing else is found. */
  #barrier: number;
  readonly #isBeginning: boolean;
  #runStart = 0;
  #runEnd = 0;
  #runBits = 0;

  constructor(text: string, replacement: string, { isWhole, isBeginning, barrier }: Place) {
    this.text = text;
    this.replacement = replacement;
    this.isWhole = isWhole;
    this.#isBeginning = isBeginning;
    this.#barrier = barrier;
  }

  get barrier(): number {
    return this.#barrier;
  }

  passed(end: number): void {
    this.#barrier = end;
  }

  /** The code before this place; that of a bracket where a replacement ends there. */
  before(index: number): number {
    if (index > this.#barrier) return this.text.charCodeAt(index - 1);
    return this.#barrier === 0 && this.#isBeginning ? Number.NaN : bracket;
  }

  /** Whether what comes after may change what stands before `end`; then nothing from `from` on is decided. */
  waits(end: number, from: number): boolean {
    if (this.isWhole || end < this.text.length) return false;
    this.pendingFrom = from;
    return true;
  }

  /**
   * Where the run of characters ends that goes on at `start`, at most `max` further.
   *
   * @param bits the classes that the characters have, or that they have not, where `isOf` is false
   */
  endOfRun(start: number, bits: number, max: number, isOf = true): number {
    const { text } = this;
    const limit = Math.min(text.length, start + max);
    const known = isOf ? bits : -bits;
    // A run with many beginnings in it is gone through once.
    const isKnown = known === this.#runBits && start >= this.#runStart && start < this.#runEnd;
    let end = isKnown ? this.#runEnd : start;
    while (end < limit && is(text.charCodeAt(end), bits) === isOf) end += 1;
    if (!isKnown) {
      this.#runBits = known;
      this.#runStart = start;
    }
    this.#runEnd = end;
    return Math.min(end, limit);
  }

  /** How far back an anchor that is still to come could reach. */
  firstUnsettled(): number {
    const { text } = this;
    const floor = Math.max(this.#barrier, text.length - maxReach);
    let index = text.length;
    while (index > floor) {
      const code = text.charCodeAt(index - 1);
      if (!is(code, token) && code !== dot && code !== slash) break;
      index -= 1;
    }
    return index;
  }
}
