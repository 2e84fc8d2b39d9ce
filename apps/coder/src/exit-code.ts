import type { TurnOutcome } from '@h/turn';

/** Exit code for each outcome of a turn. */
export const exitCodes: Readonly<Record<TurnOutcome, number>> = {
  completed: 0,
  replied: 0,
  error: 1,
  'max-steps': 3,
  'budget-exceeded': 4,
  'loop-detected': 5,
  blocked: 6,
  // The exit code of GNU `timeout`.
  'timed-out': 124,
  cancelled: 130,
};

/** Exit code for a usage error. */
export const usageExitCode = 2;

/** Exit codes for signals, as shells report them; SIGPIPE means that the reader closed the output. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;

export type EndSignal = keyof typeof signalExitCodes;
