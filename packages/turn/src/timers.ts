import { maxTimerMs } from '@h/options';
import type { SchedulerLike } from 'rxjs';

/**
 * Calls back once after any number of milliseconds; never after `Infinity`. @returns a function that cancels the
 * timer
 */
export const later = (scheduler: SchedulerLike, delayMs: number, callback: () => void): (() => void) => {
  if (delayMs === Infinity) return () => undefined;
  if (!(delayMs > maxTimerMs)) {
    const timer = scheduler.schedule(callback, delayMs);
    return () => timer.unsubscribe();
  }
  let cancel = (): void => undefined;
  const timer = scheduler.schedule(() => {
    cancel = later(scheduler, delayMs - maxTimerMs, callback);
  }, maxTimerMs);
  return () => {
    timer.unsubscribe();
    cancel();
  };
};

/**
 * Like {@link later}, but a suspension of the process, or work that blocks it, uses half of the delay at most: Node runs
 * the timers that expired meanwhile before it handles what arrived meanwhile. @returns a function that cancels the timer
 */
export const afterGrace = (scheduler: SchedulerLike, graceMs: number, callback: () => void): (() => void) => {
  const firstMs = Math.ceil(graceMs / 2);
  let cancel = later(scheduler, firstMs, () => {
    cancel = later(scheduler, graceMs - firstMs, callback);
  });
  return () => cancel();
};
