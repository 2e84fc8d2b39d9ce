import type { ErrorInfo, TurnOutcome } from '@h/turn';

/** How a session ended: what `reply` of `@h/turn` gives, or `turn.end`. */
export interface SessionEnd {
  readonly outcome: TurnOutcome;
  /** How many times the model has answered. */
  readonly steps?: number | undefined;
  readonly error?: ErrorInfo | undefined;
}

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Of the system, of the network, or of all credentials at once. */
const passingCode = /^(?:E[A-Z_]{3,30}|UND_ERR_[A-Z_]{3,40}|failover-exhausted)$/;
const maxCauses = 5;

/**
 * Whether a session ended because something that it needs was not there: the provider, the network, room on the disk. Nothing that it
 * worked on is to blame for that, and a later one may fare better.
 *
 * An operator that failed, and an answer such as "unauthorized", stay what they are however long one waits.
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
