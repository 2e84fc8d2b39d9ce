import { asyncScheduler, type SchedulerLike } from 'rxjs';

/** The longest that a timer of JavaScript can wait. */
const maxDelayMs = 2 ** 31 - 1;

/** Timers of the system, and a clock that goes neither back nor on while the machine sleeps. */
export const monotonicScheduler: SchedulerLike = {
  // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
  now: () => performance.now(),
  schedule: asyncScheduler.schedule.bind(asyncScheduler),
};

/** One timer that rings at the earliest of the times that it was given. */
export class Alarm {
  readonly #scheduler: SchedulerLike;
  readonly #ring: () => void;
  #at = Infinity;
  #timer: { unsubscribe(): void } | undefined;

  constructor(scheduler: SchedulerLike, ring: () => void) {
    this.#scheduler = scheduler;
    this.#ring = ring;
  }

  /** Rings at this time, unless it rings before. It may ring for nothing. */
  setFor(at: number): void {
    if (at >= this.#at) return;
    this.clear();
    this.#at = at;
    this.#timer = this.#scheduler.schedule(
      () => {
        this.clear();
        this.#ring();
      },
      Math.min(Math.max(0, at - this.#scheduler.now()), maxDelayMs),
    );
  }

  clear(): void {
    this.#timer?.unsubscribe();
    this.#timer = undefined;
    this.#at = Infinity;
  }
}
