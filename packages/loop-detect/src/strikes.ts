import { Recent } from './recent.js';
import type { Progress } from './sighting.js';

const maxStrikes = 32;

/** The loops for which calls were refused already. */
export class Strikes {
  readonly #keys = new Recent<string, true>(maxStrikes);
  readonly #progress: Progress;
  readonly #forgiveAfter: number;
  #latest: number | undefined;

  constructor(progress: Progress, forgiveAfter: number) {
    this.#progress = progress;
    this.#forgiveAfter = forgiveAfter;
  }

  add(key: string): void {
    this.#keys.set(key, true);
    this.#latest = this.#progress.news;
  }

  /** Whether the model had its chance: the same loop once more, or another before enough has happened. */
  isOut(key: string): boolean {
    if (this.#keys.get(key) === true) return true;
    return this.#latest !== undefined && this.#progress.news - this.#latest < this.#forgiveAfter;
  }

  reset(): void {
    this.#keys.clear();
    this.#latest = undefined;
  }
}
