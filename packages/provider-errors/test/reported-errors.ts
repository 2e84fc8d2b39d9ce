import type { ErrorReason } from '../src/reasons.js';

/** Errors as users of agents, gateways and SDKs reported them: messages, bodies and errors with causes. November 2026. */
export const reportedErrors: readonly (readonly [ErrorReason, unknown])[] = [
  [
    'context-overflow',
    "Error code: 400 - {'error': {'message': 'Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)', 'type': 'invalid_request_error'}}",
  ],
  [
    'quota',
    {
      message: 'Internal error',
      data: {
        codexErrorInfo: 'usageLimitExceeded',
        message:
          'You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 2:51 PM.',
      },
    },
  ],
  [
    'quota',
    { message: 'Internal error', data: { message: 'Your workspace is out of credits. Add credits to continue.' } },
  ],
  [
    'quota',
    {
      message: 'Internal error',
      data: { message: 'You hit your spend cap set in your workspace. Increase your spend cap to continue.' },
    },
  ],
  ['quota', 'Quota exceeded. Check your plan and billing details.'],
  ['overloaded', { code: 429, message: 'No capacity available for model gemini-3-pro on the server' }],
  [
    'quota',
    {
      code: 429,
      message:
        "You exceeded your current quota. Quota exceeded for quota metric 'GenerateRequestsPerDayPerProjectPerModel-FreeTier'. Please retry in 34s.",
    },
  ],
  [
    'quota',
    'Quota exhausted: hour allocated quota exceeded. Please retry after the reset time, or switch to another API key.',
  ],
  ['quota', { code: 500, message: 'Maximum budget exceeded for this account' }],
  [
    'quota',
    {
      message: 'Internal error',
      data: { error: "Error code: 403 - You've reached the 5-hour usage limit for your plan. Please try again later." },
    },
  ],
  [
    'quota',
    '429 Usage limit reached for the past 5 hours. Extra usage is not available due to monthly spend limit. Resets at 2026-10-07 20:45:35.',
  ],
  ['rate-limit', '429 Rate limit reached for requests'],
  ['quota', '429 Insufficient balance or no resource package. Please recharge.'],
  ['rate-limit', { message: 'Internal error', data: { details: 'Too many requests', apiStatus: 'resourceExhausted' } }],
  ['quota', { code: -32003, message: 'Quota exceeded: credits used up' }],
  [
    'quota',
    '5-hour usage limit reached. Resets in 4hr 10min. To continue using this model now, enable usage from your available balance',
  ],
  ['rate-limit', 'Provider rate limit exceeded. Please try again shortly.'],
  ['quota', 'Free model usage limit reached. Please try again later or upgrade to a paid model.'],
  [
    'context-overflow',
    { message: 'Internal error', data: { errorName: 'ContextOverflowError', details: 'prompt is too long' } },
  ],
  ['quota', 'You have reached your 5-hour Clinepass limit. The limit resets in 5h'],
  ['quota', 'Daily free limit reached on model x-ai/grok. Try again in 23h 59m'],
  ['quota', { message: 'x', data: { details: 'credits exhausted', reason: 'credits_exhausted' } }],
  ['quota', { message: 'Insufficient balance', data: { reason: 'insufficient_account_balance' } }],
  ['quota', 'Quota exhausted.'],
  ['rate-limit', 'Rate limited: slow down'],
  ['rate-limit', 'You’ve hit the rate limit for your plan. Please wait and try again.'],
  ['quota', 'You’ve reached your free Grok Build usage limit.'],
  ['rate-limit', 'Internal error: claude-opus is rate limited until 2026-10-06T17:00:00Z'],
  ['quota', 'Internal error: budget exhausted'],
  ['quota', 'anthropic HTTP 429 [billing_limit]: credit balance is too low'],
  ['quota', 'Monthly siGit Code Cloud allowance reached. It resets at the start of your next billing period.'],
  [
    'rate-limit',
    { message: 'Internal error', data: '429 Too Many Requests: Rate limit reached for requests per min (RPM)' },
  ],
  ['quota', 'Error code: 402 - insufficient credits'],
  [
    'quota',
    '429 You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors.',
  ],
  [
    'quota',
    '429 Rate limit reached for model `llama-3.3-70b` in organization `org_x` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 99000, Requested 2000. Please try again in 2h31m16.752s.',
  ],
  ['overloaded', '529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'],
  ['quota', '402 Insufficient Balance'],
  [
    'quota',
    "You've hit your individual spend limit · run /usage-credits to ask your admin for a higher limit · your session limit resets 7:50pm (Asia/Karachi)",
  ],
  ['quota', "You've hit your team's shared budget · ask your admin to raise it"],
  ['quota', 'API Error: Usage credits required for 1M context · turn on usage credits at claude.ai/settings/usage'],
  ['quota', "You've hit your session limit · resets 11:20pm (Asia/Karachi)"],
  ['quota', "You're out of usage credits"],
  ['quota', 'API Error: 429 spend limit reached (daily; resets 2026-10-07 00:00 UTC)'],
  ['rate-limit', 'API Error: Server is temporarily limiting requests'],
  ['overloaded', { message: 'Service Unavailable', status: 503 }],
  ['timeout', { message: 'Request Timeout', status: 408 }],
  ['invalid-request', { message: 'Bad Request', status: 400 }],
  ['overloaded', 'Anthropic API error: Overloaded - the service is temporarily overloaded'],
  ['overloaded', { message: 'The service may be temporarily overloaded, please try again later', status: 429 }],
  ['rate-limit', { message: 'Rate limit exceeded: too many requests', status: 429 }],
  [
    'invalid-request',
    {
      message: 'Provider stream returned non-JSON SSE data',
      body: { error: { code: 'x', message: 'request validation failed: unsupported reasoning_effort' } },
    },
  ],
  ['not-found', { message: 'model not found', status: 404 }],
  [
    'content-filter',
    'This content was flagged for possible cybersecurity risk. If this seems wrong, try rephrasing your request.',
  ],
  ['context-overflow', { message: 'Request Entity Too Large', status: 413 }],
  [
    'invalid-request',
    {
      message: 'Unable to generate parser for this template. Automatic parser generation failed: error parsing grammar',
      status: 400,
    },
  ],
  [
    'invalid-request',
    'Error code: 400 - This request is not valid. Check the model name and other parameters. Additional info: Reasoning is mandatory for this endpoint and cannot be disabled.',
  ],
  ['quota', { message: 'Extra usage is required for long context requests over 200k tokens', status: 429 }],
  ['timeout', 'Read timed out'],
  ['network', 'Connection refused'],
  ['network', 'Connection reset by peer'],
  ['timeout', 'timed out'],
  [
    'invalid-request',
    {
      message:
        'The provided request body is invalid: claude messages.208: all messages must have non-empty content except for the optional final assistant message',
      status_code: 400,
      body: { errorCode: 'INVALID_REQUEST_BODY' },
    },
  ],
  [
    'context-overflow',
    {
      message: '{"error": {"code": "1210", "message": "tokens in request more than max tokens allowed"}}',
      status_code: 400,
    },
  ],
  ['server-error', { message: 'fail', status_code: 500 }],
  [
    'rate-limit',
    {
      message: 'rate limit policy',
      status_code: 400,
      body: { error: { message: 'rate limit exceeded on this model' } },
    },
  ],
  [
    'quota',
    {
      message: "You're out of extra usage. Add more at claude.ai/settings/usage and keep going.",
      status: 400,
      body: { error: { type: 'invalid_request_error' } },
    },
  ],
  ['network', '[SSL: BAD_RECORD_MAC] sslv3 alert bad record mac (_ssl.c:2580)'],
  ['network', 'Server disconnected without sending a response'],
  [
    'network',
    '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)',
  ],
  ['rate-limit', { name: 'RateLimitError', message: 'You have exceeded your rate limit.' }],
  ['quota', 'request reached organization TPD rate limit, current: 1506556, limit: 1500000'],
  ['quota', 'insufficient credits: request size exceeds your current plan limits'],
  ['quota', '402 Payment Required: request token limit exceeded for this billing plan'],
  ['invalid-request', 'request size exceeds upload limit'],
  ['network', 'HTTP request failed: Connection error'],
  ['auth', 'No credentials found for profile "anthropic:default".'],
  [
    'auth',
    'OAuth token refresh failed for anthropic: Failed to refresh OAuth token for anthropic. Please try again or re-authenticate.',
  ],
  ['auth', 'You have insufficient permissions for this operation.'],
  ['auth', 'Missing scopes: model.request'],
  ['context-overflow', 'input length would exceed context budget for this model'],
  ['context-overflow', 'Context overflow: prompt too large for the model.'],
  ['timeout', 'Request timed out after 60000ms'],
  [
    'overloaded',
    '503 Engine Overloaded: The server is experiencing a high volume of requests and is temporarily overloaded.',
  ],
  [
    'server-error',
    '521 <!DOCTYPE html>\n<html lang="en-US">\n  <head><title>Web server is down | example.com | Cloudflare</title></head>\n  <body><h1>Web server is down</h1></body>\n</html>',
  ],
  [
    'quota',
    '402 <!doctype html><html><head><title>402 Payment Required</title></head><body><h1>Payment Required</h1><p>Your quota is exhausted.</p></body></html>',
  ],
  ['rate-limit', '429 <!doctype html><html><head><title>429 Too Many Requests</title></head><body></body></html>'],
  [
    'auth',
    '<!doctype html><html><head><title>407 Proxy Authentication Required</title></head><body><h1>x</h1></body></html>',
  ],
  ['rate-limit', 'API error (429): Too many requests'],
  ['auth', 'API error (status 403 Forbidden): permission-denied: no access'],
  [
    'quota',
    'API error (status 403 Forbidden): permission-denied: Your team deadb has either used all available credits or reached its monthly spending limit.',
  ],
  ['server-error', 'Internal error encountered.'],
  ['server-error', '{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}'],
  ['overloaded', '{"error":{"code":503,"message":"The service is currently unavailable.","status":"UNAVAILABLE"}}'],
  [
    'auth',
    '{"error":{"code":403,"message":"Generative Language API has not been used in project 123 before or it is disabled. Enable it by visiting https://console","status":"PERMISSION_DENIED"}}',
  ],
  [
    'context-overflow',
    'Bedrock error: The model returned the following errors: prompt is too long: 206480 tokens > 199999 maximum',
  ],
  ['invalid-request', 'The model returned the following errors: messages.0: all messages must have non-empty content'],
  ['rate-limit', 'Too many connections, please wait before trying again.'],
  ['quota', 'Sorry, you have exceeded your weekly rate limit. Please wait for your limit to reset.'],
  ['rate-limit', 'Sorry, you have been rate-limited. Please wait a moment before trying again. Learn More'],
  ['quota', '{"error":{"message":"You have exceeded your monthly quota","code":"quota_exceeded"}}'],
  ['auth', 'IDE token expired: unauthorized: token expired'],
  ['auth', 'Bad credentials'],
  [
    'not-found',
    '{"error":{"message":"The requested model is not supported.","code":"model_not_supported","param":"model","type":"invalid_request_error"}}',
  ],
  [
    'context-overflow',
    'litellm.ContextWindowExceededError: litellm.BadRequestError: BedrockException - {"message":"Input is too long for requested model."}',
  ],
  ['rate-limit', 'litellm.RateLimitError: RateLimitError: OpenAIException - Error code: 429'],
  [
    'overloaded',
    'litellm.InternalServerError: AnthropicException - {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
  ],
  ['timeout', 'litellm.Timeout: APITimeoutError - Request timed out.'],
  ['network', 'litellm.APIConnectionError: APIConnectionError: OpenAIException - Connection error.'],
  ['auth', 'litellm.AuthenticationError: AuthenticationError: OpenAIException - The api_key client option must be set'],
  [
    'not-found',
    'litellm.NotFoundError: AnthropicException - {"type":"error","error":{"type":"not_found_error","message":"model: claude-x"}}',
  ],
  ['quota', 'litellm.BudgetExceededError: Budget has been exceeded!'],
  ['rate-limit', { base_resp: { status_code: 1002, status_msg: 'rate limit' } }],
  ['quota', { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }],
  [
    'auth',
    {
      base_resp: {
        status_code: 1004,
        status_msg: 'login fail: Please carry the API secret key in the Authorization field of the request header',
      },
    },
  ],
  [
    'context-overflow',
    { base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } },
  ],
  ['auth', { error: { code: '1001', message: 'Header中未收到Authorization参数，无法进行身份验证。' } }],
  [
    'overloaded',
    { error: { code: '1305', message: 'The service may be temporarily overloaded, please try again later' } },
  ],
  ['rate-limit', { error: { code: '1302', message: 'Rate limit reached for requests' } }],
  ['context-overflow', { error: { code: '1261', message: 'Prompt exceeds max length' } }],
  [
    'content-filter',
    {
      error: {
        code: '1301',
        message: 'System detected potentially unsafe or sensitive content in input or generation.',
      },
    },
  ],
  ['not-found', { error: { code: '1211', message: 'Unknown Model, please check the model code.' } }],
  [
    'quota',
    {
      error: { code: '1308', message: 'Usage limit reached for 5 hour. Your limit will reset at 2026-01-01 10:00:00' },
    },
  ],
  ['auth', { code: 'InvalidApiKey', message: 'Invalid API-key provided.', request_id: 'x' }],
  ['quota', { code: 'Arrearage', message: 'Access denied, please make sure your account is in good standing.' }],
  ['rate-limit', { code: 'Throttling.RateQuota', message: 'Requests rate limit exceeded, please try again later.' }],
  ['content-filter', { code: 'DataInspectionFailed', message: 'Input data may contain inappropriate content.' }],
  ['context-overflow', { code: 'InvalidParameter', message: 'Range of input length should be [1, 30720]' }],
  ['invalid-request', { code: 'InvalidParameter', message: 'Range of max_tokens should be [1, 8192]' }],
  ['not-found', { code: 'ModelNotFound', message: 'Model can not be found.' }],
  ['timeout', { code: 'RequestTimeOut', message: 'Request timed out, please try again later.' }],
  [
    'network',
    Object.assign(new TypeError('fetch failed'), {
      cause: Object.assign(new Error('getaddrinfo ENOTFOUND x'), {
        code: 'ENOTFOUND',
        syscall: 'getaddrinfo',
        hostname: 'x',
      }),
    }),
  ],
  [
    'network',
    Object.assign(new Error('The socket connection was closed unexpectedly.'), {
      code: 'ECONNRESET',
      path: 'https://api',
    }),
  ],
  [
    'network',
    Object.assign(new Error('Unable to connect. Is the computer able to access the url?'), {
      code: 'ConnectionRefused',
      path: 'https://api',
      errno: 0,
    }),
  ],
  ['timeout', Object.assign(new Error('The operation timed out.'), { name: 'TimeoutError', code: 23 })],
  [
    'network',
    Object.assign(new TypeError('terminated'), {
      cause: Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' }),
    }),
  ],
  [
    'network',
    Object.assign(
      new AggregateError([Object.assign(new Error('connect ECONNREFUSED ::1:11434'), { code: 'ECONNREFUSED' })], ''),
      { code: 'ECONNREFUSED' },
    ),
  ],
  [
    'context-overflow',
    {
      message: 'request (42000 tokens) exceeds the available context size (32768 tokens), try increasing it',
      type: 'exceed_context_size_error',
      code: 400,
      n_prompt_tokens: 42000,
      n_ctx: 32768,
    },
  ],
  [
    'rate-limit',
    { message: 'AI_RetryError: Failed after 3 attempts. Last error: Rate limit reached', reason: 'maxRetriesExceeded' },
  ],
  ['auth', { name: 'AI_LoadAPIKeyError', message: 'OpenAI API key is missing. Pass it using the apiKey parameter' }],
  ['auth', { name: 'CredentialsProviderError', message: 'Could not load credentials from any providers' }],
  [
    'auth',
    {
      name: 'AccessDeniedException',
      message:
        'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock',
    },
  ],
  ['not-found', { name: 'ResourceNotFoundException', message: 'This model version has reached the end of its life.' }],
  [
    'invalid-request',
    { name: 'ValidationException', message: '1 validation error detected: Value at x failed to satisfy constraint' },
  ],
  ['quota', { name: 'ServiceQuotaExceededException', message: 'Your account has exceeded a service quota' }],
  // A gateway of guardrails
  [
    'content-filter',
    { status: 446, error: { message: 'The guardrail checks defined in the config failed.', type: 'hooks_failed' } },
  ],
  ['auth', { status: 400, error: { message: 'Tenant provided in token does not match resource tenant' } }],
  [
    'context-overflow',
    {
      status: 403,
      error:
        'Input token count + max_tokens parameter must be less than the context length of the model being queried.',
    },
  ],
  [
    'auth',
    {
      status: 400,
      error: {
        type: 'invalid_request_error',
        message:
          'This credential is only authorized for use with Claude Code and cannot be used for other API requests.',
      },
    },
  ],
  [
    'quota',
    { status: 429, error: { type: 'FreeUsageLimitError', message: 'Rate limit exceeded. Please try again later.' } },
  ],
  [
    'rate-limit',
    '<!DOCTYPE html><title>Access denied | api.example.com used Cloudflare to restrict access</title><h2>You are being rate limited</h2>',
  ],
  [
    'unknown',
    Object.assign(new Error("EACCES: permission denied, open '/etc/shadow'"), { code: 'EACCES', syscall: 'open' }),
  ],
  ['quota', { status: 403, message: 'token quota is not enough, token remain quota: $0.14, need quota: $0.16' }],
  ['quota', { status: 400, type: 'auth_error', message: 'ExceededTokenBudget: Current spend for token: 7.2e-05' }],
  ['auth', 'invalid_rapt: reauth related error'],
  ['auth', 'Requests to this API generativelanguage.googleapis.com method google.ai.GenerateContent are blocked.'],
  ['auth', 'Your organization must be verified to use the model `gpt-5`.'],
  ['auth', 'Encountered invalidated oauth token for user, failing request'],
  ['auth', "login fail: Please carry the API secret key in the 'Authorization' field of the request header"],
  ['auth', 'OAuth authentication is currently not supported.'],
  ['auth', 'could not validate credentials'],
  ['context-overflow', "Codex ran out of room in the model's context window. Start a new thread."],
  ['not-found', 'This model version has reached the end of its life. Please refer to the AWS documentation.'],
  ['timeout', 'the request ran longer than allowed'],
  ['timeout', 'Request exceeded maximum duration'],
  ['network', 'HTTP/2 stream was reset'],
  ['unknown', 'invalid token at line 3: unexpected identifier'],
];
