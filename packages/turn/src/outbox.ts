import { isPromise } from './session-writer.js';
import type { MaybePromise } from './session-store.js';

/**
 * Performs what has left the pipeline in the order in which it left, each once its record is safe.
 *
 * With a store that answers at once nothing is ever queued.
 */
export class Outbox {
  readonly #queue: { ready: boolean; readonly perform: () => void }[] = [];
  readonly #onUnwritten: (error: unknown) => void;
  readonly #onFailed: (error: unknown) => void;

  /**
   * @param onUnwritten a record could not be made safe: nothing that was added so far is performed
   * @param onFailed something could not be performed
   */
  constructor(onUnwritten: (error: unknown) => void, onFailed: (error: unknown) => void) {
    this.#onUnwritten = onUnwritten;
    this.#onFailed = onFailed;
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  add(safe: MaybePromise<void>, perform: () => void): void {
    if (!isPromise(safe)) {
      if (this.isEmpty) perform();
      else this.#queue.push({ ready: true, perform });
      return;
    }
    const item = { ready: false, perform };
    this.#queue.push(item);
    safe.then(
      () => {
        item.ready = true;
        this.#flush();
      },
      (error: unknown) => {
        this.#queue.length = 0;
        this.#onUnwritten(error);
      },
    );
  }

  /** Forgets what was not performed yet. */
  drop(): void {
    this.#queue.length = 0;
  }

  #flush(): void {
    while (this.#queue[0]?.ready === true) {
      try {
        this.#queue.shift()?.perform();
      } catch (error) {
        this.#onFailed(error);
      }
    }
  }
}
