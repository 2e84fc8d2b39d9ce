import { messages } from './messages.js';
import { Recent } from './recent.js';
import type { Progress, Sighting } from './sighting.js';
import type { ThresholdsOf } from './thresholds.js';
import type { LoopVerdict } from './verdict.js';

interface Failing {
  readonly failure: string;
  readonly key: string;
  /** Since the tool last succeeded or something was changed. */
  readonly count: number;
  /** The same, with nothing new from other tools in between. */
  readonly streak: number;
  readonly news: number;
  readonly writes: number;
  readonly batch: number;
}

const maxTools = 64;

/** Tools that fail the same way whatever input they are given. */
export class Churn {
  readonly #failing = new Recent<string, Failing>(maxTools);
  readonly #progress: Progress;
  readonly #thresholds: ThresholdsOf;

  constructor(progress: Progress, thresholds: ThresholdsOf) {
    this.#progress = progress;
    this.#thresholds = thresholds;
  }

  judge(tool: string, isShell: boolean): LoopVerdict | undefined {
    const failing = this.#failing.get(tool);
    // A shell can do anything: that it failed says little of what it is asked for next.
    if (failing === undefined || isShell || failing.news !== this.#progress.news) return undefined;
    if (failing.streak + 1 < this.#thresholds('churn', tool).block) return undefined;
    return { level: 'block', detector: 'churn', message: messages.churn(tool, failing.streak), key: `churn:${tool}` };
  }

  learn({ tool, key, failure, isNews, isDenied }: Sighting): LoopVerdict | undefined {
    if (isNews) this.#failing.delete(tool);
    if (failure === undefined || isDenied) return undefined;
    const { news, writes, batch } = this.#progress;
    const before = this.#failing.get(tool);
    const isMore = before !== undefined && before.failure === failure && before.writes === writes;
    // The calls of one batch are one attempt, and the same input again is another detector's business.
    if (isMore && (before.batch === batch || before.key === key)) return undefined;
    const count = isMore ? before.count + 1 : 1;
    const streak = isMore && before.news === news ? before.streak + 1 : 1;
    this.#failing.set(tool, { failure, key, count, streak, news, writes, batch });
    if (count < this.#thresholds('churn', tool).warn) return undefined;
    return { level: 'warn', detector: 'churn', message: messages.churn(tool, count), key: `churn:${tool}` };
  }

  /** Whether the tool has failed like this before. */
  isKnown(tool: string, failure: string | undefined): boolean {
    return failure !== undefined && this.#failing.get(tool)?.failure === failure;
  }

  reset(): void {
    this.#failing.clear();
  }
}
