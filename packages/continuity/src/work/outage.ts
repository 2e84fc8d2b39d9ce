import type { ErrorInfo, TurnOutcome } from '@h/turn';

/** How a session ended: a result of `reply()` of `@h/turn`, or `turn.end`. */
export interface SessionEnd {
  readonly outcome: TurnOutcome;
  /** The number of model calls that were answered. */
  readonly steps?: number | undefined;
  readonly error?: ErrorInfo | undefined;
}

const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);
/** Codes of the system and of the network, and the code for a lack of credentials. Other codes of Node are mistakes. */
const passingCode =
  /^(?:E(?!RR_)[A-Z_]{3,30}|ERR_(?:HTTP2|SOCKET|SSL|STREAM|TLS)_[A-Z_]{3,40}|UND_ERR_[A-Z_]{3,40}|failover-exhausted)$/;
/** Codes of a wrong path, a missing program or a missing permission. Waiting changes none of them. */
const lastingCode = /^(?:E2BIG|EACCES|EBADF|EINVAL|EISDIR|ELOOP|ENAMETOOLONG|ENOENT|ENOEXEC|ENOTDIR|ERR_INVALID_.+)$/;
/** Errors of a program that would fail again. `fetch` of Node throws a `TypeError`, whose cause has a code. */
const mistakes: ReadonlySet<string> = new Set(['InvalidOptionError', 'RangeError', 'ReferenceError', 'TypeError']);
const maxCauses = 5;

/**
 * Whether a session ended because the provider, the network or the disk was unavailable. The task is not the cause, and
 * a later session may succeed.
 *
 * Failures of operators, mistakes in programs and options, and answers such as "unauthorized" are not outages, because
 * waiting does not resolve them.
 */
export const isOutage = ({ outcome, steps, error }: SessionEnd): boolean => {
  if (isFinal(error)) return false;
  if (outcome === 'error' && error !== undefined) {
    if (isPassing(error)) return true;
    if (causesOf(error).some(({ code = '', name }) => lastingCode.test(code) || mistakes.has(name))) return false;
  }
  return steps === 0 && (outcome === 'error' || outcome === 'timed-out' || outcome === 'budget-exceeded');
};

const isFinal = (error: ErrorInfo | undefined): boolean =>
  error?.operator !== undefined ||
  (error?.status !== undefined && error.status >= 400 && error.status < 500 && !passingStatuses.has(error.status));

const isPassing = (error: ErrorInfo): boolean =>
  causesOf(error).some(
    ({ status = 0, code = '' }) =>
      status >= 500 || passingStatuses.has(status) || (passingCode.test(code) && !lastingCode.test(code)),
  );

/** The error and its causes, outermost first. */
const causesOf = (error: ErrorInfo): readonly ErrorInfo[] => {
  const causes: ErrorInfo[] = [];
  let cause: ErrorInfo | undefined = error;
  for (; cause !== undefined && causes.length < maxCauses; cause = cause.cause) causes.push(cause);
  return causes;
};
