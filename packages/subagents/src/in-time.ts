/** Calls back after so many milliseconds; returns how to cancel it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** Whether something was done within so many milliseconds; rejects as it does. */
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
