import type { Beginning, Observation } from './observation.js';
import type { Outlet } from './outlet.js';
import type { Writable } from './writable.js';

/** Numbers the observations of one turn. What is replayed gets its number, and is not told again. */
export interface RunLog {
  /** Whether what happens is live. */
  readonly isLive: boolean;
  readonly turn: string;
  /** When the event happened that is being looked at. */
  readonly time: number;
  /** Records the current step and time of the turn. */
  at(turn: string, time: number, isLive: boolean): void;
  /** The number of the next observation. */
  next(): number;
  /** Tells it, unless it is a replay. */
  say(observation: Observation): void;
  /** Whether sinks want to know of beginnings: else none need be made. */
  readonly follows: boolean;
  /** @param evenReplayed whether it lasts from before a crash until after it */
  begin(beginning: Beginning, evenReplayed?: boolean): void;
}

export const createRunLog = (outlet: Outlet): RunLog => {
  let seq = 0;
  const log: Writable<RunLog> = {
    isLive: false,
    turn: '',
    time: 0,
    at: (turn, time, isLive) => {
      log.turn = turn;
      log.time = time;
      log.isLive = isLive;
    },
    next: () => {
      seq += 1;
      return seq - 1;
    },
    say: (observation) => {
      if (log.isLive) outlet.write(observation);
    },
    follows: outlet.follows,
    begin: (beginning, evenReplayed = false) => {
      if (log.isLive || evenReplayed) outlet.begin(beginning);
    },
  };
  return log;
};
