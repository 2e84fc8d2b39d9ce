import { messages } from './messages.js';
import type { Progress, Sighting } from './sighting.js';
import type { ThresholdsOf } from './thresholds.js';
import type { LoopVerdict } from './verdict.js';

const longest = 5;

interface Place {
  readonly key: string;
  readonly tool: string;
  readonly outcome: string;
  readonly isPoll: boolean;
}

/** Calls that go round in circles of two to five, with the same outcomes in each round. */
export class Cycles {
  readonly #progress: Progress;
  readonly #thresholds: ThresholdsOf;
  /** The last calls, latest first. */
  #places: readonly Place[] = [];
  /** For each length, how many calls in a row were those of one round before. */
  #runs: readonly number[] = [];
  #batch = -1;
  #inBatch = new Set<string>();

  constructor(progress: Progress, thresholds: ThresholdsOf) {
    this.#progress = progress;
    this.#thresholds = thresholds;
  }

  judge(key: string, tool: string): LoopVerdict | undefined {
    for (let length = 2; length <= longest; length += 1) {
      const expected = this.#places[length - 1];
      if (expected?.key !== key || this.#isUniform(length)) continue;
      const rounds = Math.floor(((this.#runs[length] ?? 0) + 1) / length) + 1;
      if (rounds >= this.#limits(length, tool).block) return this.#verdict('block', length, rounds - 1);
    }
    return undefined;
  }

  learn({ key, tool, outcome, isPoll }: Sighting): LoopVerdict | undefined {
    const { batch } = this.#progress;
    if (batch !== this.#batch) this.#inBatch = new Set();
    this.#batch = batch;
    if (this.#inBatch.has(key)) return undefined;
    this.#inBatch.add(key);
    const places = this.#places;
    this.#runs = Array.from({ length: longest + 1 }, (_, length) => {
      const before = places[length - 1];
      return before?.key === key && before.outcome === outcome ? (this.#runs[length] ?? 0) + 1 : 0;
    });
    this.#places = [{ key, tool, outcome, isPoll }, ...places.slice(0, longest - 1)];
    for (let length = 2; length <= longest; length += 1) {
      const rounds = Math.floor((this.#runs[length] ?? 0) / length) + 1;
      if (rounds >= this.#limits(length, tool).warn && !this.#isUniform(length)) {
        return this.#verdict('warn', length, rounds);
      }
    }
    return undefined;
  }

  reset(): void {
    this.#places = [];
    this.#runs = [];
    this.#inBatch = new Set();
  }

  /** A round of one call over and over is no round. */
  #isUniform(length: number): boolean {
    const [latest] = this.#places;
    return this.#places.slice(0, length).every(({ key }) => key === latest?.key);
  }

  #limits(length: number, tool: string): { readonly warn: number; readonly block: number } {
    const isPoll = this.#places.slice(0, length).some((place) => place.isPoll);
    const own = this.#thresholds('cycle', tool);
    if (!isPoll || own.block === Infinity) return own;
    const poll = this.#thresholds('poll', tool);
    return { warn: Math.max(own.warn, poll.warn), block: Math.max(own.block, poll.block) };
  }

  #verdict(level: 'warn' | 'block', length: number, rounds: number): LoopVerdict {
    const round = this.#places.slice(0, length);
    const names = round.map(({ tool }) => tool).toReversed();
    const key = round
      .map((place) => place.key)
      .toSorted()
      .join();
    return { level, detector: 'cycle', message: messages.cycle(names, rounds), key: `cycle:${key}` };
  }
}
