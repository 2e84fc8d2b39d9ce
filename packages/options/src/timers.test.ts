import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { later, type TimerScheduler } from './timers.js';
import { maxTimerMs } from './values.js';

/** A clock whose process can be suspended: what is due meanwhile happens afterwards, timers before anything else. */
const suspendableClock = () => {
  let time = 0;
  const timers = new Map<() => void, number>();
  const scheduler: TimerScheduler = {
    now: () => time,
    schedule: (callback, delayMs) => {
      expect(delayMs).toBeLessThanOrEqual(maxTimerMs);
      const own = (): void => callback();
      timers.set(own, time + delayMs);
      return { unsubscribe: () => void timers.delete(own) };
    },
  };
  return {
    scheduler,
    get pending() {
      return timers.size;
    },
    /** Runs until a time, at which the process was suspended from the beginning if `isSuspended`. */
    runUntil: (end: number, isSuspended = false) => {
      if (isSuspended) time = end;
      for (;;) {
        const [next] = [...timers].filter(([, at]) => at <= end).toSorted(([, one], [, other]) => one - other);
        if (next === undefined) break;
        time = Math.max(time, next[1]);
        timers.delete(next[0]);
        next[0]();
        // Input is read between two rounds of timers.
        if (isSuspended) break;
      }
      time = end;
    },
  };
};

describe('later()', () => {
  it('calls back at any time exactly once', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 5 * maxTimerMs, noNaN: true }), (delayMs) => {
        const clock = suspendableClock();
        let calls = 0;
        later(clock.scheduler, delayMs, () => (calls += 1));
        clock.runUntil(delayMs - 1);
        expect(calls).toBe(0);
        clock.runUntil(delayMs + 1);
        expect(calls).toBe(1);
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it('handles input that arrived while the process was suspended before the time limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e9 }), (limitMs, lateMs) => {
        const clock = suspendableClock();
        const happened: string[] = [];
        const cancel = later(clock.scheduler, limitMs, () => happened.push('expired'));
        clock.runUntil(limitMs + lateMs, true);
        happened.push('answered');
        cancel();
        clock.runUntil(limitMs + lateMs + 1e6);
        expect(happened).toEqual(['answered']);
        expect(clock.pending).toBe(0);
      }),
    );
  });

  it('calls back soon after a suspension if no input has arrived', () => {
    const clock = suspendableClock();
    let calls = 0;
    later(clock.scheduler, 100, () => (calls += 1));
    clock.runUntil(100_000, true);
    clock.runUntil(101_000);
    expect(calls).toBe(1);
    expect(clock.pending).toBe(0);
  });

  it('calls back at once for a delay in the past, and never for Infinity', () => {
    const clock = suspendableClock();
    const calls: number[] = [];
    for (const delayMs of [-5, 0, Infinity]) later(clock.scheduler, delayMs, () => calls.push(delayMs));
    clock.runUntil(0);
    expect(calls).toEqual([-5, 0]);
    expect(clock.pending).toBe(0);
  });
});
