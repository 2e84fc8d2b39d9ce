import { messages } from './messages.js';
import type { LoopVerdict } from './verdict.js';

/** Counts steps in a row that ask for the same calls, in whatever order. */
export class RepeatedSteps {
  readonly #max: number;
  #signature = '';
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes the calls of the next step. */
  learn(keys: readonly string[]): LoopVerdict | undefined {
    const signature = keys.toSorted().join('\n');
    this.#count = signature !== '' && signature === this.#signature ? this.#count + 1 : 1;
    this.#signature = signature;
    if (signature === '') return undefined;
    const level =
      this.#count >= this.#max ? 'break' : this.#count === this.#max - 1 && this.#count > 1 ? 'warn' : undefined;
    return (
      level && {
        level,
        detector: 'repeated-steps',
        message: messages['repeated-steps'](this.#count),
        key: 'repeated-steps',
      }
    );
  }

  reset(): void {
    this.#signature = '';
    this.#count = 0;
  }
}
