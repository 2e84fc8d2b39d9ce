// oxlint-disable-next-line h/no-clock -- see below
import { performance } from 'node:perf_hooks';

/** Monotonic milliseconds. Imported, because each use of the global `performance` looks it up again. */
// oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace; durations decide nothing
export const monotonicClock = (): number => performance.now();
