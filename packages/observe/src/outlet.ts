import { isPromise } from '@h/turn';
import type { Beginning, Observation } from './observation.js';
import type { Follower, Sink } from './sinks/sink.js';

/** Number of consecutive failures that disables a sink for the rest of the turn. */
const maxFailures = 10;

/** Writes the observations of one turn to all sinks. */
export interface Outlet {
  /** Whether any sink receives beginnings. */
  readonly follows: boolean;
  begin(beginning: Beginning): void;
  write(observation: Observation): void;
  /** Ends the turn for all sinks. */
  end(): void;
}

/** The state of a sink in one turn. */
interface Branch {
  readonly sink: Sink;
  readonly follower: Follower | undefined;
  failures: number;
  wasReported: boolean;
}

/**
 * Creates an outlet that writes the observations of one turn to all sinks and isolates the turn from their failures.
 *
 * @param onError called on the first failure of a sink, and when it is disabled
 */
export const createOutlet = (sinks: readonly Sink[], onError: (error: unknown, sink: string) => void): Outlet => {
  const report = (cause: unknown, { name }: Sink): void => {
    try {
      const reported: unknown = onError(cause, name);
      if (isPromise(reported)) void Promise.allSettled([reported]);
    } catch {
      // An error handler that throws must not cause further errors.
    }
  };
  const failed = (branch: Branch, error: unknown): void => {
    branch.failures += 1;
    if (!branch.wasReported || branch.failures === maxFailures) report(error, branch.sink);
    branch.wasReported = true;
  };
  const succeeded = (branch: Branch): void => {
    if (branch.failures < maxFailures) branch.failures = 0;
  };
  const settle = (branch: Branch, result: unknown): void => {
    if (isPromise(result)) {
      result.then(
        () => succeeded(branch),
        (error: unknown) => failed(branch, error),
      );
    } else succeeded(branch);
  };
  const attempt = (branch: Branch, work: () => unknown): void => {
    if (branch.failures >= maxFailures) return;
    try {
      settle(branch, work());
    } catch (error) {
      failed(branch, error);
    }
  };
  /** Like `attempt`, but allocates no function for each observation. */
  const give = (branch: Branch, taker: Taker, observation: Observation): void => {
    if (branch.failures >= maxFailures) return;
    try {
      settle(branch, taker.write(observation));
    } catch (error) {
      failed(branch, error);
    }
  };
  const branches = sinks.map((sink): Branch => {
    try {
      return { sink, follower: sink.follow?.(), failures: 0, wasReported: false };
    } catch (error) {
      report(error, sink);
      return { sink, follower: undefined, failures: 0, wasReported: true };
    }
  });
  return {
    follows: branches.some(({ follower }) => follower !== undefined),
    begin: (beginning) => {
      for (const branch of branches) {
        const { follower } = branch;
        if (follower !== undefined) attempt(branch, () => follower.begin(beginning));
      }
    },
    end: () => {
      for (const branch of branches) attempt(branch, () => branch.follower?.end?.());
    },
    write: (observation) => {
      for (const branch of branches) {
        const { sink, follower } = branch;
        if (canWrite(sink)) give(branch, sink, observation);
        if (follower !== undefined) give(branch, follower, observation);
      }
    },
  };
};

/** A receiver of observations. User code may return a promise although the contract is synchronous. */
interface Taker {
  write(observation: Observation): unknown;
}

const canWrite = (sink: Sink): sink is Sink & Taker => sink.write !== undefined;
