import type { SchedulerLike } from 'rxjs';
import type { Callbacks } from './callbacks.js';
import { Alarm } from './clock.js';
import type { Pause } from './contract.js';
import type { Holder } from './holder.js';
import type { Keeper } from './keeper.js';
import type { Waiter } from './waiter.js';

/** In milliseconds; short enough that many who were asked before the process died are all asked again soon. */
const lookEveryMs = 250;

/**
 * Finds those who wait for a person while somebody waits for a slot, and has them lend theirs.
 *
 * Nobody says when a person is asked. So whoever has a slot is asked as soon as somebody waits, and from time to time as long as
 * somebody does; else never.
 */
export class Pauses {
  readonly #keeper: Keeper;
  readonly #callbacks: Callbacks;
  readonly #alarm: Alarm;
  #isWatching = false;

  constructor(keeper: Keeper, scheduler: SchedulerLike, callbacks: Callbacks) {
    this.#keeper = keeper;
    this.#callbacks = callbacks;
    this.#alarm = new Alarm(scheduler, () => this.#look());
  }

  /** Somebody waits for a slot, or nobody does any more. */
  watch(isNeeded: boolean): void {
    if (isNeeded === this.#isWatching) return;
    this.#isWatching = isNeeded;
    if (isNeeded) this.#look();
    else this.#alarm.clear();
  }

  #look(): void {
    this.#alarm.setFor(this.#keeper.now() + lookEveryMs);
    const found = [...this.#keeper.holders].filter(canLend);
    for (const holder of found) {
      // Whoever is let in meanwhile may change who has a slot, and there may be nobody left who wants one.
      if (this.#isWatching && canLend(holder) && this.#isPaused(holder.waiter)) this.#keeper.pause(holder);
    }
  }

  #isPaused(waiter: Waiter): boolean {
    const answer: { pause: Pause } = { pause: false };
    this.#callbacks.call(waiter, askWhetherPaused, answer);
    return answer.pause === true;
  }
}

const canLend = ({ isCurrent, slot, stopError }: Holder): boolean => isCurrent && slot === 'held' && !stopError;

/** What it throws is reported when the idle timeout asks; so many times a second would be too often. */
const askWhetherPaused = ({ listener }: Waiter, answer: { pause: Pause }): void => {
  try {
    answer.pause = listener.isPaused?.() ?? false;
  } catch {
    answer.pause = false;
  }
};
