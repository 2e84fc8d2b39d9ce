import { messages } from './messages.js';
import type { Progress, Sighting } from './sighting.js';
import type { ThresholdsOf } from './thresholds.js';
import type { LoopVerdict } from './verdict.js';

/** Counts batches in a row that brought nothing new, of whatever kind their calls were. */
export class Breaker {
  readonly #progress: Progress;
  readonly #thresholds: ThresholdsOf;
  #idle = 0;
  /** The last batch that counted, and the last that did not need to. */
  #idleBatch = -1;
  #newsBatch = -1;

  constructor(progress: Progress, thresholds: ThresholdsOf) {
    this.#progress = progress;
    this.#thresholds = thresholds;
  }

  learn({ tool, isNews }: Sighting, isIdle: boolean): LoopVerdict | undefined {
    const { batch } = this.#progress;
    if (isNews) {
      this.#idle = 0;
      this.#newsBatch = batch;
    }
    if (!isIdle || batch === this.#newsBatch || batch === this.#idleBatch) return undefined;
    this.#idleBatch = batch;
    this.#idle += 1;
    const limits = this.#thresholds('breaker', tool);
    const level = this.#idle >= limits.break ? 'break' : this.#idle >= limits.warn ? 'warn' : undefined;
    return level && { level, detector: 'breaker', message: messages.breaker(this.#idle), key: 'breaker' };
  }

  reset(): void {
    this.#idle = 0;
  }
}
