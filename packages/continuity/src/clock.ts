/** Tells the time as milliseconds since 1970. */
export type Clock = () => number;

// oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
export const systemClock: Clock = () => Date.now();

export const isoOf = (at: number): string => new Date(at).toISOString();
