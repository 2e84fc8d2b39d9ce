import type { ErrorInfo, ModelDriver, ModelDriverOutput } from '@h/turn';
import { asyncScheduler, from, Observable, Subscription, type SchedulerLike } from 'rxjs';
import { checkOptions, numberFrom, objectWithMethods } from '@h/options';

/** Options of {@link streamTimeouts}. */
export interface StreamTimeoutsOptions {
  /**
   * How long a model may take to say its first word, in milliseconds.
   *
   * @defaultValue `120_000`: large models think for more than a minute over a long history before they say anyValue
   */
  readonly firstByteMs?: number | undefined;
  /**
   * How long it may be silent after that, in milliseconds.
   *
   * @defaultValue `60_000`
   */
  readonly idleMs?: number | undefined;
  /**
   * The clock and the timers.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/**
 * A driver whose calls end when the model falls silent.
 *
 * The connection is closed, and the call ends with the error `first-byte-timeout` or `idle-timeout`, which `failover()` answers
 * like any other that may pass. Each call ends exactly once. It stands around the driver and not in the pipe, because only there
 * is it known when a call really begins: an operator may hold the request for minutes.
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
      let heardAt = scheduler.now();
      let hasBegun = false;
      const end = (output: ModelDriverOutput): void => {
        subscriber.next(output);
        subscriber.complete();
      };
      let timer = Subscription.EMPTY;
      // It looks from time to time how long the silence has been, so that a delta costs no more than reading the clock.
      const watch = (): void => {
        const limit = hasBegun ? idleMs : firstByteMs;
        const left = heardAt + limit - scheduler.now();
        if (left > 0) wait(Math.min(left, idleMs));
        else end({ type: 'error', error: hasBegun ? silent(limit) : mute(limit) });
      };
      const wait = (delayMs: number): void => {
        if (delayMs !== Infinity) timer = scheduler.schedule(watch, Math.min(delayMs, longestTimer));
      };
      wait(Math.min(firstByteMs, idleMs));
      subscriber.add(() => timer.unsubscribe());
      subscriber.add(
        from(driver(request, context)).subscribe({
          next: (output) => {
            if (output.type !== 'delta') {
              end(output);
              return;
            }
            heardAt = scheduler.now();
            hasBegun = true;
            subscriber.next(output);
          },
          error: (error: unknown) => subscriber.error(error),
          complete: () => end({ type: 'error', error: incomplete }),
        }),
      );
    });
};

/** What a timer of Node can hold. */
const longestTimer = 2 ** 31 - 1;

const mute = (limit: number): ErrorInfo => ({
  name: 'TimeoutError',
  code: 'first-byte-timeout',
  message: `The model has said nothing for ${limit} ms.`,
});
const silent = (limit: number): ErrorInfo => ({
  name: 'TimeoutError',
  code: 'idle-timeout',
  message: `The model has said nothing more for ${limit} ms.`,
});
const incomplete: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The stream of the model ended before the answer was complete.',
};
