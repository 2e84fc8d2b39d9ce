import { checkOptions, integerFrom } from '@h/options';
import type { Observation } from '../observation.js';
import type { Sink } from './sink.js';

/** Options of {@link memorySink}. */
export interface MemorySinkOptions {
  /**
   * Maximum number of stored observations; the oldest are dropped first.
   *
   * @defaultValue `10_000`, a few megabytes
   */
  readonly maxObservations?: number | undefined;
}

/** A sink that stores observations in memory. */
export interface MemorySink extends Sink {
  /** Returns a copy of the stored observations, oldest first. */
  observations(): readonly Observation[];
  /** Number of dropped observations. */
  readonly dropped: number;
  clear(): void;
}

/**
 * Creates a sink that stores the latest observations in memory, for tests and dashboards.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const memory = memorySink();
 * harness(drivers).pipe(observe({ sinks: [memory] }));
 * memory.observations().filter(({ type }) => type === 'tool.call');
 * ```
 */
export const memorySink = (options: MemorySinkOptions = {}): MemorySink => {
  checkOptions('memorySink()', options, { maxObservations: integerFrom(1, Infinity) });
  const { maxObservations = 10_000 } = options;
  let ring: Observation[] = [];
  let next = 0;
  let dropped = 0;
  return {
    name: 'memory',
    write: (observation) => {
      if (ring.length < maxObservations) {
        ring.push(observation);
        return;
      }
      ring[next] = observation;
      next = (next + 1) % maxObservations;
      dropped += 1;
    },
    observations: () => [...ring.slice(next), ...ring.slice(0, next)],
    get dropped() {
      return dropped;
    },
    clear: () => {
      ring = [];
      next = 0;
      dropped = 0;
    },
  };
};
