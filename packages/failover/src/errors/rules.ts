import type { FailoverReason, FailureScope } from '../reasons.js';
import type { Evidence } from './evidence.js';

/** What the evidence comes to. */
export interface Verdict {
  readonly reason: FailoverReason;
  /** Where it is another one than the reason usually has. */
  readonly scope?: FailureScope | undefined;
  readonly retryable?: boolean | undefined;
}

/** A verdict, and when it holds: any of the codes, else the text, in each case under one of these statuses. */
interface Rule extends Verdict {
  readonly codes?: readonly string[];
  readonly text?: RegExp;
  readonly status?: (status: number | undefined) => boolean;
  readonly unless?: (evidence: Evidence) => boolean;
}

const any = (): boolean => true;
const none = (status: number | undefined): boolean => status === undefined;
const oneOf =
  (...list: readonly (number | undefined)[]) =>
  (status: number | undefined): boolean =>
    list.includes(status);
const refusal = oneOf(undefined, 400, 401, 403);
const isServer = (status: number | undefined): boolean => status !== undefined && status >= 500;
const mayBeLimit = (status: number | undefined): boolean =>
  status === undefined || status === 403 || status === 413 || status === 429 || status >= 500;
const mayBeRequest = (status: number | undefined): boolean =>
  status === undefined || (status >= 400 && status < 429 && status !== 402) || status === 500;

/**
 * The rules, the more exact ones first.
 *
 * Runs between words are bounded, so that each expression takes time in proportion to the text.
 */
