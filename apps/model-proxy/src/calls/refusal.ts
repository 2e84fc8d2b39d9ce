import { CodedError } from '@h/options';

/** Why the proxy answers a request without the provider. */
export type RefusalKind =
  | 'invalid-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'too-large'
  | 'unsupported-encoding'
  | 'no-websocket'
  | 'loop'
  | 'over-budget'
  | 'internal'
  | 'unreachable'
  | 'unavailable'
  | 'timed-out';

/** The status of each kind, and the name of the error in the formats of both providers. */
const kinds: Readonly<Record<RefusalKind, readonly [status: number, anthropic: string, openai: string]>> = {
  'invalid-request': [400, 'invalid_request_error', 'invalid_request_error'],
  unauthorized: [401, 'authentication_error', 'invalid_request_error'],
  forbidden: [403, 'permission_error', 'invalid_request_error'],
  'not-found': [404, 'not_found_error', 'invalid_request_error'],
  'too-large': [413, 'request_too_large', 'invalid_request_error'],
  'unsupported-encoding': [415, 'invalid_request_error', 'invalid_request_error'],
  // Codex then uses HTTP; after another status it repeats the handshake first.
  'no-websocket': [426, 'invalid_request_error', 'invalid_request_error'],
  loop: [400, 'invalid_request_error', 'invalid_request_error'],
  'over-budget': [429, 'rate_limit_error', 'insufficient_quota'],
  internal: [500, 'api_error', 'server_error'],
  unreachable: [502, 'api_error', 'server_error'],
  unavailable: [503, 'overloaded_error', 'server_error'],
  'timed-out': [504, 'timeout_error', 'server_error'],
};

/** The provider whose formats a client speaks. */
export type Provider = 'anthropic' | 'openai';

/** An answer of the proxy itself, in the error format of the provider that the client addressed. */
export class Refusal extends CodedError {
  readonly kind: RefusalKind;
  readonly status: number;
  /** Time after which the request may succeed, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  /** Whether a client may send the same request again. */
  readonly isTransient: boolean;

  constructor(
    kind: RefusalKind,
    message: string,
    {
      retryAfterMs,
      isTransient = kind === 'unreachable' || kind === 'unavailable' || kind === 'timed-out',
    }: { readonly retryAfterMs?: number; readonly isTransient?: boolean } = {},
  ) {
    super(kind, message);
    this.kind = kind;
    this.isTransient = isTransient;
    this.retryAfterMs = retryAfterMs;
    [this.status] = kinds[kind];
  }

  headers(): readonly string[] {
    const seconds = this.retryAfterMs === undefined ? undefined : Math.max(1, Math.ceil(this.retryAfterMs / 1000));
    return [
      'content-type',
      'application/json',
      // The SDKs of both providers obey it; otherwise they repeat every 429 and 5xx.
      'x-should-retry',
      String(this.isTransient),
      ...(seconds === undefined ? [] : ['retry-after', String(seconds)]),
    ];
  }

  body(provider: Provider): string {
    const [, anthropic, openai] = kinds[this.kind];
    return errorText(provider, this.message, { anthropic, openai, code: this.kind.replaceAll('-', '_') });
  }
}

/** Returns the body of an error that another provider reported, in the format of this one. */
export const foreignErrorText = (provider: Provider, status: number, message: string): string => {
  const [, anthropic, openai] = Object.values(kinds).find(([known]) => known === status) ?? kinds.internal;
  return errorText(provider, message, { anthropic, openai, code: null });
};

const errorText = (
  provider: Provider,
  message: string,
  { anthropic, openai, code }: { readonly anthropic: string; readonly openai: string; readonly code: string | null },
): string =>
  JSON.stringify(
    provider === 'anthropic'
      ? { type: 'error', error: { type: anthropic, message } }
      : { error: { message, type: openai, param: null, code } },
  );
