import { maxSingle } from './reader.js';
import { lookBehind } from './replace.js';

/** Number of decisions after which a period is searched; also the maximum number of decisions in a period. */
const interval = 64;
/** Minimum number of characters that repeat. */
const minRepeated = 32;

/**
 * Recognizes text that repeats itself, such as `token:token:token:…`.
 *
 * A decision depends on a bounded range of the text. If that range equals the range one period earlier, where nothing
 * was found, nothing is found again. Each period is therefore decided once, and beginnings of secrets take no more time
 * than other text when they are repeated.
 */
export class Repetition {
  readonly #text: string;
  readonly #decisions = new Int32Array(interval);
  #count = 0;
  #period = 0;
  /** The range whose characters equal those one period earlier. */
  #from = 0;
  #to = 0;
  /** The first decision that `#ahead` includes. */
  #since = 0;
  /** Maximum number of characters that a decision read ahead. */
  #ahead = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the offset up to which nothing is found because nothing was found a period earlier. */
  skip(index: number, barrier: number): number {
    if (index >= this.#to) return index;
    const isKnown =
      index - lookBehind >= this.#from &&
      index - this.#period >= this.#since &&
      index - this.#period - lookBehind > barrier;
    return isKnown ? Math.max(index, this.#to - this.#ahead) : index;
  }

  /** Records that nothing was found at an offset. @param reach the end of the ranges that were read */
  add(index: number, reach: number): void {
    if (index < this.#to) {
      this.#ahead = Math.max(this.#ahead, reach - index + maxSingle);
      return;
    }
    this.#decisions[this.#count] = index;
    this.#count += 1;
    if (this.#count < interval) return;
    this.#count = 0;
    this.#search(index);
  }

  /** Compares the text here with the text at earlier decisions, latest first. */
  #search(index: number): void {
    const text = this.#text;
    for (let place = interval - 2; place >= 0; place -= 1) {
      const period = index - (this.#decisions[place] ?? index);
      let to = index;
      while (to < text.length && text.charCodeAt(to) === text.charCodeAt(to - period)) to += 1;
      if (to - index < minRepeated) continue;
      const floor = Math.max(period, index - lookBehind);
      let from = index;
      while (from > floor && text.charCodeAt(from - 1) === text.charCodeAt(from - 1 - period)) from -= 1;
      this.#period = period;
      this.#from = from;
      this.#to = to;
      this.#since = index + 1;
      this.#ahead = 0;
      return;
    }
  }
}
