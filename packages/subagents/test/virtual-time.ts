import { afterEach, beforeEach, expect, vi } from 'vitest';

/** Time stands still in these tests, and no timer outlives one. */
export const useVirtualTime = (): void => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    const left = vi.getTimerCount();
    vi.useRealTimers();
    expect(left, 'timers are left').toBe(0);
  });
};

/** Lets so much time pass, and all that happens in it happen. */
export const pass = async (ms: number): Promise<void> => {
  await vi.advanceTimersByTimeAsync(ms);
};
