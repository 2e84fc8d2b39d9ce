import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { coalesce } from './coalesce.js';

describe('coalesce', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('answers any number of requests during a run with one more run', async () => {
    let runs = 0;
    const listing = coalesce(async () => {
      runs += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }, 300);
    for (let count = 0; count < 2000; count += 1) listing.request();
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(349);
    expect(runs).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(runs).toBe(2);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([runs, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('runs at most once per interval while requests keep arriving', async () => {
    let runs = 0;
    const listing = coalesce(async () => void (runs += 1), 300);
    for (let count = 0; count < 2000; count += 1) {
      listing.request();
      await vi.advanceTimersByTimeAsync(3);
    }
    expect(runs).toBeLessThanOrEqual(6000 / 300 + 1);
    expect(runs).toBeGreaterThan(15);
  });

  it('runs at once again after a quiet interval', async () => {
    let runs = 0;
    const listing = coalesce(async () => void (runs += 1), 300);
    listing.request();
    await vi.advanceTimersByTimeAsync(300);
    listing.request();
    expect(runs).toBe(2);
  });

  it.each(['before the first run', 'during a run', 'in the interval after it'])(
    'leaves no timer and runs no work after it was stopped %s',
    async (moment) => {
      let runs = 0;
      const listing = coalesce(async () => {
        runs += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }, 300);
      const hasRun = moment !== 'before the first run';
      if (hasRun) listing.request();
      await vi.advanceTimersByTimeAsync(moment === 'during a run' ? 10 : 60);
      if (hasRun) listing.request();
      listing.stop();
      listing.request();
      await vi.advanceTimersByTimeAsync(1000);
      listing.request();
      expect([runs, vi.getTimerCount()]).toEqual([hasRun ? 1 : 0, 0]);
    },
  );
});
