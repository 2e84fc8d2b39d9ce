import type { ErrorInfo, TurnOutcome } from '@h/turn';

/** How a session ended: a result of `reply()` of `@h/turn`, or `turn.end`. */
export interface SessionEnd {
  readonly outcome: TurnOutcome;
  /** The number of model calls that were answered. */
  readonly steps?: number | undefined;
  readonly error?: ErrorInfo | undefined;
}

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Codes of the system and of the network, and the code for a lack of credentials. */
const passingCode = /^(?:E[A-Z_]{3,30}|UND_ERR_[A-Z_]{3,40}|failover-exhausted)$/;
const maxCauses = 5;

/**
 * Whether a session ended because the provider, the network or the disk was unavailable. The task is not the cause, and
 * a later session may succeed.
 *
 * Failures of operators and answers such as "unauthorized" are not outages, because waiting does not resolve them.
 */
export const isOutage = ({ outcome, steps, error }: SessionEnd): boolean => {
  if (isFinal(error)) return false;
  if (outcome === 'error' && error !== undefined && isPassing(error)) return true;
  return steps === 0 && (outcome === 'error' || outcome === 'timed-out' || outcome === 'budget-exceeded');
};

const isFinal = (error: ErrorInfo | undefined): boolean =>
  error?.operator !== undefined ||
  (error?.status !== undefined && error.status >= 400 && error.status < 500 && !passingStatuses.has(error.status));

const isPassing = (error: ErrorInfo): boolean => {
  let cause: ErrorInfo | undefined = error;
  for (let depth = 0; cause !== undefined && depth < maxCauses; depth += 1) {
    const { status = 0, code = '' } = cause;
    if (status >= 500 || passingStatuses.has(status) || passingCode.test(code)) return true;
    cause = cause.cause;
  }
  return false;
};
