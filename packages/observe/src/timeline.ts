/** The time within a turn, in milliseconds since it began. */
export interface Timeline {
  /** Returns the time of an event of the past, from its wall-clock time, or of a live event, from the clock. */
  readonly at: (wallTime: number) => number;
  /** Returns the current time. */
  readonly now: () => number;
  /** Begins to measure: later times come from the clock. */
  readonly start: () => void;
}

/**
 * Measures the time within a turn by a monotonic clock.
 *
 * The past of a resumed turn has only wall-clock times. The time between a crash and the resume is not counted.
 */
export const createTimeline = (clock: () => number): Timeline => {
  let first: number | undefined;
  let pastMs = 0;
  let liveSince: number | undefined;
  const start = (): void => {
    liveSince ??= clock();
  };
  const now = (): number => (liveSince === undefined ? pastMs : pastMs + (clock() - liveSince));
  return {
    start,
    now,
    at: (wallTime) => {
      if (liveSince !== undefined) return now();
      first ??= wallTime;
      pastMs = Math.max(pastMs, wallTime - first);
      return pastMs;
    },
  };
};
