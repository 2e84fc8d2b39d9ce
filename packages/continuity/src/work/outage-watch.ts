import { maxTimerMs } from '@h/options';
import { defaultIfEmpty, firstValueFrom, fromEvent, merge, take, timer, type SchedulerLike } from 'rxjs';
import type { ErrorInfo } from '@h/turn';
import type { WorkSettings } from './work-options.js';

const longestPauseMs = 900_000;
/** Waits for the end of an outage. It adds up its pauses instead of reading a clock, which may jump. */
export const outageWatch = ({ outagePauseMs, maxOutageMs, onOutage, scheduler, signal }: WorkSettings) => {
  let waitedMs = 0;
  let nextMs = outagePauseMs;
  return {
    isTooLong: () => waitedMs >= maxOutageMs,
    isOver: () => {
      waitedMs = 0;
      nextMs = outagePauseMs;
    },
    pause: async (error: ErrorInfo | undefined): Promise<void> => {
      const pauseMs = Math.min(nextMs, maxOutageMs - waitedMs, maxTimerMs);
      onOutage?.({ pauseMs, waitedMs, error });
      await pause(pauseMs, scheduler, signal);
      waitedMs += pauseMs;
      nextMs = Math.min(nextMs * 2, Math.max(longestPauseMs, outagePauseMs));
    },
  };
};

/** Waits N milliseconds, or until the signal is aborted. */
export const pause = async (
  ms: number,
  scheduler: SchedulerLike,
  signal: AbortSignal | undefined,
): Promise<unknown> => {
  if (signal?.aborted === true) return undefined;
  const over = timer(ms, scheduler);
  return firstValueFrom(
    (signal === undefined ? over : merge(over, fromEvent(signal, 'abort'))).pipe(take(1), defaultIfEmpty(undefined)),
  );
};
