import { maxTimerMs } from './values.js';

/** A clock with timers; the schedulers of RxJS are such clocks. */
export interface TimerScheduler {
  /** The time in milliseconds. */
  now(): number;
  schedule(callback: () => void, delayMs: number): { unsubscribe(): void };
}

/** Real time, by a clock that is never set. */
export const realTime: TimerScheduler = {
  // oxlint-disable-next-line h/no-clock -- the limits of real processes and servers
  now: () => performance.now(),
  schedule: (callback, delayMs) => {
    const timer = setTimeout(callback, delayMs);
    return { unsubscribe: () => clearTimeout(timer) };
  },
};

/** How long a late timer waits for input that has arrived. Handling it may take several turns of the event loop. */
const maxExtraMs = 1_000;

/**
 * Calls back once after any number of milliseconds; never after `Infinity`.
 *
 * A process that was suspended or blocked runs its timers before it reads its sockets and pipes, so a time limit would
 * expire although the answer is there. A timer that fires late therefore waits again, as long as it was late, but at
 * most a second.
 *
 * @returns a function that cancels the timer
 */
export const later = (scheduler: TimerScheduler, delayMs: number, callback: () => void): (() => void) => {
  if (delayMs === Infinity) return () => undefined;
  const dueAt = scheduler.now() + Math.max(delayMs, 0);
  const fire = (): void => {
    const lateMs = Math.min(scheduler.now() - dueAt, maxExtraMs);
    if (lateMs > 0) timer = scheduler.schedule(callback, lateMs);
    else callback();
  };
  const wait = (leftMs: number): void => {
    timer =
      leftMs > maxTimerMs
        ? scheduler.schedule(() => wait(leftMs - maxTimerMs), maxTimerMs)
        : scheduler.schedule(fire, leftMs);
  };
  let timer = { unsubscribe: (): void => undefined };
  wait(delayMs);
  return () => timer.unsubscribe();
};
