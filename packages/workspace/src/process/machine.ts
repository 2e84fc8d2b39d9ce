import { randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- names of processes and containers have to be new on this machine; nothing decides on them

/** A name that no other process or container on this machine has. */
export const freshId = (): string => randomUUID();

/** Milliseconds on a clock that nobody can set. */
export const monotonicMs = (): number =>
  // oxlint-disable-next-line h/no-clock -- how long a real process ran can only be measured
  performance.now();

/** Milliseconds since 1970, for names that people read. */
export const wallClock = (): number =>
  // oxlint-disable-next-line h/no-clock -- used outside of turns, where no event says what time it is
  Date.now();
