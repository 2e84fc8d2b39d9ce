import type { MaybePromise } from '@h/turn';
import pTimeout from 'p-timeout';
import type { Beginning, Observation } from '../observation.js';

/**
 * Receives observations.
 *
 * Contract:
 * - `observe()` calls `write` once for each observation, in order, during the turn. `write` must return quickly and
 *   limit its buffer. An exception or a rejected promise is reported and does not affect the turn.
 * - The creator owns the sink. It outlives turns, and several `observe()` operators can share it.
 * - `flush` writes buffered observations; `close` flushes and releases the resources of the sink.
 */
export interface Sink {
  /** Name of the sink in error messages. */
  readonly name: string;
  write?(observation: Observation): void;
  /** Called at the subscription to a turn. Tracers implement it to receive beginnings and ends while the turn runs. */
  follow?(): Follower;
  flush?(): MaybePromise<void>;
  close?(): MaybePromise<void>;
}

/** Follows one turn. */
export interface Follower {
  begin(beginning: Beginning): void;
  write(observation: Observation): void;
  /** Called after the last observation of the turn, also if the turn ended without a run event. */
  end?(): void;
}

/**
 * Flushes and closes sinks before the process ends.
 *
 * A sink that fails or times out does not block the others. The promise never rejects.
 *
 * @param timeoutMs maximum time for all sinks, in milliseconds; 5000 by default
 * @returns the errors, with the names of their sinks
 *
 * @example
 * ```ts
 * process.once('SIGTERM', () => void closeSinks(sinks).then(() => process.exit()));
 * ```
 */
export const closeSinks = async (
  sinks: readonly Sink[],
  timeoutMs = 5000,
): Promise<readonly { readonly sink: string; readonly error: unknown }[]> => {
  const failures = await Promise.all(sinks.map((sink) => closeSink(sink, timeoutMs)));
  return failures.flat();
};

const closeSink = async (
  sink: Sink,
  timeoutMs: number,
): Promise<readonly { readonly sink: string; readonly error: unknown }[]> => {
  const closing = async (): Promise<void> => {
    await sink.flush?.();
    await sink.close?.();
  };
  const message = `The sink ${sink.name} was not closed within ${timeoutMs} ms.`;
  try {
    await pTimeout(closing(), { milliseconds: timeoutMs, message });
    return [];
  } catch (error) {
    return [{ sink: sink.name, error }];
  }
};
