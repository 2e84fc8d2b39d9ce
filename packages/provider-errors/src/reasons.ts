/** Why a model call failed. */
export type ErrorReason =
  | 'rate-limit'
  | 'overloaded'
  | 'quota'
  | 'auth'
  | 'auth-permanent'
  | 'context-overflow'
  | 'invalid-request'
  | 'not-found'
  | 'content-filter'
  | 'timeout'
  | 'network'
  | 'server-error'
  | 'empty-response'
  | 'aborted'
  | 'unknown';

/**
 * What a failure applies to: a credential with all its models, one model with this credential, a model with any
 * credential, or this request alone.
 */
export type FailureScope = 'profile' | 'model' | 'service' | 'request';

/** What a reason implies when the error itself says nothing more exact. */
export interface ReasonDefaults {
  readonly scope: FailureScope;
  /** Whether the same request may succeed later, or with another credential or model. */
  readonly retryable: boolean;
}

/** The defaults of every reason. Its keys are the list of reasons. */
export const errorReasons: Readonly<Record<ErrorReason, ReasonDefaults>> = {
  'rate-limit': { scope: 'model', retryable: true },
  overloaded: { scope: 'service', retryable: true },
  quota: { scope: 'profile', retryable: true },
  auth: { scope: 'profile', retryable: true },
  'auth-permanent': { scope: 'profile', retryable: false },
  'context-overflow': { scope: 'request', retryable: false },
  'invalid-request': { scope: 'request', retryable: false },
  'not-found': { scope: 'model', retryable: false },
  'content-filter': { scope: 'request', retryable: false },
  timeout: { scope: 'service', retryable: true },
  network: { scope: 'service', retryable: true },
  'server-error': { scope: 'service', retryable: true },
  'empty-response': { scope: 'service', retryable: true },
  aborted: { scope: 'request', retryable: false },
  unknown: { scope: 'service', retryable: true },
};