const rules: readonly Rule[] = [
  // What our own drivers say.
  { reason: 'timeout', codes: ['first-byte-timeout', 'idle-timeout'] },
  { reason: 'network', codes: ['incomplete-stream'] },
  { reason: 'server-error', codes: ['model-failed'] },
  { reason: 'auth', codes: ['credential-unavailable'] },
  { reason: 'not-found', codes: ['unknown-model'] },
  {
    reason: 'invalid-request',
    codes: ['unknown-credential', 'invalid-input', 'unsupported-model', 'missing-package', 'invalid-option'],
  },
  { reason: 'empty-response', codes: ['empty-response', 'ai_emptyresponsebodyerror', 'ai_nocontentgeneratederror'] },

  // What was refused for what it says is refused by all.
  {
    reason: 'content-filter',
    codes: [
      'content_filter',
      'content_policy_violation',
      'responsibleaipolicyviolation',
      'prohibited_content',
      'data_inspection_failed',
      'sensitive_words_detected',
    ],
  },
  {
    reason: 'content-filter',
    text: /content (?:management|filter(?:ing)?) policy|content exists risk|input was flagged|prompt was flagged|violat\w{1,8} (?:our |the |openai's )?(?:usage|content) polic/i,
    status: oneOf(undefined, 400, 403, 422, 451),
  },

  // Money, plans and days, which look like rate limits, bad requests and overflows. Google says which in its quota ids.
  { reason: 'quota', scope: 'model', text: /PerDay/, status: oneOf(undefined, 429) },
  { reason: 'rate-limit', text: /PerMinute(?:PerProject)?/, status: oneOf(undefined, 429) },
  {
    reason: 'quota',
    scope: 'model',
    text: /extra usage is required|tokens per day|requests per day|\bTPD\b|\bRPD\b/i,
    status: mayBeLimit,
  },
  {
    reason: 'quota',
    codes: [
      'insufficient_quota',
      'billing_not_active',
      'billing_hard_limit_reached',
      'billing_error',
      'usage_limit_reached',
      'usage_not_included',
      'budget_exceeded',
      'insufficient_credits',
    ],
  },
  {
    reason: 'quota',
    text: /credit balance is too low|insufficient (?:balance|credits?|funds|quota)|requires more credits|more credits are required|can only afford|out of credits|used all available credits|spending limit|have any credits|budget has been exceeded|crossed budget|(?<!not your )usage limits?\b|free-models-per-day|regain access on/i,
  },
  { reason: 'quota', text: /exceeded your current quota/i, unless: ({ times }) => times.has('retrydelay') },
  { reason: 'quota', status: oneOf(402) },

  // Keys that will not work again, and keys that may.
  {
    reason: 'auth-permanent',
    codes: ['account_deactivated', 'access_terminated', 'oauth_org_not_allowed', 'organization_deactivated'],
  },
  {
    reason: 'auth-permanent',
    text: /(?:organization|account|key|token|project)\b[^.\n]{0,60} (?:has been|was|is) (?:disabled|deactivated|revoked|suspended|terminated|deleted|reported as leaked)|oauth authentication is currently not allowed|scope requirement/i,
    status: refusal,
  },
  { reason: 'auth', scope: 'service', codes: ['unsupported_country_region_territory'] },
  {
    reason: 'auth',
    scope: 'model',
    text: /access to the model|model access is denied|not allowed to use publisher model|not (?:have|has) (?:permission|access) [^.\n]{0,40}(?:resource|model)/i,
    status: oneOf(undefined, 400, 401, 403),
  },
  {
    reason: 'auth',
    codes: [
      'invalid_api_key',
      'authentication_error',
      'api_key_invalid',
      'unauthenticated',
      'expiredtoken',
      'expiredtokenexception',
      'unrecognizedclientexception',
      'invalidsignatureexception',
      'auth_error',
      'ai_loadapikeyerror',
    ],
  },
  {
    reason: 'auth',
    text: /incorrect api key|invalid (?:x-)?api[ _-]?key|api[ _-]?key not valid|authentication fail|token (?:has|is) expired|security token included in the request|no auth credentials|provide an api key/i,
    status: refusal,
  },
  { reason: 'auth', status: oneOf(401) },

  // One request that is larger than all that a minute allows will not pass later either; a smaller one does at once.
  {
    reason: 'rate-limit',
    scope: 'request',
    retryable: false,
    text: /request too large[^\n]{0,300}(?:per min|TPM)/i,
    status: mayBeLimit,
  },

  {
    reason: 'overloaded',
    codes: [
      'overloaded_error',
      'overloaded',
      'engine_overloaded',
      'service_tier_capacity_exceeded',
      '3505',
      'modelnotreadyexception',
      'slow_down',
      'server_overloaded',
      'model_at_capacity',
    ],
  },
  {
    reason: 'overloaded',
    text: /overloaded|over capacity|at capacity|capacity exceeded|server busy|high demand|pending requests exceeded|unable to process your request/i,
    status: (status) => status === undefined || status === 408 || status >= 429,
  },
  { reason: 'overloaded', status: oneOf(498, 503, 529) },

  {
    reason: 'rate-limit',
    codes: [
      'rate_limit',
      'rate_limit_exceeded',
      'rate_limit_error',
      'rate_limited',
      'ratelimitexceeded',
      'too_many_requests',
      'throttlingexception',
      'throttling_error',
      'toomanyrequestsexception',
      'resource_exhausted',
    ],
  },
  { reason: 'rate-limit', status: oneOf(429) },
  {
    reason: 'rate-limit',
    text: /rate.?limit|too many requests|too many tokens, please wait|tokens per min|requests per (?:minute|second)|throttl/i,
    status: mayBeLimit,
  },

  // More output than the model can give is a setting; more input than it can read is an overflow.
  { reason: 'context-overflow', text: /max_tokens must be at least 1, got -/i, status: mayBeRequest },
  {
    reason: 'invalid-request',
    text: /maximum allowed number of output tokens|maximum tokens you requested exceeds?|max_(?:completion_)?tokens\W{0,3} is too large|supports at most \d+ completion tokens/i,
    status: mayBeRequest,
  },
  {
    reason: 'context-overflow',
    codes: [
      'context_length_exceeded',
      'context_window_exceeded',
      'model_context_window_exceeded',
      'exceed_context_size_error',
      'contextwindowexceedederror',
      'request_too_large',
      'string_above_max_length',
    ],
  },
  {
    reason: 'context-overflow',
    text: /prompt is too long|input is too long|prompt too long|maximum context length|context[ _](?:window|length|size|limit)[^.\n]{0,60}exceed|exceeds?[^.\n]{0,60}(?:context|maximum number of tokens|maximum input)|reduce the length of (?:the|your)|context (?:the )?overflows|too many (?:input |prompt )?tokens|larger than the context|longer than the (?:model|context)/i,
    status: mayBeRequest,
  },
  { reason: 'context-overflow', status: oneOf(413) },

  // The history speaks of things that another account keeps.
  { reason: 'invalid-request', text: /item with id/i, status: oneOf(400, 404) },
  {
    reason: 'not-found',
    codes: [
      'model_not_found',
      'not_found_error',
      'deploymentnotfound',
      'resourcenotfoundexception',
      'notfounderror',
      'model_not_available',
      'ai_nosuchmodelerror',
    ],
  },
  {
    reason: 'not-found',
    text: /model\b[^.\n]{0,120}(?:does not exist|not found|is not available|is not supported for generate|been (?:deprecated|retired|decommissioned))|no endpoints found|try pulling it first/i,
    status: oneOf(undefined, 400, 403, 404, 410),
  },
  { reason: 'not-found', status: oneOf(404, 410) },

  {
    reason: 'timeout',
    codes: [
      'etimedout',
      'esockettimedout',
      'timeouterror',
      'und_err_connect_timeout',
      'und_err_headers_timeout',
      'und_err_body_timeout',
      'modeltimeoutexception',
      'deadline_exceeded',
      'request_timeout',
      'timeout',
    ],
  },
  { reason: 'timeout', status: oneOf(408, 504, 524) },
  { reason: 'timeout', text: /timed? ?out|deadline exceeded/i, status: none },

  // A gateway's 5xx over somebody else's complaint about the request.
  {
    reason: 'invalid-request',
    text: /unknown (?:parameter|field|name)|unrecognized request argument|unsupported parameter/i,
    status: isServer,
  },
  { reason: 'server-error', retryable: false, text: /requires more system memory/i, status: any },
  {
    reason: 'server-error',
    status: (status) => status === 409 || status === 424 || status === 425 || status === 499 || isServer(status),
  },

  {
    reason: 'network',
    codes: [
      'econnreset',
      'econnrefused',
      'econnaborted',
      'enotfound',
      'eai_again',
      'epipe',
      'ehostunreach',
      'enetunreach',
      'enetdown',
      'eproto',
      'und_err_socket',
      'und_err_info',
      'und_err_closed',
      'und_err_destroyed',
      'err_stream_premature_close',
      'err_http2_stream_error',
      'err_ssl_sslv3_alert_bad_record_mac',
      'err_ssl_decryption_failed_or_bad_record_mac',
      'cert_has_expired',
      'unable_to_verify_leaf_signature',
      'self_signed_cert_in_chain',
      'depth_zero_self_signed_cert',
      'ai_jsonparseerror',
    ],
  },
  {
    reason: 'network',
    text: /fetch failed|socket hang ?up|network error|other side closed|^terminated$|connection (?:error|reset|closed|refused|lost)|cannot connect|premature close|getaddrinfo|bad record mac/im,
    status: none,
  },
  {
    reason: 'server-error',
    codes: [
      'api_error',
      'server_error',
      'internal_server_error',
      'internalserverexception',
      'internal',
      'modelstreamerrorexception',
      'modelerrorexception',
    ],
  },
  {
    reason: 'server-error',
    text: /internal (?:server )?error|server had an error|unexpectedly stopped/i,
    status: none,
  },
  { reason: 'empty-response', text: /empty response|no (?:content|output) (?:was )?generated/i, status: none },

  {
    reason: 'invalid-request',
    codes: [
      'invalid_request_error',
      'invalid_argument',
      'validationexception',
      'badrequesterror',
      'failed_precondition',
      'ai_invalidprompterror',
    ],
    status: (status) => !isServer(status),
  },
  { reason: 'auth', status: oneOf(403, 407) },
  { reason: 'invalid-request', status: (status) => status !== undefined && status >= 400 && status < 500 },
];

/** Says what the evidence comes to; `unknown` where no rule holds. */
export const verdictOn = (evidence: Evidence): Verdict => {
  if (isAborted(evidence)) return { reason: 'aborted' };
  return rules.find((rule) => holds(rule, evidence)) ?? { reason: 'unknown' };
};

/** Somebody gave the call up. A deadline that ended it is told as an abort too, but by its own name. */
const isAborted = ({ status, codes, text }: Evidence): boolean => {
  if (status !== undefined || codes.has('timeouterror')) return codes.has('aborted') && codes.has('aborterror');
  return (
    codes.has('aborted') ||
    codes.has('abort_err') ||
    codes.has('err_canceled') ||
    codes.has('aborterror') ||
    /^(?:this|the)? ?(?:operation|request) was aborted/im.test(text)
  );
};

const holds = ({ codes, text, status = any, unless }: Rule, evidence: Evidence): boolean => {
  if (!status(evidence.status) || unless?.(evidence) === true) return false;
  if (codes === undefined && text === undefined) return true;
  return codes?.some((code) => evidence.codes.has(code)) === true || text?.test(evidence.text) === true;
};
