import { setMaxListeners } from 'node:events';
import { CompactionError } from '../failure.js';

/** Calls back once after a delay in milliseconds; returns the function that cancels it. */
export type After = (delayMs: number, callback: () => void) => () => void;

/** The timers of work, and the signal that aborts it. */
export interface WorkContext {
  readonly after: After;
  readonly signal: AbortSignal;
  /** The time that is left until the deadline of the turn, in milliseconds. No deadline if absent. */
  readonly timeLeft?: (() => number) | undefined;
}

/**
 * Runs work with a deadline: its own, or that of the turn if it is earlier. Work that has not ended by then is aborted
 * and not awaited, whether it handles its signal or not.
 *
 * Errors of the work itself, including timeouts of its provider, are passed on unchanged.
 *
 * @throws CompactionError `timed-out` after the deadline, `cancelled` if the signal was aborted
 */
export const withDeadline = async <Result>(
  timeoutMs: number,
  { after, signal, timeLeft }: WorkContext,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  // One listener per pending question is not a leak.
  setMaxListeners(0, controller.signal);
  const cancel = (): void =>
    controller.abort(new CompactionError('cancelled', 'The turn ended during the compaction of its history.'));
  const leftMs = timeLeft?.() ?? Infinity;
  const source = leftMs < timeoutMs ? 'the time that the turn had left' : 'the option timeoutMs';
  const limitMs = Math.min(timeoutMs, leftMs);
  const stopTimer = after(limitMs, () =>
    controller.abort(
      new CompactionError('timed-out', `The work took longer than ${Math.round(limitMs / 1000)} s, ${source}.`),
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

/** Waits for work, but rejects with the signal's reason when the signal is aborted. */
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
