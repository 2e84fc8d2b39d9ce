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
 * Lends the slots of holders that wait for a person while other requests wait for a slot.
 *
 * No event announces the pause, so the holders are polled while a request waits for a slot, and only then.
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

  /** Starts or stops polling. */
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
      // Listeners that are called in between may release slots or withdraw the last waiting request.
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

/** Errors are ignored here and reported by the idle timeout, to avoid one report per poll. */
const askWhetherPaused = ({ listener }: Waiter, answer: { pause: Pause }): void => {
  try {
    answer.pause = listener.isPaused?.() ?? false;
  } catch {
    answer.pause = false;
  }
};
