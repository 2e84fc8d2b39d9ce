/** Calls back after a delay in milliseconds; returns a function that cancels it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** Returns whether work completes within a time limit in milliseconds; rejects as the work does. */
export const inTime = async (work: PromiseLike<unknown>, limitMs: number, after: After): Promise<boolean> => {
  let stopTimer: (() => void) | undefined;
  const tooLate = new Promise<false>((resolve) => {
    stopTimer = after(limitMs, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    stopTimer?.();
  }
};
