import type { SchedulerLike } from 'rxjs';

/** What a timer of JavaScript can hold, in milliseconds; one that is set to more goes off at once. */
export const longestTimer = 2 ** 31 - 1;

/** Calls back once after so many milliseconds, however many; never with `Infinity`. @returns how to cancel it */
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
