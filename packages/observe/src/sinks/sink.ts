import type { MaybePromise } from '@h/turn';
import type { Beginning, Observation } from '../observation.js';

/**
 * Where observations go.
 *
 * Contract:
 * - `write` is called once for each observation, in order, within the turn: it returns quickly and keeps what it holds
 *   back within bounds. What it throws, or a promise of it that fails, is reported and changes nothing in the turn.
 * - A sink belongs to its creator and outlives turns; one may serve many `observe()`s.
 * - `flush` writes out what is held back, `close` does so for good.
 */
export interface Sink {
  /** For messages about the sink. */
  readonly name: string;
  write?(observation: Observation): void;
  /** Called when a turn is subscribed to, by sinks that follow it while it runs: tracers. */
  follow?(): Follower;
  flush?(): MaybePromise<void>;
  close?(): MaybePromise<void>;
}

/** Follows one turn. */
export interface Follower {
  begin(beginning: Beginning): void;
  write(observation: Observation): void;
  /** Nothing more comes of this turn, whether its end was seen or not. */
  end?(): void;
}

/**
 * Flushes and closes sinks, for the end of a process.
 *
 * One that fails or takes too long does not keep the others from it; the promise is always fulfilled.
 *
 * @param timeoutMs how long to wait for all of them, in milliseconds
 * @returns what went wrong, by the name of the sink
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
  let timer: NodeJS.Timeout | undefined;
  try {
    const closing = (async () => {
      await sink.flush?.();
      await sink.close?.();
    })();
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error(`The sink ${sink.name} was not closed within ${timeoutMs} ms.`)),
        timeoutMs,
      );
    });
    await Promise.race([closing, late]);
    return [];
  } catch (error) {
    return [{ sink: sink.name, error }];
  } finally {
    clearTimeout(timer);
  }
};
