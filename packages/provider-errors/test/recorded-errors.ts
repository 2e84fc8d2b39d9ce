import type { ErrorClass } from '../src/classify-error.js';

/** An answer as it was reported by users of that provider, and what it comes to. */
export interface RecordedError {
  readonly provider: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** As it came over the wire: JSON, or a text. */
  readonly body: object | string;
  readonly expected: Partial<ErrorClass>;
}

export const json = (body: RecordedError['body']): string => (typeof body === 'string' ? body : JSON.stringify(body));

const anthropic = (type: string, message: string): object => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CcQsAXVBFuxNeCXAGEafH',
});
const openai = (message: string, type: string | null, code: string | number | null): object => ({
  error: { message, type, param: null, code },
});
const google = (code: number, message: string, status: string, details?: readonly object[]): object => ({
  error: { code, message, status, ...(details && { details }) },
});
const quotaFailure = (...quotaIds: readonly string[]): object => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: quotaIds.map((quotaId) => ({
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId,
    quotaDimensions: { location: 'global', model: 'gemini-2.5-flash' },
    quotaValue: '250',
  })),
});
const retryInfo = (retryDelay: string): object => ({ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay });
const mistral = (message: string, type: string, code: string | null): object => ({
  object: 'error',
  message,
  type,
  param: null,
  code,
});
const bedrock = (type: string): Readonly<Record<string, string>> => ({
  'x-amzn-errortype': `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
  'x-amzn-requestid': 'ca47a5ce-e260-4824-aa0e-2e62669d5d6e',
});
const googlePlan =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';
const date = 'Sat, 21 Nov 2026 12:00:00 GMT';

export const recordedErrors: readonly RecordedError[] = [
  // Anthropic
  {
    provider: 'Anthropic',
    status: 429,
    headers: { 'retry-after': '12' },
    body: anthropic(
      'rate_limit_error',
      'This request would exceed the rate limit for your organization (0dccdde6-f924-4f1b-bb3b-92ef846e0a5b) of 20,000 input tokens per minute. For details, refer to: https://docs.anthropic.com/en/api/rate-limits. You can see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later.',
    ),
    expected: { reason: 'rate-limit', scope: 'model', retryable: true, retryAfterMs: 12_000 },
  },
  {
    provider: 'Anthropic',
    status: 429,
    headers: {
      date,
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': '2026-11-21T12:00:01Z',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-21T12:00:42Z',
    },
    body: anthropic('rate_limit_error', "This request would exceed your account's rate limit. Please try again later."),
    expected: { reason: 'rate-limit', retryAfterMs: 42_000 },
  },
  {
    provider: 'Anthropic',
    status: 429,
    headers: {
      date,
      'anthropic-ratelimit-unified-reset': '1795266000',
      'anthropic-ratelimit-unified-status': 'rejected',
    },
    body: anthropic('rate_limit_error', 'Rate limited'),
    expected: { reason: 'rate-limit', retryAfterMs: 3_600_000 },
  },
  {
    provider: 'Anthropic',
    status: 429,
    body: anthropic('rate_limit_error', 'Extra usage is required for long context requests.'),
    expected: { reason: 'quota', scope: 'model' },
  },
  {
    provider: 'Anthropic',
    status: 529,
    body: anthropic('overloaded_error', 'Overloaded'),
    expected: { reason: 'overloaded', scope: 'service', retryable: true },
  },
  {
    provider: 'Anthropic, in a stream',
    body: { type: 'error', error: { details: null, type: 'overloaded_error', message: 'Overloaded' } },
    expected: { reason: 'overloaded', scope: 'service' },
  },
  {
    provider: 'Anthropic',
    status: 500,
    body: anthropic('api_error', 'Internal server error'),
    expected: { reason: 'server-error', retryable: true },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'Anthropic',
    status: 400,
    headers: { date },
    body: anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.',
    ),
    expected: { reason: 'quota', retryAfterMs: 9.5 * 86_400_000 },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', 'This organization has been disabled.'),
    expected: { reason: 'auth-permanent', retryable: false },
  },
  {
    provider: 'Anthropic',
    status: 403,
    body: anthropic('permission_error', 'OAuth authentication is currently not allowed for this organization.'),
    expected: { reason: 'auth-permanent' },
  },
  {
    provider: 'Anthropic',
    status: 403,
    body: anthropic('permission_error', 'OAuth token has been revoked. Please obtain a new token.'),
    expected: { reason: 'auth-permanent' },
  },
  {
    provider: 'Anthropic',
    status: 403,
    body: anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'),
    expected: { reason: 'auth', scope: 'model' },
  },
  {
    provider: 'Anthropic',
    status: 401,
    body: anthropic('authentication_error', 'invalid x-api-key'),
    expected: { reason: 'auth', scope: 'profile', retryable: true },
  },
  {
    provider: 'Anthropic',
    status: 401,
    body: anthropic(
      'authentication_error',
      'OAuth token has expired. Please obtain a new token or refresh your existing token.',
    ),
    expected: { reason: 'auth' },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    expected: { reason: 'context-overflow', scope: 'request', retryable: false },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022',
    ),
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'Anthropic',
    status: 413,
    body: anthropic('request_too_large', 'Request exceeds the maximum size'),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', 'messages.1.content.0: Invalid `signature` in `thinking` block'),
    expected: { reason: 'invalid-request', retryable: false },
  },
  {
    provider: 'Anthropic',
    status: 400,
    body: anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
    expected: { reason: 'content-filter', retryable: false },
  },
  {
    provider: 'Anthropic',
    status: 404,
    body: anthropic('not_found_error', 'model: claude-3-sonnet-20240229'),
    expected: { reason: 'not-found', scope: 'model' },
  },
  // OpenAI
  {
    provider: 'OpenAI',
    status: 429,
    headers: { 'retry-after-ms': '1532', 'retry-after': '2' },
    body: openai(
      'Rate limit reached for gpt-4o in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens per min (TPM): Limit 30000, Used 29105, Requested 1661. Please try again in 1.532s. Visit https://platform.openai.com/account/rate-limits to learn more.',
      'tokens',
      'rate_limit_exceeded',
    ),
    expected: { reason: 'rate-limit', scope: 'model', retryAfterMs: 1_532 },
  },
  {
    provider: 'OpenAI',
    status: 429,
    headers: {
      'x-ratelimit-remaining-requests': '9999',
      'x-ratelimit-reset-requests': '8.64s',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    body: openai('Rate limit reached.', 'tokens', 'rate_limit_exceeded'),
    expected: { reason: 'rate-limit', retryAfterMs: 360_000 },
  },
  {
    provider: 'OpenAI',
    status: 429,
    body: openai(
      'Request too large for gpt-4o in organization org-VDAWofJASuLH0vVz8o9tiQZr on tokens per min (TPM): Limit 30000, Requested 30601. The input or output tokens must be reduced in order to run successfully.',
      'tokens',
      'rate_limit_exceeded',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'OpenAI',
    status: 429,
    body: openai(
      'You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'OpenAI',
    status: 429,
    body: openai(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      null,
    ),
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'OpenAI',
    status: 429,
    headers: { date },
    body: {
      error: {
        type: 'usage_limit_reached',
        message: 'The usage limit has been reached',
        plan_type: 'plus',
        resets_at: 1_795_269_600,
        resets_in_seconds: 7_200,
      },
    },
    expected: { reason: 'quota', retryAfterMs: 7_200_000 },
  },
  {
    provider: 'OpenAI',
    status: 401,
    body: openai(
      'Incorrect API key provided: sk-proj-********************MxYA. You can find your API key at https://platform.openai.com/account/api-keys.',
      'invalid_request_error',
      'invalid_api_key',
    ),
    expected: { reason: 'auth' },
  },
  {
    provider: 'OpenAI',
    status: 401,
    body: openai(
      'The OpenAI account associated with this API key has been deactivated.',
      'invalid_request_error',
      'account_deactivated',
    ),
    expected: { reason: 'auth-permanent' },
  },
  {
    provider: 'OpenAI',
    status: 403,
    body: openai(
      'Country, region, or territory not supported',
      'request_forbidden',
      'unsupported_country_region_territory',
    ),
    expected: { reason: 'auth', scope: 'service' },
  },
  {
    provider: 'OpenAI',
    status: 400,
    body: openai(
      "This model's maximum context length is 4097 tokens. However, your messages resulted in 4294 tokens. Please reduce the length of the messages.",
      'invalid_request_error',
      'context_length_exceeded',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'OpenAI, in a stream',
    body: {
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      param: 'input',
    },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'OpenAI',
    status: 400,
    body: openai(
      'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
      'invalid_request_error',
      'invalid_value',
    ),
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'OpenAI',
    status: 404,
    body: openai(
      'The model `gpt-5-turbo` does not exist or you do not have access to it.',
      'invalid_request_error',
      'model_not_found',
    ),
    expected: { reason: 'not-found', scope: 'model' },
  },
  {
    provider: 'OpenAI',
    status: 404,
    body: openai(
      "Item with id 'rs_68af' not found. Items are not persisted when `store` is set to false.",
      'invalid_request_error',
      null,
    ),
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'OpenAI',
    status: 500,
    body: openai('The server had an error while processing your request. Sorry about that!', 'server_error', null),
    expected: { reason: 'server-error' },
  },
  {
    provider: 'OpenAI',
    status: 503,
    body: openai('The engine is currently overloaded, please try again later.', 'server_error', null),
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'OpenAI',
    status: 400,
    body: openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt.',
      'invalid_request_error',
      'invalid_prompt',
    ),
    expected: { reason: 'content-filter' },
  },
  // Google
  {
    provider: 'Google',
    status: 429,
    body: google(429, googlePlan, 'RESOURCE_EXHAUSTED', [
      quotaFailure('GenerateContentInputTokensPerModelPerMinute-FreeTier'),
      retryInfo('26s'),
    ]),
    expected: { reason: 'rate-limit', scope: 'model', retryAfterMs: 26_000 },
  },
  {
    provider: 'Google',
    status: 429,
    body: google(429, googlePlan, 'RESOURCE_EXHAUSTED', [
      quotaFailure(
        'GenerateRequestsPerMinutePerProjectPerModel-FreeTier',
        'GenerateRequestsPerDayPerProjectPerModel-FreeTier',
      ),
      retryInfo('41.5s'),
    ]),
    expected: { reason: 'quota', scope: 'model', retryAfterMs: 41_500 },
  },
  {
    provider: 'Google, JSON in JSON',
    status: 429,
    body: JSON.stringify({
      error: {
        message: JSON.stringify(
          google(429, googlePlan, 'RESOURCE_EXHAUSTED', [
            quotaFailure('GenerateContentInputTokensPerModelPerMinute-FreeTier'),
            retryInfo('26s'),
          ]),
          undefined,
          2,
        ),
        code: 429,
        status: 'Too Many Requests',
      },
    }),
    expected: { reason: 'rate-limit', retryAfterMs: 26_000 },
  },
  {
    provider: 'Google, JSON behind words',
    body: `got status: 429 Too Many Requests. ${JSON.stringify(google(429, 'Resource has been exhausted (e.g. check quota).', 'RESOURCE_EXHAUSTED'))}`,
    expected: { reason: 'rate-limit', status: 429 },
  },
  {
    provider: 'Google',
    status: 429,
    body: google(429, googlePlan, 'RESOURCE_EXHAUSTED', [
      {
        '@type': 'type.googleapis.com/google.rpc.Help',
        links: [
          {
            description: 'Learn more about Gemini API quotas',
            url: 'https://ai.google.dev/gemini-api/docs/rate-limits',
          },
        ],
      },
    ]),
    expected: { reason: 'quota' },
  },
  {
    provider: 'Google, a list',
    status: 429,
    body: [
      google(
        429,
        'Resource exhausted. Please try again later. Please refer to https://cloud.google.com/vertex-ai/generative-ai/docs/error-code-429 for more details.',
        'RESOURCE_EXHAUSTED',
      ),
    ],
    expected: { reason: 'rate-limit' },
  },
  {
    provider: 'Google Vertex',
    status: 429,
    body: google(
      429,
      'Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: anthropic-claude-opus-4. Please submit a quota increase request.',
      'RESOURCE_EXHAUSTED',
    ),
    expected: { reason: 'rate-limit', scope: 'model' },
  },
  {
    provider: 'Google',
    status: 400,
    body: google(400, 'API key not valid. Please pass a valid API key.', 'INVALID_ARGUMENT', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID', domain: 'googleapis.com' },
    ]),
    expected: { reason: 'auth' },
  },
  {
    provider: 'Google',
    status: 403,
    body: google(403, 'Your API key was reported as leaked. Please use another API key.', 'PERMISSION_DENIED'),
    expected: { reason: 'auth-permanent' },
  },
  {
    provider: 'Google',
    status: 503,
    body: google(503, 'The model is overloaded. Please try again later.', 'UNAVAILABLE'),
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Google',
    status: 400,
    body: google(
      400,
      'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).',
      'INVALID_ARGUMENT',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'Google',
    status: 404,
    body: google(
      404,
      'models/gemini-1.0-pro is not found for API version v1beta, or is not supported for generateContent.',
      'NOT_FOUND',
    ),
    expected: { reason: 'not-found' },
  },
  {
    provider: 'Google',
    status: 504,
    body: google(504, 'Deadline expired before operation could complete.', 'DEADLINE_EXCEEDED'),
    expected: { reason: 'timeout' },
  },
  {
    provider: 'Google',
    status: 500,
    body: google(
      500,
      'An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting',
      'INTERNAL',
    ),
    expected: { reason: 'server-error' },
  },
  {
    provider: 'Google',
    status: 400,
    body: google(
      400,
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
      'INVALID_ARGUMENT',
    ),
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'Google Vertex',
    status: 400,
    body: [
      google(
        400,
        'Project `123` is not allowed to use Publisher Model `projects/m8/locations/asia-southeast1/publishers/anthropic/models/claude-3-sonnet@20240229`',
        'FAILED_PRECONDITION',
      ),
    ],
    expected: { reason: 'auth', scope: 'model' },
  },
  // Bedrock
  {
    provider: 'Bedrock',
    status: 429,
    headers: bedrock('ThrottlingException'),
    body: { message: 'Too many tokens, please wait before trying again.' },
    expected: { reason: 'rate-limit', scope: 'model' },
  },
  {
    provider: 'Bedrock',
    status: 429,
    headers: bedrock('ThrottlingException'),
    body: { message: 'Too many tokens per day, please wait before trying again.' },
    expected: { reason: 'quota', scope: 'model' },
  },
  {
    provider: 'Bedrock',
    status: 503,
    headers: bedrock('ServiceUnavailableException'),
    body: { message: 'Bedrock is unable to process your request.' },
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Bedrock',
    status: 429,
    headers: bedrock('ModelNotReadyException'),
    body: { message: 'Model is not ready for inference. Wait and try your request again.' },
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Bedrock',
    status: 408,
    headers: bedrock('ModelTimeoutException'),
    body: { message: 'Model has timed out in processing the request. Try your request again.' },
    expected: { reason: 'timeout' },
  },
  {
    provider: 'Bedrock',
    status: 424,
    headers: bedrock('ModelErrorException'),
    body: { message: 'The system encountered an unexpected error during processing. Try your request again.' },
    expected: { reason: 'server-error' },
  },
  {
    provider: 'Bedrock',
    status: 400,
    headers: bedrock('ValidationException'),
    body: { message: 'Input is too long for requested model.' },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'Bedrock',
    status: 400,
    headers: bedrock('ValidationException'),
    body: {
      message:
        'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
    },
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'Bedrock',
    status: 400,
    headers: bedrock('ValidationException'),
    body: {
      message:
        'Invocation of model ID anthropic.claude-sonnet-4-20250514-v1:0 with on-demand throughput isn’t supported. Retry your request with the ID or ARN of an inference profile that contains this model.',
    },
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'Bedrock',
    status: 403,
    headers: bedrock('AccessDeniedException'),
    body: { message: "You don't have access to the model with the specified model ID." },
    expected: { reason: 'auth', scope: 'model' },
  },
  {
    provider: 'Bedrock',
    status: 403,
    headers: bedrock('ExpiredTokenException'),
    body: { message: 'The security token included in the request is expired' },
    expected: { reason: 'auth', scope: 'profile' },
  },
  {
    provider: 'Bedrock',
    status: 403,
    headers: bedrock('UnrecognizedClientException'),
    body: { message: 'The security token included in the request is invalid.' },
    expected: { reason: 'auth' },
  },
  // Azure
  {
    provider: 'Azure',
    status: 429,
    body: {
      error: {
        code: '429',
        message:
          'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2024-05-01-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 86400 seconds. Please go here: https://aka.ms/oai/quotaincrease if you would like to further increase the default rate limit.',
      },
    },
    expected: { reason: 'rate-limit', retryAfterMs: 86_400_000 },
  },
  {
    provider: 'Azure',
    status: 400,
    body: {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { violence: { filtered: true, severity: 'medium' } },
        },
      },
    },
    expected: { reason: 'content-filter' },
  },
  {
    provider: 'Azure',
    status: 404,
    body: {
      error: {
        code: 'DeploymentNotFound',
        message:
          'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
      },
    },
    expected: { reason: 'not-found' },
  },
  {
    provider: 'Azure',
    status: 401,
    body: {
      error: {
        code: '401',
        message:
          'Access denied due to invalid subscription key or wrong API endpoint. Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      },
    },
    expected: { reason: 'auth' },
  },
  // OpenRouter
  {
    provider: 'OpenRouter',
    status: 402,
    body: {
      error: {
        message:
          'This request requires more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 30104. To increase, visit https://openrouter.ai/settings/credits and upgrade to a paid account',
        code: 402,
        metadata: { provider_name: null },
      },
      user_id: 'user_35tI40u3gKTMEMGS061Ov1xsUTj',
    },
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'OpenRouter',
    status: 402,
    body: {
      error: {
        message:
          'Prompt tokens limit exceeded: 230799 > 91442. To increase, visit https://openrouter.ai/settings/keys and create a key with a higher monthly limit',
        code: 402,
      },
    },
    expected: { reason: 'quota' },
  },
  {
    provider: 'OpenRouter',
    status: 429,
    headers: { date },
    body: {
      error: {
        message: 'Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day',
        code: 429,
        metadata: {
          headers: { 'X-RateLimit-Limit': '50', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': '1795305600000' },
          provider_name: null,
        },
      },
    },
    expected: { reason: 'quota', retryAfterMs: 43_200_000 },
  },
  {
    provider: 'OpenRouter',
    status: 429,
    body: {
      error: {
        message: 'Provider returned error',
        code: 429,
        metadata: {
          raw: 'qwen/qwen3-coder:free is temporarily rate-limited upstream. Please retry shortly, or add your own key to accumulate your rate limits',
          provider_name: 'Chutes',
        },
      },
    },
    expected: { reason: 'rate-limit' },
  },
  {
    provider: 'OpenRouter, JSON in JSON',
    status: 403,
    body: {
      error: {
        message: 'Provider returned error',
        code: 403,
        metadata: {
          raw: '{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}',
          provider_name: 'OpenAI',
        },
      },
    },
    expected: { reason: 'auth', scope: 'service' },
  },
  {
    provider: 'OpenRouter, 200 and an error',
    body: {
      error: {
        message: 'Provider returned error',
        code: 529,
        metadata: {
          raw: '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
          provider_name: 'Anthropic',
        },
      },
    },
    expected: { reason: 'overloaded', status: 529 },
  },
  {
    provider: 'OpenRouter',
    status: 403,
    body: {
      error: {
        code: 403,
        message:
          'Your chosen model requires moderation and your input was flagged for "violence". No credits were charged.',
        metadata: { reasons: ['violence'], flagged_input: 'rate limit exceeded' },
      },
    },
    expected: { reason: 'content-filter' },
  },
  {
    provider: 'OpenRouter',
    status: 400,
    body: {
      error: {
        message:
          'This endpoint\'s maximum context length is 32768 tokens. However, you requested about 42832 tokens (42832 of text input). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
        code: 400,
      },
    },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'OpenRouter',
    status: 404,
    body: { error: { message: 'No endpoints found for google/gemini-2.0-flash-exp:free.', code: 404 } },
    expected: { reason: 'not-found' },
  },
  {
    provider: 'OpenRouter',
    status: 401,
    body: { error: { message: 'No auth credentials found', code: 401 } },
    expected: { reason: 'auth' },
  },
  // Ollama
  {
    provider: 'Ollama',
    status: 404,
    body: { error: "model 'llama3' not found, try pulling it first" },
    expected: { reason: 'not-found' },
  },
  {
    provider: 'Ollama',
    status: 503,
    body: { error: 'server busy, please try again.  maximum pending requests exceeded' },
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Ollama',
    status: 503,
    body: { error: 'Server overloaded, please retry shortly (ref: aaa65c70-cfa0-446b-86f1-4ab0e2deb9e4)' },
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Ollama',
    status: 429,
    body: { error: "you've reached your hourly usage limit, please wait or upgrade to continue" },
    expected: { reason: 'quota' },
  },
  {
    provider: 'Ollama',
    status: 500,
    body: { error: 'model requires more system memory (5.3 GiB) than is available (3.3 GiB)' },
    expected: { reason: 'server-error', retryable: false },
  },
  {
    provider: 'Ollama',
    status: 500,
    body: {
      error:
        'model runner has unexpectedly stopped, this may be due to resource limitations or an internal error, check ollama server logs for details',
    },
    expected: { reason: 'server-error', retryable: true },
  },
  // Servers that speak OpenAI's language
  {
    provider: 'vLLM',
    status: 400,
    body: {
      object: 'error',
      message:
        "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'vLLM',
    status: 400,
    body: {
      object: 'error',
      message: 'max_tokens must be at least 1, got -186.',
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'vLLM',
    status: 400,
    body: {
      error: {
        message:
          "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 1210 input tokens (8192 > 8192 - 1210).",
        type: 'BadRequestError',
        param: null,
        code: 400,
      },
    },
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'vLLM',
    status: 404,
    body: {
      object: 'error',
      message: 'The model `llama` does not exist.',
      type: 'NotFoundError',
      param: null,
      code: 404,
    },
    expected: { reason: 'not-found' },
  },
  {
    provider: 'LM Studio',
    status: 400,
    body: {
      error:
        'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
    },
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'LiteLLM',
    status: 429,
    body: openai(
      "litellm.RateLimitError: AzureException RateLimitError - Error code: 429 - {'error': {'code': '429', 'message': 'Requests to the ChatCompletions_Create Operation under Azure OpenAI API version 2023-05-15 have exceeded token rate limit of your current AIServices S0 pricing tier. Please retry after 60 seconds.'}}\nReceived Model Group=azure-gpt-4o-mini\nAvailable Model Group Fallbacks=None",
      'throttling_error',
      '429',
    ),
    expected: { reason: 'rate-limit', retryAfterMs: 60_000 },
  },
  {
    provider: 'LiteLLM',
    status: 429,
    body: openai(
      'No deployments available for selected model, Try again in 5 seconds. Passed model=test. pre-call-checks=False, cooldown_list=[]',
      'None',
      '429',
    ),
    expected: { reason: 'rate-limit', retryAfterMs: 5_000 },
  },
  {
    provider: 'LiteLLM',
    status: 400,
    body: openai('Budget has been exceeded! Current cost: 14.2, Max budget: 10.0', 'budget_exceeded', '400'),
    expected: { reason: 'quota' },
  },
  {
    provider: 'LiteLLM',
    status: 400,
    body: openai(
      "litellm.ContextWindowExceededError: litellm.BadRequestError: ContextWindowExceededError: OpenAIException - This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
      null,
      '400',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'LiteLLM',
    status: 400,
    body: openai(
      "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
      null,
      '400',
    ),
    expected: { reason: 'content-filter' },
  },
  {
    provider: 'Groq',
    status: 429,
    headers: { 'retry-after': '578' },
    body: openai(
      'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_01kjh7p9n8f1qs6nz2bz77vy6b` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
      'tokens',
      'rate_limit_exceeded',
    ),
    expected: { reason: 'quota', scope: 'model', retryAfterMs: 578_000 },
  },
  {
    provider: 'Groq',
    status: 429,
    body: openai(
      'Rate limit reached for model `llama-3.1-8b-instant` in organization `org_01j5b4pz9jff492fq686vypsx6` service tier `on_demand` on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please try again in 4.77s.',
      'tokens',
      'rate_limit_exceeded',
    ),
    expected: { reason: 'rate-limit', retryAfterMs: 4_770 },
  },
  {
    provider: 'Groq',
    status: 413,
    body: openai(
      'Request too large for model `llama-3.3-70b-versatile` in organization `org_01kgg5588eftc8k70aes4864eb` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137, please reduce your message size and try again.',
      'tokens',
      'rate_limit_exceeded',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'Groq',
    status: 503,
    body: openai(
      'qwen-qwq-32b is currently over capacity. Please try again and back off exponentially. Visit https://groqstatus.com to see if there is an active incident.',
      'internal_server_error',
      null,
    ),
    expected: { reason: 'overloaded' },
  },
  {
    provider: 'Groq',
    status: 401,
    body: openai('Invalid API Key', 'invalid_request_error', 'invalid_api_key'),
    expected: { reason: 'auth' },
  },
  {
    provider: 'Mistral',
    status: 429,
    body: mistral('Service tier capacity exceeded for this model.', 'invalid_request_error', null),
    expected: { reason: 'overloaded', scope: 'service' },
  },
  {
    provider: 'Mistral',
    status: 429,
    body: mistral('Rate limit exceeded', 'rate_limited', '1300'),
    expected: { reason: 'rate-limit' },
  },
  {
    provider: 'Mistral',
    status: 429,
    body: { message: 'Requests rate limit exceeded' },
    expected: { reason: 'rate-limit' },
  },
  {
    provider: 'Mistral',
    status: 400,
    body: mistral(
      'Tool call id was call_0fypS1hVX but must be a-z, A-Z, 0-9, with a length of 9.',
      'invalid_function_call',
      '3280',
    ),
    expected: { reason: 'invalid-request' },
  },
  { provider: 'Mistral', status: 401, body: { detail: 'Unauthorized' }, expected: { reason: 'auth' } },
  {
    provider: 'DeepSeek',
    status: 402,
    body: openai('Insufficient Balance', 'unknown_error', 'invalid_request_error'),
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'DeepSeek',
    status: 401,
    body: openai(
      'Authentication Fails, Your api key: ****xxxx is invalid',
      'authentication_error',
      'invalid_request_error',
    ),
    expected: { reason: 'auth' },
  },
  {
    provider: 'DeepSeek',
    status: 400,
    body: openai('Content Exists Risk', 'invalid_request_error', 'invalid_request_error'),
    expected: { reason: 'content-filter' },
  },
  {
    provider: 'DeepSeek',
    status: 400,
    body: openai(
      "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.",
      'invalid_request_error',
      'invalid_request_error',
    ),
    expected: { reason: 'context-overflow' },
  },
  {
    provider: 'xAI',
    status: 429,
    body: {
      code: 'Some resource has been exhausted',
      error:
        'Your team 16f2151a-40f4-4a80-8ad0-cae00c27e8dd has either used all available credits or reached its monthly spending limit. To continue making API requests, please purchase more credits or raise your spending limit.',
    },
    expected: { reason: 'quota', scope: 'profile' },
  },
  {
    provider: 'xAI',
    status: 403,
    body: {
      code: 'The caller does not have permission to execute the specified operation',
      error:
        "Your newly created team doesn't have any credits or licenses yet. You can purchase those on https://console.x.ai/team/481c7584-ab46-4974-b86b-a4978384e229.",
    },
    expected: { reason: 'quota' },
  },
  {
    provider: 'xAI',
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: 'Incorrect API key provided: na***ys. You can obtain an API key from https://console.x.ai.',
    },
    expected: { reason: 'auth' },
  },
  {
    provider: 'xAI',
    status: 404,
    body: {
      code: 'Some requested entity was not found',
      error: 'The model grok-9 does not exist or your team 16f2151a does not have access to it.',
    },
    expected: { reason: 'not-found' },
  },
  // Proxies and gateways
  {
    provider: 'a proxy',
    status: 502,
    body: '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>',
    expected: { reason: 'server-error' },
  },
  {
    provider: 'Cloudflare',
    status: 524,
    body: '<!DOCTYPE html><title>api.example.com | 524: A timeout occurred</title>',
    expected: { reason: 'timeout' },
  },
  {
    provider: 'a gateway',
    status: 500,
    body: openai("Unknown parameter: 'reasoning_effort'.", 'server_error', null),
    expected: { reason: 'invalid-request' },
  },
  {
    provider: 'a gateway that says nothing',
    status: 429,
    headers: { 'retry-after': 'Sat, 21 Nov 2026 12:02:00 GMT', date },
    body: '',
    expected: { reason: 'rate-limit', retryAfterMs: 120_000 },
  },
  { provider: 'a gateway that says nothing', status: 418, body: '', expected: { reason: 'invalid-request' } },
];
