import type { DescribedCall } from '../reading/call.js';
import type { LimitsOf } from '../options.js';
import { messages, type LoopVerdict } from '../verdict.js';

/** Maximum number of calls in a cycle; the breaker detects longer ones. */
const longestCycle = 6;
const noRuns: readonly number[] = Array.from({ length: longestCycle + 1 }, () => 0);

/** A call, and whether its outcome reports something that is running. */
interface CycledCall {
  readonly call: DescribedCall;
  readonly isRunning: boolean;
}

/** Detects cycles of two to six calls with the same outcomes in each round. */
export class Cycles {
  readonly #limits: LimitsOf;
  /**
   * The last calls, latest first, and per cycle length the number of calls in a row that repeated the previous round.
   */
  #calls: readonly CycledCall[] = [];
  #runs: readonly number[] = noRuns;

  constructor(limits: LimitsOf) {
    this.#limits = limits;
  }

  fork(): Cycles {
    const fork = new Cycles(this.#limits);
    fork.#calls = this.#calls;
    fork.#runs = this.#runs;
    return fork;
  }

  judge(key: string, tool: string): LoopVerdict | undefined {
    for (let length = 2; length <= longestCycle; length += 1) {
      if (this.#calls[length - 1]?.call.key !== key || this.#isUniform(length)) continue;
      const rounds = Math.floor(((this.#runs[length] ?? 0) + 1) / length) + 1;
      if (rounds >= this.#limitsOf(length, tool).block) return this.#verdict('block', length, rounds - 1);
    }
    return undefined;
  }

  /** Records the first call with its key in a batch. */
  record(call: DescribedCall, isSame: boolean, isRunning: boolean): LoopVerdict | undefined {
    const { key, tool } = call;
    const calls = this.#calls;
    if (!isSame) {
      this.#runs = noRuns;
    } else {
      this.#runs = noRuns.map((_, length) => (calls[length - 1]?.call.key === key ? (this.#runs[length] ?? 0) + 1 : 0));
    }
    this.#calls = [{ call, isRunning }, ...calls.slice(0, longestCycle - 1)];
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
    return this.#calls.slice(0, length).every(({ call }) => call.key === this.#calls[0]?.call.key);
  }

  #limitsOf(length: number, tool: string): { readonly warn: number; readonly block: number } {
    const own = this.#limits('cycle', tool);
    const round = this.#calls.slice(0, length);
    if (own.block === Infinity || !round.some(({ call, isRunning }) => isRunning || call.isPoll)) return own;
    const poll = this.#limits('poll', tool);
    return { warn: Math.max(own.warn, poll.warn), block: Math.max(own.block, poll.block) };
  }

  #verdict(level: 'warn' | 'block', length: number, rounds: number): LoopVerdict {
    const round = this.#calls.slice(0, length);
    const tools = round.map(({ call }) => call.tool).toReversed();
    const keys = round.map(({ call }) => call.key).toSorted();
    return { level, detector: 'cycle', message: messages.cycle(tools, rounds), key: `cycle:${keys.join()}` };
  }

  reset(): void {
    this.#calls = [];
    this.#runs = noRuns;
  }
}

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
