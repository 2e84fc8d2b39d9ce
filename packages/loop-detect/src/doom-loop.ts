import { messages } from './messages.js';
import type { LoopVerdict } from './verdict.js';

/** Counts calls in a row with the same name and input, whatever they return. */
export class DoomLoop {
  readonly #threshold: number;
  #key = '';
  #run = 0;

  constructor(threshold: number) {
    this.#threshold = threshold;
  }

  judge(key: string, tool: string): LoopVerdict | undefined {
    if (key !== this.#key || this.#run + 1 < this.#threshold) return undefined;
    return {
      level: 'block',
      detector: 'doom-loop',
      message: messages['doom-loop'](tool, this.#run),
      key: `doom-loop:${key}`,
    };
  }

  learn(key: string): void {
    this.#run = key === this.#key ? this.#run + 1 : 1;
    this.#key = key;
  }

  reset(): void {
    this.#key = '';
    this.#run = 0;
  }
}
