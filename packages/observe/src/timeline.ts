/** The time within a turn. */
export interface Timeline {
  /** Milliseconds since the turn began, by a clock that never goes back. */
  readonly at: (wallTime: number, isLive: boolean) => number;
  /** The same, without an event. */
  readonly now: () => number;
}

/**
 * The time within a turn: what a replay shows has only times of the wall clock, what is live is measured. The time
 * between a crash and the resume belongs to neither.
 */
export const createTimeline = (clock: () => number): Timeline => {
  let first: number | undefined;
  let replayedMs = 0;
  let liveSince: number | undefined;
  const now = (): number => {
    const time = clock();
    liveSince ??= time;
    return replayedMs + (time - liveSince);
  };
  return {
    now,
    at: (wallTime, isLive) => {
      if (isLive || liveSince !== undefined) return now();
      first ??= wallTime;
      replayedMs = Math.max(replayedMs, wallTime - first);
      return replayedMs;
    },
  };
};
