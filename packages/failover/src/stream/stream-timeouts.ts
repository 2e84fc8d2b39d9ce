import type { ErrorInfo, ModelDriver, ModelDriverOutput } from '@h/turn';
import { asyncScheduler, from, Observable, type SchedulerLike } from 'rxjs';
import { checkOptions, later, numberFrom, objectWithMethods } from '@h/options';

/** Options of {@link streamTimeouts}. */
export interface StreamTimeoutsOptions {
  /**
   * The longest time until the first output of a model, in milliseconds.
   *
   * @defaultValue `120_000`: large models take more than a minute to begin on a long history
   */
  readonly firstByteMs?: number | undefined;
  /**
   * The longest silence after that, in milliseconds.
   *
   * @defaultValue `60_000`, the idle time that nginx and AWS load balancers allow by default
   */
  readonly idleMs?: number | undefined;
  /**
   * Provides the clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/**
 * Wraps a driver so that a call ends when the model stays silent for too long.
 *
 * The connection is closed, and the call ends with the error `first-byte-timeout` or `idle-timeout`, which `failover()`
 * retries. Each call ends exactly once. It wraps the driver and is not an operator, because only the driver knows when
 * a call begins: an operator may hold the request for minutes.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * harness({ model: streamTimeouts(languageModel({ resolve }), { idleMs: 30_000 }) });
 * ```
 */
export const streamTimeouts = (driver: ModelDriver, options: StreamTimeoutsOptions = {}): ModelDriver => {
  checkOptions('streamTimeouts()', options, {
    firstByteMs: numberFrom(0, Infinity),
    idleMs: numberFrom(0, Infinity),
    scheduler: objectWithMethods('schedule', 'now'),
  });
  const { firstByteMs = 120_000, idleMs = 60_000, scheduler = asyncScheduler } = options;
  return (request, context) =>
    new Observable<ModelDriverOutput>((subscriber) => {
      let latestAt = scheduler.now();
      let hasBegun = false;
      const end = (output: ModelDriverOutput): void => {
        subscriber.next(output);
        subscriber.complete();
      };
      let stopTimer = (): void => undefined;
      // The timer checks the length of the silence, so that a delta costs no more than reading the clock.
      const watch = (): void => {
        const limit = hasBegun ? idleMs : firstByteMs;
        const now = scheduler.now();
        // The silence is measured again if the clock was set back; it would last longer by as much.
        latestAt = Math.min(latestAt, now);
        const left = latestAt + limit - now;
        if (left > 0) wait(Math.min(left, idleMs));
        else end({ type: 'error', error: hasBegun ? stalled(limit) : noOutput(limit) });
      };
      const wait = (delayMs: number): void => {
        stopTimer = later(scheduler, delayMs, watch);
      };
      wait(Math.min(firstByteMs, idleMs));
      subscriber.add(() => stopTimer());
      subscriber.add(
        from(driver(request, context)).subscribe({
          next: (output) => {
            // The turn rejects an output that is not an object.
            if ((output as ModelDriverOutput | null)?.type !== 'delta') {
              end(output);
              return;
            }
            latestAt = scheduler.now();
            hasBegun = true;
            subscriber.next(output);
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => end({ type: 'error', error: incomplete }),
        }),
      );
    });
};

const noOutput = (limit: number): ErrorInfo => ({
  name: 'TimeoutError',
  code: 'first-byte-timeout',
  message: `The model produced no output within ${limit} ms.`,
});
const stalled = (limit: number): ErrorInfo => ({
  name: 'TimeoutError',
  code: 'idle-timeout',
  message: `The model produced no further output for ${limit} ms.`,
});
const incomplete: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The stream of the model ended before the answer was complete.',
};
