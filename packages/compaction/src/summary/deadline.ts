import { setMaxListeners } from 'node:events';
import { CompactionError } from '../failure.js';

/** Calls back once after so many milliseconds; returns how to cancel it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** Where work takes its time from, and when it is no longer wanted. */
export interface WorkContext {
  readonly after: After;
  readonly signal: AbortSignal;
}

/**
 * Works under a deadline. Work that has not ended by then is aborted and not waited for, whether it heeds its signal or not.
 *
 * An error of the work's own, a timeout of its provider among them, comes out as it is.
 *
 * @throws CompactionError `timed-out` after the deadline, `cancelled` when the work is no longer wanted
 */
export const withDeadline = async <Result>(
  timeoutMs: number,
  { after, signal }: WorkContext,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  // One listener for each question that is under way is no leak.
  setMaxListeners(0, controller.signal);
  const cancel = (): void =>
    controller.abort(new CompactionError('cancelled', 'The turn ended while its history was being made shorter.'));
  const stopTimer = after(timeoutMs, () =>
    controller.abort(
      new CompactionError(
        'timed-out',
        `It took longer than ${Math.round(timeoutMs / 1000)} s, which is the option timeoutMs.`,
      ),
    ),
  );
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await unlessAborted(controller.signal, work(controller.signal));
  } catch (error) {
    throw controller.signal.aborted ? (controller.signal.reason as Error) : error;
  } finally {
    stopTimer();
    signal.removeEventListener('abort', cancel);
    controller.abort();
  }
};

/** Waits for work, but not beyond the abortion of the signal, whose reason it then rejects with. */
export const unlessAborted = async <Result>(signal: AbortSignal, work: PromiseLike<Result>): Promise<Result> => {
  let leave = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason as Error);
  });
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
};

/** Waits, but not beyond the end of the work. */
export const pause = (delayMs: number, { after, signal }: WorkContext): Promise<void> =>
  new Promise((resolve, reject) => {
    const cancel = after(delayMs, () => {
      signal.removeEventListener('abort', fail);
      resolve();
    });
    const fail = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
