// oxlint-disable-next-line h/no-clock -- see below
import { performance } from 'node:perf_hooks';

/** Milliseconds by a clock that never goes back. Imported, because the global of this name is looked up anew by each use. */
// oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace; durations decide nothing
export const monotonicClock = (): number => performance.now();
