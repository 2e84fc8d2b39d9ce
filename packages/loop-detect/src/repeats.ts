import type { Progress, Sighting } from './sighting.js';
import { Recent } from './recent.js';
import { messages } from './messages.js';
import type { ThresholdsOf } from './thresholds.js';
import type { LoopVerdict } from './verdict.js';

/** What is known of a call. */
interface Known {
  readonly outcome: string;
  /** How often in a row it had this outcome with nothing new in between. */
  readonly streak: number;
  /** How often it was made since something was changed. */
  readonly count: number;
  readonly news: number;
  readonly writes: number;
  readonly batch: number;
}

/** How many different calls are remembered. */
const maxKnown = 512;

/** Calls that are made again: the same input, and perhaps the same outcome. */
export class Repeats {
  readonly #known = new Recent<string, Known>(maxKnown);
  readonly #progress: Progress;
  readonly #thresholds: ThresholdsOf;

  constructor(progress: Progress, thresholds: ThresholdsOf) {
    this.#progress = progress;
    this.#thresholds = thresholds;
  }

  /** The outcome of this call the last time. */
  lastOutcome(key: string): string | undefined {
    return this.#known.get(key)?.outcome;
  }

  judge(key: string, tool: string, isPoll: boolean): LoopVerdict | undefined {
    const known = this.#known.get(key);
    if (known === undefined || known.news !== this.#progress.news) return undefined;
    const detector = isPoll ? 'poll' : 'no-progress';
    if (known.streak + 1 < this.#thresholds(detector, tool).block) return undefined;
    return { level: 'block', detector, message: messages[detector](tool, known.streak), key: `${detector}:${key}` };
  }

  learn(sighting: Sighting): LoopVerdict | undefined {
    const { key, tool, outcome, isPoll, isSame } = sighting;
    const { news, writes, batch } = this.#progress;
    const before = this.#known.get(key);
    const count = before?.writes === writes ? before.count + 1 : 1;
    // Within one batch the model has not seen the first outcome yet: asking twice is no streak.
    const isInBatch = before?.batch === batch;
    const isStreak = before !== undefined && isSame && before.news === news;
    const streak = isStreak ? before.streak + (isInBatch ? 0 : 1) : 1;
    this.#known.set(key, { outcome, streak, count, news, writes, batch });
    const detector = isPoll ? 'poll' : 'no-progress';
    if (streak >= this.#thresholds(detector, tool).warn && !isInBatch) {
      return { level: 'warn', detector, message: messages[detector](tool, streak), key: `${detector}:${key}` };
    }
    if (isPoll || count < this.#thresholds('repeat', tool).warn) return undefined;
    return { level: 'warn', detector: 'repeat', message: messages.repeat(tool, count), key: `repeat:${key}` };
  }

  reset(): void {
    this.#known.clear();
  }
}
