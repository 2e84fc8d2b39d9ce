import type { ErrorInfo, JSONObject } from '@h/turn';
import type { DecisionLimits, Exhausted } from './decide.js';
import type { FailoverTarget } from './events.js';
import type { ErrorReason } from '@h/provider-errors';

/** One failed call. */
export interface AttemptRecord extends FailoverTarget {
  readonly attempt: number;
  readonly reason: ErrorReason;
  /** When it failed, in milliseconds since 1970. */
  readonly at: number;
  readonly error: ErrorInfo;
}

/**
 * One error for all attempts: the first cause on top, a record of each attempt in the body, when the first cooldown
 * ends, and the limit that excludes what could still be tried.
 */
export const exhaustedError = (
  records: readonly AttemptRecord[],
  cause: ErrorInfo,
  { availableAt, limit }: Pick<Exhausted, 'availableAt' | 'limit'>,
  limits: DecisionLimits,
): ErrorInfo => {
  const tried =
    records.length === 0
      ? 'no call was made'
      : `${records.length} ${records.length === 1 ? 'call' : 'calls'} failed (${summary(records)})`;
  const later = availableAt === undefined ? '' : `; available again at ${new Date(availableAt).toISOString()}`;
  const limited = limit === undefined ? '' : `; the limit is ${limit} = ${limits[limit]} of failover()`;
  return {
    name: 'FailoverExhaustedError',
    code: 'failover-exhausted',
    message: `${cause.message} [${tried}${later}${limited}]`,
    ...(cause.status !== undefined && { status: cause.status }),
    body: { attempts: records.map(toJson), ...(availableAt !== undefined && { availableAt }) },
    cause,
  };
};

const summary = (records: readonly AttemptRecord[]): string => {
  const counts = new Map<string, number>();
  for (const { model, credential, reason } of records) {
    const target = [model, credential].filter((name) => name !== undefined).join(' with ');
    const line = target === '' ? reason : `${target}: ${reason}`;
    counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} × ${count}`)).join(', ');
};

const toJson = ({ attempt, model, credential, reason, at, error }: AttemptRecord): JSONObject => ({
  attempt,
  ...(model !== undefined && { model }),
  ...(credential !== undefined && { credential }),
  reason,
  at,
  message: error.message.slice(0, 500),
  ...(error.status !== undefined && { status: error.status }),
  ...(error.code !== undefined && { code: error.code }),
});
