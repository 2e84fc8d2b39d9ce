import { afterEach, beforeEach, expect, vi } from 'vitest';

/** Virtual time for tests; no timer outlives a test. */
export const useVirtualTime = (): void => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    const left = vi.getTimerCount();
    vi.useRealTimers();
    expect(left, 'timers are left').toBe(0);
  });
};

/** Advances the time and runs everything that is scheduled in it. */
export const pass = async (ms: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(ms);
};
