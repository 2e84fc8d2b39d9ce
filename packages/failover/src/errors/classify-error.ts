import type { FailoverReason, FailureScope } from '../reasons.js';
import { reasonActions } from '../reasons.js';
import { evidenceOf } from './evidence.js';
import { retryAfterOf } from './retry-after.js';
import { verdictOn } from './rules.js';

/** What a failed model call comes to. */
export interface ErrorClass {
  readonly reason: FailoverReason;
  /** Whether the same request may succeed later, or with another credential or model. */
  readonly retryable: boolean;
  /** What the failure says something about. */
  readonly scope: FailureScope;
  /** How long the provider wants to be left alone, in milliseconds; at least that long. */
  readonly retryAfterMs?: number | undefined;
  /** The HTTP status, where there is one. */
  readonly status?: number | undefined;
}

/** Options of {@link classifyError}. */
export interface ClassifyOptions {
  /**
   * The time, as milliseconds since 1970. Headers that name a time of day are compared with it.
   *
   * @defaultValue the `date` of the provider's answer, which no wrong clock can spoil, else that of the machine
   */
  readonly now?: number | undefined;
}

/**
 * Says why a model call failed, from status, headers, body and causes, of any provider and any SDK.
 *
 * What is said decides before the status: providers send quotas as 400, 402, 403 and 429, wrong keys as 400, and
 * overloads as 429, 503 and 529. JSON inside of JSON is read.
 *
 * @param error - Plain data as in `model.error`, an error of an SDK or of the network, or a body.
 *
 * @example
 * ```ts
 * classifyError({ name: 'Error', message: 'Too many tokens, please wait before trying again.', status: 429 });
 * // { reason: 'rate-limit', retryable: true, scope: 'model', status: 429 }
 * ```
 */
export const classifyError = (error: unknown, { now }: ClassifyOptions = {}): ErrorClass => {
  const evidence = evidenceOf(error);
  const { reason, scope = reasonActions[reason].scope, retryable = isRetryable(reason) } = verdictOn(evidence);
  const retryAfterMs = retryAfterOf(evidence, reason, now);
  return {
    reason,
    retryable,
    scope,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(evidence.status !== undefined && { status: evidence.status }),
  };
};

const isRetryable = (reason: FailoverReason): boolean => {
  const { retry, rotate } = reasonActions[reason];
  return reason !== 'auth-permanent' && reason !== 'not-found' && (retry || rotate);
};
