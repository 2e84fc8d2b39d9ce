import { AsyncLocalStorage } from 'node:async_hooks';
import { vi } from 'vitest';

/**
 * Fakes the timers, and counts those that the given work starts.
 *
 * Test files share a process: work that an earlier file left behind may start timers on the same fake clock, which
 * `vi.getTimerCount()` counts. A timer belongs to the work if its async context does.
 */
export interface OwnTimers {
  /** Runs work whose timers are counted. */
  run<Result>(work: () => Result): Result;
  /** Returns how many timers of the work wait to fire. */
  count(): number;
  /** Restores the timers. */
  restore(): void;
}

export const fakeOwnTimers = (now: number): OwnTimers => {
  const inWork = new AsyncLocalStorage<boolean>();
  const own = new Set<unknown>();
  vi.useFakeTimers({ now });
  const { setTimeout, setInterval, clearTimeout, clearInterval } = globalThis;
  const fakes = { setTimeout, setInterval, clearTimeout, clearInterval };
  type Callback = (...values: unknown[]) => void;
  const counted =
    (start: typeof setTimeout | typeof setInterval, isRepeated: boolean) =>
    (callback: Callback, delayMs?: number, ...values: unknown[]) => {
      const isOwn = inWork.getStore() === true;
      // The clock fires timers in the context of the work that advances it; what they start belongs to their own context.
      const timer: unknown = start(() => {
        if (!isRepeated) own.delete(timer);
        inWork.run(isOwn, () => callback(...values));
      }, delayMs);
      if (isOwn) own.add(timer);
      return timer;
    };
  const stopping = (stop: (timer: never) => void) => (timer: unknown) => {
    own.delete(timer);
    stop(timer as never);
  };
  Object.assign(globalThis, {
    setTimeout: counted(setTimeout, false),
    setInterval: counted(setInterval, true),
    clearTimeout: stopping(clearTimeout),
    clearInterval: stopping(clearInterval),
  });
  return {
    run: (work) => inWork.run(true, work),
    count: () => own.size,
    restore: () => {
      if (!vi.isFakeTimers()) return;
      // Vitest deletes a function that is not its fake instead of restoring the original.
      Object.assign(globalThis, fakes);
      vi.useRealTimers();
      // On Node 20 every promise pays for a store that is not disabled.
      inWork.disable();
    },
  };
};
