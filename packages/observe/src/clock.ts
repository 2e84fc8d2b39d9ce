// oxlint-disable-next-line h/no-clock -- see below
import { performance } from 'node:perf_hooks';

/** Returns monotonic milliseconds. The import avoids a lookup of the global `performance` for each call. */
// oxlint-disable-next-line h/no-clock -- the default clock, which callers can replace; durations affect no decision
export const monotonicClock = (): number => performance.now();
