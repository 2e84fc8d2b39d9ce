/** Measures the time within a turn, in milliseconds since the turn began. */
export interface Timeline {
  /** Returns the time of an event: from its wall-clock time before `start()`, from the clock afterwards. */
  readonly at: (wallTime: number) => number;
  /** Returns the current time. */
  readonly now: () => number;
  /** Switches to the clock, for all later times. */
  readonly start: () => void;
}

/**
 * Creates a timeline that measures the time within a turn with a monotonic clock.
 *
 * Replayed events of a resumed turn have only wall-clock times. The time between the crash and the resume is excluded.
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
