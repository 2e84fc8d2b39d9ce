import { evidenceOf } from './evidence.js';
import { errorReasons, type ErrorReason, type FailureScope } from './reasons.js';
import { retryAfterOf } from './retry-after.js';
import { verdictOn } from './rules/verdict.js';

/** Why a model call failed, and what that implies. */
export interface ErrorClass {
  readonly reason: ErrorReason;
  /** Whether the same request may succeed later, or with another credential or model. */
  readonly retryable: boolean;
  /** What the failure applies to. */
  readonly scope: FailureScope;
  /** The shortest wait that the provider asks for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** The HTTP status, if the error or its message has one; of a gateway's 5xx that quotes a 4xx, the latter. */
  readonly status?: number | undefined;
  /** What decided, for logs: `code "insufficientquota"`, `message "credit balance is too low"`, `status 402`. */
  readonly evidence?: string | undefined;
}

/** Options of {@link classifyError}. */
export interface ClassifyOptions {
  /**
   * The time, in milliseconds since 1970. Headers that name a date are compared with it.
   *
   * @defaultValue the `date` header of the answer, which a wrong local clock cannot distort, else the local clock
   */
  readonly now?: number | undefined;
}

/**
 * Classifies a failed model call of any provider and SDK by its status, codes, headers, wording and causes.
 *
 * Wording and codes decide before the status, because providers report quotas as 400, 402, 403 and 429, wrong keys as 400,
 * and overload as 429, 503 and 529. JSON inside of JSON is read. Takes time in proportion to the error, with a fixed upper limit.
 *
 * @param error - the plain data of a `model.error`, an error of an SDK or of the network, a body, or a message
 *
 * @example
 * ```ts
 * classifyError({ message: 'Too many tokens, please wait before trying again.', status: 429 });
 * // { reason: 'rate-limit', retryable: true, scope: 'model', status: 429, evidence: 'status 429' }
 * ```
 */
export const classifyError = (error: unknown, { now }: ClassifyOptions = {}): ErrorClass => {
  const evidence = evidenceOf(error);
  const verdict = verdictOn(evidence);
  const defaults = errorReasons[verdict.reason];
  const retryAfterMs = retryAfterOf(evidence, verdict.reason, now);
  return {
    reason: verdict.reason,
    retryable: verdict.retryable ?? defaults.retryable,
    scope: verdict.scope ?? defaults.scope,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(evidence.status !== undefined && { status: evidence.status }),
    evidence: verdict.evidence,
  };
};

/** Whether an error reports that the request is longer than the context window of the model. */
export const isContextOverflow = (error: unknown): boolean =>
  verdictOn(evidenceOf(error)).reason === 'context-overflow';
