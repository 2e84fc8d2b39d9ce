import type { SchedulerLike } from 'rxjs';

/** The longest delay of a JavaScript timer, in milliseconds; a longer one fires at once. */
export const longestTimer = 2 ** 31 - 1;

/**
 * Calls back once after any number of milliseconds; never after `Infinity`. @returns a function that cancels the
 * timer
 */
export const later = (scheduler: SchedulerLike, delayMs: number, callback: () => void): (() => void) => {
  if (delayMs === Infinity) return () => undefined;
  if (!(delayMs > longestTimer)) {
    const timer = scheduler.schedule(callback, delayMs);
    return () => timer.unsubscribe();
  }
  let cancel = (): void => undefined;
  const timer = scheduler.schedule(() => {
    cancel = later(scheduler, delayMs - longestTimer, callback);
  }, longestTimer);
  return () => {
    timer.unsubscribe();
    cancel();
  };
};
