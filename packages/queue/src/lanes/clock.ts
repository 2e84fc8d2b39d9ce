import { later } from '@h/options';
import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** Timers of the system, and a monotonic clock that stops while the machine is suspended. */
export const monotonicScheduler: SchedulerLike = {
  // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};

/** A timer that fires at the earliest of its times. */
export class Alarm {
  readonly #scheduler: SchedulerLike;
  readonly #ring: () => void;
  #at = Infinity;
  #stopTimer: (() => void) | undefined;

  constructor(scheduler: SchedulerLike, ring: () => void) {
    this.#scheduler = scheduler;
    this.#ring = ring;
  }

  /** Fires at this time or earlier. */
  setFor(at: number): void {
    if (at >= this.#at) return;
    this.clear();
    this.#at = at;
    this.#stopTimer = later(this.#scheduler, at - this.#scheduler.now(), () => {
      this.clear();
      this.#ring();
    });
  }

  clear(): void {
    this.#stopTimer?.();
    this.#stopTimer = undefined;
    this.#at = Infinity;
  }
}
