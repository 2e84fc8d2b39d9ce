import type { Beginning, Observation } from './observation.js';
import type { Outlet } from './outlet.js';
import type { Writable } from './writable.js';

/** Numbers the observations of one turn and writes them while the turn is live. */
export interface RunLog {
  /** Whether the turn is live, rather than replayed from a journal. */
  readonly isLive: boolean;
  readonly turn: string;
  /** Time of the current event, in milliseconds since 1970. */
  readonly time: number;
  /** Sets the turn and the time of the current event. */
  at(turn: string, time: number): void;
  /** Makes the turn live. */
  start(): void;
  /** Returns the number of the next observation. Replayed observations are numbered as well. */
  next(): number;
  /** Writes an observation if the turn is live. */
  emit(observation: Observation): void;
  /** Whether writing is suspended. */
  isMuted: boolean;
  /** Whether any sink receives beginnings; otherwise the caller can skip their creation. */
  readonly follows: boolean;
  /** Passes a beginning to the sinks if the turn is live. */
  begin(beginning: Beginning): void;
}

export const createRunLog = (outlet: Outlet): RunLog => {
  let seq = 0;
  const log: Writable<RunLog> = {
    isLive: false,
    isMuted: false,
    turn: '',
    time: 0,
    at: (turn, time) => {
      log.turn = turn;
      log.time = time;
    },
    start: () => {
      log.isLive = true;
    },
    next: () => {
      seq += 1;
      return seq - 1;
    },
    emit: (observation) => {
      if (log.isLive && !log.isMuted) outlet.write(observation);
    },
    follows: outlet.follows,
    begin: (beginning) => {
      if (log.isLive && !log.isMuted) outlet.begin(beginning);
    },
  };
  return log;
};
