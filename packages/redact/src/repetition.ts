import { lookBehind } from './replace.js';

/** Maximum number of characters that a detector reads ahead. */
const maxRead = 17_000;
const maxPeriod = 512;
/** Number of characters that must occur again. */
const sample = 64;
/** Distance between two searches for a repetition. */
const interval = 8192;

/**
 * Finds ranges in which a text repeats itself, as in `pw:pw:pw:…`. The decision about a character depends on a bounded
 * range around it, so it is the same one period later and is not made again.
 */
export class Repetition {
  readonly #text: string;
  #nextSearch = interval;
  #period = 0;
  #start = 0;
  #end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns the offset, whole periods later, up to which nothing is found: `index` outside of a repetition.
   *
   * @param barrier end of the last secret
   */
  skip(index: number, barrier: number): number {
    if (index >= this.#nextSearch) this.#search(index);
    if (this.#period === 0) return index;
    // One period was decided with the same characters before it.
    const isDecided = index >= Math.max(this.#start, barrier) + lookBehind + this.#period;
    const left = this.#end - maxRead - index;
    return isDecided && left > 0 ? index + left - (left % this.#period) : index;
  }

  #search(index: number): void {
    const text = this.#text;
    const from = Math.max(0, index - sample - maxPeriod);
    const at = text.slice(from, index - 1).lastIndexOf(text.slice(index - sample, index));
    this.#period = at === -1 ? 0 : index - sample - from - at;
    this.#start = from + at;
    this.#end = index;
    if (this.#period > 0) {
      while (this.#end < text.length && text.charCodeAt(this.#end) === text.charCodeAt(this.#end - this.#period)) {
        this.#end += 1;
      }
    }
    this.#nextSearch = Math.max(this.#end, index + interval);
  }
}
