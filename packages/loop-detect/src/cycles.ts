import type { DescribedCall } from './call.js';
import type { LimitsOf } from './options.js';
import type { RunCounts } from './progress.js';
import { Recent } from './recent.js';
import { messages, type LoopVerdict } from './verdict.js';

/** Maximum number of calls in a cycle; the breaker detects longer ones. */
const longestCycle = 5;
/** Maximum number of distinct calls stored per batch. */
const maxKeys = 512;

interface CycleCall {
  readonly key: string;
  readonly call: DescribedCall;
}

/** Detects cycles of two to five calls with the same outcomes in each round. */
export class Cycles {
  readonly #counts: RunCounts;
  readonly #limits: LimitsOf;
  /**
   * The last calls, latest first, and per cycle length the number of calls in a row that repeated the previous round.
   */
  #calls: readonly CycleCall[] = [];
  #runs: readonly number[] = [];
  #batch = -1;
  /** The keys of the calls of this batch. */
  #keys = new Recent<string, true>(maxKeys);

  constructor(counts: RunCounts, limits: LimitsOf) {
    this.#counts = counts;
    this.#limits = limits;
  }

  fork(counts: RunCounts): Cycles {
    const fork = new Cycles(counts, this.#limits);
    fork.#calls = this.#calls;
    fork.#runs = this.#runs;
    fork.#batch = this.#batch;
    fork.#keys = this.#keys.fork();
    return fork;
  }

  judge(key: string, tool: string): LoopVerdict | undefined {
    for (let length = 2; length <= longestCycle; length += 1) {
      if (this.#calls[length - 1]?.key !== key || this.#isUniform(length)) continue;
      const rounds = Math.floor(((this.#runs[length] ?? 0) + 1) / length) + 1;
      if (rounds >= this.#limitsOf(length, tool).block) return this.#verdict('block', length, rounds - 1);
    }
    return undefined;
  }

  record(call: DescribedCall, isSame: boolean): LoopVerdict | undefined {
    const { key, tool } = call;
    if (this.#counts.batch !== this.#batch) this.#keys.clear();
    this.#batch = this.#counts.batch;
    if (this.#keys.get(key) === true) return undefined;
    this.#keys.set(key, true);
    const calls = this.#calls;
    if (!isSame) {
      this.#runs = noRuns;
    } else {
      this.#runs = noRuns.map((_, length) => (calls[length - 1]?.key === key ? (this.#runs[length] ?? 0) + 1 : 0));
    }
    this.#calls = [{ key, call }, ...calls.slice(0, longestCycle - 1)];
    if (!isSame) return undefined;
    for (let length = 2; length <= longestCycle; length += 1) {
      const run = this.#runs[length] ?? 0;
      if (run < length || this.#isUniform(length)) continue;
      const rounds = Math.floor(run / length) + 1;
      if (rounds >= this.#limitsOf(length, tool).warn) return this.#verdict('warn', length, rounds);
    }
    return undefined;
  }

  /** Whether the round consists of one repeated call, which is a repeat and not a cycle. */
  #isUniform(length: number): boolean {
    return this.#calls.slice(0, length).every(({ key }) => key === this.#calls[0]?.key);
  }

  #limitsOf(length: number, tool: string): { readonly warn: number; readonly block: number } {
    const own = this.#limits('cycle', tool);
    if (own.block === Infinity || !this.#calls.slice(0, length).some(({ call }) => call.isPoll)) return own;
    const poll = this.#limits('poll', tool);
    return { warn: Math.max(own.warn, poll.warn), block: Math.max(own.block, poll.block) };
  }

  #verdict(level: 'warn' | 'block', length: number, rounds: number): LoopVerdict {
    const round = this.#calls.slice(0, length);
    const tools = round.map(({ call }) => call.tool).toReversed();
    const keys = round.map(({ key }) => key).toSorted();
    return { level, detector: 'cycle', message: messages.cycle(tools, rounds), key: `cycle:${keys.join()}` };
  }

  reset(): void {
    this.#calls = [];
    this.#runs = noRuns;
    this.#keys.clear();
  }
}

const noRuns: readonly number[] = Array.from({ length: longestCycle + 1 }, () => 0);

/** Counts steps in a row that request the same calls, in any order. */
export class RepeatedSteps {
  readonly #max: number;
  #signature = '';
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  record(keys: readonly string[]): LoopVerdict | undefined {
    if (this.#max === Infinity) return undefined;
    const signature = keys.toSorted().join('\n');
    this.#count = signature !== '' && signature === this.#signature ? this.#count + 1 : 1;
    this.#signature = signature;
    const isWarning = this.#count === this.#max - 1 && this.#count > 1;
    if (signature === '' || (this.#count < this.#max && !isWarning)) return undefined;
    return {
      level: isWarning ? 'warn' : 'break',
      detector: 'repeated-steps',
      message: `The same calls were requested ${this.#count} times in a row. Try another approach.`,
      key: 'repeated-steps',
    };
  }

  reset(): void {
    this.#signature = '';
    this.#count = 0;
  }
}
