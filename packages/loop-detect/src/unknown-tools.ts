import { messages } from './messages.js';
import { Recent } from './recent.js';
import type { Progress, Sighting } from './sighting.js';
import type { ThresholdsOf } from './thresholds.js';
import type { LoopVerdict } from './verdict.js';

const maxNames = 64;

/** Calls of tools that do not exist. */
export class UnknownTools {
  /** How often each name was called. */
  readonly #names = new Recent<string, number>(maxNames);
  readonly #progress: Progress;
  readonly #thresholds: ThresholdsOf;
  #streak = 0;
  #batch = -1;

  constructor(progress: Progress, thresholds: ThresholdsOf) {
    this.#progress = progress;
    this.#thresholds = thresholds;
  }

  judge(tool: string): LoopVerdict | undefined {
    const count = this.#names.get(tool);
    if (count === undefined || Math.max(count, this.#streak) + 1 < this.#thresholds('unknown-tool', tool).block) {
      return undefined;
    }
    return {
      level: 'block',
      detector: 'unknown-tool',
      message: messages['unknown-tool'](tool, Math.max(count, this.#streak)),
      key: `unknown-tool:${tool}`,
    };
  }

  learn({ tool, isUnknownTool, isDenied }: Sighting): LoopVerdict | undefined {
    if (isDenied && this.#names.get(tool) === undefined) return undefined;
    if (!isUnknownTool && !isDenied) {
      this.#streak = 0;
      this.#names.delete(tool);
      return undefined;
    }
    const { batch } = this.#progress;
    if (batch !== this.#batch) this.#streak += 1;
    this.#batch = batch;
    const count = (this.#names.get(tool) ?? 0) + 1;
    this.#names.set(tool, count);
    const limits = this.#thresholds('unknown-tool', tool);
    const level =
      this.#streak >= limits.break ? 'break' : Math.max(count, this.#streak) >= limits.warn ? 'warn' : undefined;
    return (
      level && {
        level,
        detector: 'unknown-tool',
        message: messages['unknown-tool'](tool, Math.max(count, this.#streak)),
        key: `unknown-tool:${tool}`,
      }
    );
  }

  reset(): void {
    this.#names.clear();
    this.#streak = 0;
  }
}
