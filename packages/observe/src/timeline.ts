import type { TurnEvent } from '@h/turn';

/** The time within a turn. */
export interface Timeline {
  /** Milliseconds since the turn began, by a clock that never goes back. */
  readonly at: (event: TurnEvent) => number;
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
    liveSince ??= clock();
    return replayedMs + (clock() - liveSince);
  };
  return {
    now,
    at: (event) => {
      if (event.replayed !== true || liveSince !== undefined) return now();
      first ??= event.at;
      replayedMs = Math.max(replayedMs, event.at - first);
      return replayedMs;
    },
  };
};
