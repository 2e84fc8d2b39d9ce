import { codeAt } from './characters.js';
import { lookBehind } from './replace.js';

/** Maximum number of characters that a detector reads ahead. */
const maxRead = 17_000;
const maxPeriod = 512;
/** Number of characters that must occur again. */
const sample = 64;
/** Numbers of characters within which the decisions about most repetitions are made. */
const shortReads = [768, 3072];
/** Distances between two searches for a repetition: the first and the longest. */
const firstInterval = 1024;
const interval = 8192;

/** Whether the decisions about a range find nothing and depend on no character from `end` on. */
export type DecidesWithin = (from: number, to: number, end: number) => boolean;

/**
 * Finds ranges in which a text repeats itself, as in `pw:pw:pw:…`. The decision about a character depends on a bounded
 * range around it, so it is the same one period later and is not made again. How far it depends on the text ahead is
 * tried once per repetition.
 */
export class Repetition {
  readonly #text: string;
  #interval = firstInterval;
  #nextSearch = firstInterval;
  #period = 0;
  #start = 0;
  #end = 0;
  /** Number of characters ahead that a decision depends on, once it is known. */
  #read: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /**
   * Returns whether the text repeats itself here and one period was decided with the same characters before it.
   *
   * @param barrier end of the last secret
   */
  isDecided(index: number, barrier: number): boolean {
    if (index >= this.#nextSearch) this.#search(index);
    if (this.#period === 0 || index >= this.#end) return false;
    return index >= Math.max(this.#start, barrier) + lookBehind + this.#period;
  }

  /**
   * Returns the offset, whole periods later, up to which nothing is found.
   *
   * @param decidesWithin is called for one period of a repetition
   */
  skip(index: number, decidesWithin: DecidesWithin): number {
    const next = index + this.#period;
    this.#read ??=
      shortReads.find((read) => next + read < this.#end && decidesWithin(index, next, next + read)) ?? maxRead;
    const left = this.#end - this.#period - this.#read - index;
    return left > 0 ? index + left - (left % this.#period) : index;
  }

  #search(index: number): void {
    const text = this.#text;
    const from = Math.max(0, index - sample - maxPeriod);
    const at = text.slice(from, index - 1).lastIndexOf(text.slice(index - sample, index));
    this.#period = at === -1 ? 0 : index - sample - from - at;
    this.#start = from + at;
    this.#end = index;
    this.#read = undefined;
    if (this.#period > 0) {
      while (this.#end < text.length && codeAt(text, this.#end) === codeAt(text, this.#end - this.#period)) {
        this.#end += 1;
      }
    }
    this.#nextSearch = Math.max(this.#end, index + this.#interval);
    this.#interval = Math.min(interval, this.#interval * 2);
  }
}
