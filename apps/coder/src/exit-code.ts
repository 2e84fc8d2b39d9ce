import type { TurnOutcome } from '@h/turn';

/** The exit code of the process for each way in which a turn can end. `2` is for wrong usage. */
export const exitCodes: Readonly<Record<TurnOutcome, number>> = {
  completed: 0,
  replied: 0,
  error: 1,
  'max-steps': 3,
  'budget-exceeded': 4,
  'loop-detected': 5,
  blocked: 6,
  // As `timeout` of GNU and shells have it.
  'timed-out': 124,
  cancelled: 130,
};

/** The exit code for wrong usage. */
export const usageExitCode = 2;

/** What ends the process from outside, with the exit codes that shells give them; SIGPIPE is an output that nobody reads. */
export const signalExitCodes = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129, SIGPIPE: 141 } as const;

export type EndSignal = keyof typeof signalExitCodes;
