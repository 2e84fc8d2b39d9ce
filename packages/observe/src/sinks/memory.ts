import { checkOptions, integerFrom } from '@h/options';
import type { Observation } from '../observation.js';
import type { Sink } from './sink.js';

/** Options of {@link memorySink}. */
export interface MemorySinkOptions {
  /**
   * How many observations are kept; the oldest go first.
   *
   * @defaultValue `10_000`, some megabytes
   */
  readonly maxObservations?: number | undefined;
}

/** A sink that keeps observations in memory. */
export interface MemorySink extends Sink {
  /** What is kept, oldest first: a copy. */
  observations(): readonly Observation[];
  /** How many had to go. */
  readonly dropped: number;
  clear(): void;
}

/**
 * Keeps the latest observations in memory, for tests and for a page that shows them.
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
