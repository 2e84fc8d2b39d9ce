import { isPromise, type MaybePromise } from '@h/turn';
import { anyFunction, checkOptions, checkValue, integerFrom } from '@h/options';
import type { Observation } from '../observation.js';
import type { Sink } from './sink.js';

/** Options of {@link callbackSink}. */
export interface CallbackSinkOptions {
  /**
   * The maximum number of pending calls of an asynchronous callback. Further observations are dropped and counted.
   *
   * @defaultValue `1000`, about a megabyte
   */
  readonly maxPending?: number | undefined;
  /**
   * Receives the errors of the callback.
   *
   * @defaultValue none: a thrown error is reported as an error of the sink, a rejection is ignored
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** A sink that passes observations to a function. */
export interface CallbackSink extends Sink {
  /** The number of observations that were dropped because `maxPending` calls were pending. */
  readonly dropped: number;
}

/**
 * Creates a sink that passes each observation to a function.
 *
 * The turn does not wait for a promise that the function returns; `flush` waits for all pending calls.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * observe({ sinks: [callbackSink((observation) => console.log(observation.type))] });
 * ```
 */
export const callbackSink = (
  callback: (observation: Observation) => MaybePromise<void>,
  options: CallbackSinkOptions = {},
): CallbackSink => {
  checkValue('callbackSink()', 'callback', callback, anyFunction);
  checkOptions('callbackSink()', options, { maxPending: integerFrom(1, Infinity), onError: anyFunction });
  const { maxPending = 1000, onError } = options;
  const pending = new Set<PromiseLike<void>>();
  let dropped = 0;
  const failed = (error: unknown): void => {
    if (onError === undefined) return;
    try {
      onError(error);
    } catch {
      // An error handler that throws must not cause further errors.
    }
  };
  return {
    name: 'callback',
    write: (observation) => {
      if (pending.size >= maxPending) {
        dropped += 1;
        return;
      }
      let result: MaybePromise<void>;
      try {
        result = callback(observation);
      } catch (error) {
        if (onError === undefined) throw error;
        failed(error);
        return;
      }
      if (!isPromise(result)) return;
      const promise = result;
      pending.add(promise);
      const done = (): void => void pending.delete(promise);
      promise.then(done, (error: unknown) => {
        done();
        failed(error);
      });
    },
    flush: async () => {
      await Promise.allSettled(pending);
    },
    get dropped() {
      return dropped;
    },
  };
};
