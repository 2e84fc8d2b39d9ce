import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { json, recordedErrors, type RecordedError } from '../test/recorded-errors.js';
import { withHeaders, withoutHeaders } from '../test/surroundings.js';
import { errorReasons } from './reasons.js';
import { classifyError } from './classify-error.js';

const nowOf = ({ headers }: RecordedError): number => Date.parse(headers?.['date'] ?? '1970-01-01');

describe('classifyError, given the data of a turn', () => {
  it.each(
    recordedErrors.map(
      (fixture) => [`${fixture.provider} ${fixture.status ?? ''}`, json(fixture.body).slice(0, 160), fixture] as const,
    ),
  )('classifies %s: %s', (_, __, fixture) => {
    const { status, headers, body, expected } = fixture;
    const data = { name: 'AI_APICallError', message: 'The call failed.', status, headers, body };
    expect(classifyError(data, { now: nowOf(fixture) })).toMatchObject(expected);
  });
});

describe('classifyError, given an answer with its headers', () => {
  it.each(Object.entries(withHeaders))('classifies it as %s', (_, surround) => {
    for (const fixture of recordedErrors) {
      expect(classifyError(surround(fixture), { now: nowOf(fixture) })).toMatchObject(fixture.expected);
    }
  });
});

describe('classifyError, given an answer without its headers', () => {
  const answers = recordedErrors.filter(({ status, body }) => status !== undefined && typeof body === 'object');

  it.each(Object.entries(withoutHeaders))('finds the same reasons in %s', (_, surround) => {
    const missed = answers.filter((fixture) => classifyError(surround(fixture)).reason !== fixture.expected.reason);
    expect(missed.map(({ body }) => body)).toEqual([]);
  });
});

describe('classifyError', () => {
  it.each([
    ['ECONNRESET', 'network'],
    ['ECONNREFUSED', 'network'],
    ['ENOTFOUND', 'network'],
    ['UND_ERR_SOCKET', 'network'],
    ['incomplete-stream', 'network'],
    ['ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC', 'network'],
    ['ETIMEDOUT', 'timeout'],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout'],
    ['UND_ERR_BODY_TIMEOUT', 'timeout'],
    ['first-byte-timeout', 'timeout'],
    ['idle-timeout', 'timeout'],
    ['model-failed', 'server-error'],
    ['empty-response', 'empty-response'],
    ['aborted', 'aborted'],
    ['unknown-model', 'not-found'],
    ['credential-unavailable', 'auth'],
    ['invalid-input', 'invalid-request'],
    ['script-over', 'unknown'],
  ])('classifies the code %s as %s', (code, reason) => {
    const error = Object.assign(new Error('It failed.'), { code });
    expect(classifyError({ name: 'Error', message: 'It failed.', code }).reason).toBe(reason);
    expect(classifyError(new TypeError('fetch failed', { cause: error })).reason).toBe(
      reason === 'unknown' || reason === 'aborted' ? reason.replace('unknown', 'network') : reason,
    );
  });

  it.each([
    ['an abort by the user', new DOMException('This operation was aborted', 'AbortError'), 'aborted'],
    ['a deadline', new DOMException('The operation was aborted due to timeout', 'TimeoutError'), 'timeout'],
    ['a broken connection', new TypeError('terminated', { cause: new Error('other side closed') }), 'network'],
    ['a message alone', 'fetch failed', 'network'],
    [
      'a stream event that is not JSON',
      Object.assign(new Error('JSON parsing failed'), { name: 'AI_JSONParseError' }),
      'network',
    ],
    [
      'several errors in one',
      new AggregateError([Object.assign(new Error(), { code: 'ECONNREFUSED' })], 'All failed.'),
      'network',
    ],
    [
      'the last of several attempts',
      Object.assign(new Error('Failed after 3 attempts.'), { lastError: { statusCode: 529 } }),
      'overloaded',
    ],
    [
      'metadata of Amazon',
      Object.assign(new Error('Too many tokens, please wait before trying again.'), {
        name: 'ThrottlingException',
        $metadata: { httpStatusCode: 429, attempts: 3 },
      }),
      'rate-limit',
    ],
    ['nothing', undefined, 'unknown'],
    ['null', null, 'unknown'],
    ['a number', 17, 'unknown'],
  ])('classifies %s', (_, error, reason) => {
    expect(classifyError(error).reason).toBe(reason);
  });

  it.each<[Record<string, string>, number | undefined]>([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'Retry-After': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Thu, 01 Jan 1970 00:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Wed, 31 Dec 1969 23:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '999999999999' }, 31 * 86_400_000],
    [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
    [{ 'retry-after': '2', 'x-ratelimit-reset-tokens': '6m0s' }, 2_000],
    [{ 'x-ratelimit-reset-requests': '1h2m3s', 'x-ratelimit-reset-tokens': '20ms' }, 20],
    [{ 'x-ratelimit-reset': '90' }, 90_000],
    [{ 'x-ratelimit-reset': '1700000000' }, 31 * 86_400_000],
    [{ 'ratelimit-reset': '7', 'ratelimit-remaining': '0' }, 7_000],
    [
      { 'anthropic-ratelimit-tokens-reset': '1970-01-01T00:00:30Z', 'anthropic-ratelimit-tokens-remaining': '0' },
      30_000,
    ],
    [
      {
        'x-ratelimit-reset-requests': '2s',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-tokens': '42s',
        'x-ratelimit-remaining-tokens': '0',
      },
      42_000,
    ],
    [{ 'x-ratelimit-reset-tokens': 'never' }, undefined],
    [{ 'x-ms-retry-after-ms': '3000' }, 3_000],
    [{ ratelimit: 'limit=100, remaining=0, reset=5' }, 5_000],
    [{ ratelimit: '"default";r=0;t=5' }, 5_000],
  ])('reads the wait from %o: %s', (headers, retryAfterMs) => {
    expect(classifyError({ status: 429, headers }, { now: 0 }).retryAfterMs).toBe(retryAfterMs);
  });

  it('ignores rate-limit headers of other failures', () => {
    const headers = { 'x-ratelimit-reset-tokens': '6m0s', 'x-ratelimit-remaining-tokens': '0' };
    expect(classifyError({ status: 500, headers }).retryAfterMs).toBeUndefined();
    expect(classifyError({ status: 401, headers: { 'retry-after': '5' } }).retryAfterMs).toBeUndefined();
  });

  it('uses the status of the outermost layer, unless a gateway has failed because the provider refused', () => {
    const upstream = (code: number) => ({ error: { code, message: 'Upstream said no.' } });
    expect(classifyError({ body: upstream(503), status: 502 })).toMatchObject({ status: 502, reason: 'server-error' });
    expect(classifyError({ body: upstream(429), status: 401 })).toMatchObject({ status: 401, reason: 'auth' });
    expect(classifyError({ body: upstream(401), status: 502 })).toMatchObject({ status: 401, reason: 'auth' });
  });

  it.each([
    [401, 'invalid x-api-key', 'auth'],
    [404, 'The model `gpt-6` does not exist.', 'not-found'],
    [400, 'Input data may contain inappropriate content.', 'content-filter'],
  ])('finds a refusal (%i) that a gateway reports as 502: %s', (_, message, reason) => {
    expect(classifyError({ status: 502, error: { message, type: 'upstream_error' } }).reason).toBe(reason);
  });

  it('does not revoke a credential because a server failed', () => {
    const error = { status: 500, message: 'The user task was terminated.' };
    expect(classifyError(error)).toMatchObject({ reason: 'server-error', retryable: true });
  });

  it.each<[unknown, number]>([
    [{ details: [{ '@type': 'google.rpc.RetryInfo', retryDelay: { seconds: '30', nanos: 500_000_000 } }] }, 30_500],
    ['Rate limit exceeded. Retry-After: 30', 30_000],
    ["RateLimitError: {'message': 'Slow down.', 'retry_after_ms': 1500}", 1_500],
    ['Rate limit reached, resets at 1970-01-01T01:00:00+00:00 (2056)', 3_600_000],
    ['请求过于频繁，请在 90 秒后重试', 90_000],
    ['You have reached your usage limits. You will regain access on 1970-01-02 at 01:30 UTC.', 91_800_000],
  ])('reads the wait from the body %o', (body, retryAfterMs) => {
    expect(classifyError({ status: 429, body }, { now: 0 }).retryAfterMs).toBe(retryAfterMs);
  });

  it('prefers the clock of the provider to the local clock', () => {
    const headers = { date: 'Sat, 21 Nov 2026 12:00:00 GMT', 'retry-after': 'Sat, 21 Nov 2026 12:00:09 GMT' };
    expect(classifyError({ status: 429, headers }).retryAfterMs).toBe(9_000);
  });

  it('classifies any value', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true, withTypedArray: true }),
        (error) => {
          expect(Object.keys(errorReasons)).toContain(classifyError(error, { now: 0 }).reason);
        },
      ),
    );
  });

  it('reports what decided', () => {
    expect(classifyError({ status: 400, message: 'Your credit balance is too low.' }).evidence).toBe(
      'message "credit balance is too low"',
    );
    expect(classifyError({ code: 'insufficient_quota' }).evidence).toBe('code "insufficientquota"');
    expect(classifyError({ status: 402 }).evidence).toBe('status 402');
  });

  it('tells a prompt that fills the window from an output limit that is too large', () => {
    const message = (input: number) =>
      `'max_tokens' is too large: 4096. This model's maximum context length is 32768 tokens and your request has ${input} input tokens (4096 > 32768 - ${input}).`;
    expect(classifyError({ status: 400, message: message(30_000) }).reason).toBe('context-overflow');
    expect(classifyError({ status: 400, message: message(900) }).reason).toBe('invalid-request');
  });

  it('classifies a revoked proxy and accessors that throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    const throwing = Object.defineProperty({ status: 429 }, 'message', {
      enumerable: true,
      get: () => {
        throw new Error('No');
      },
    });
    expect(classifyError(proxy).reason).toBe('unknown');
    expect(classifyError({ cause: proxy, status: 429 }).reason).toBe('rate-limit');
    expect(classifyError(throwing).reason).toBe('rate-limit');
  });

  it('reads the beginning of a large body of bytes', () => {
    const body = Buffer.alloc(50_000_000, 'x');
    body.write('{"error":{"code":"insufficient_quota"}}');
    expect(classifyError({ status: 429, response: { data: body } }).reason).toBe('quota');
  });

  it('takes linear time on hostile errors', () => {
    const loop: { cause?: unknown } = {};
    loop.cause = loop;
    const hostileOf = (size: number): readonly unknown[] => [
      loop,
      { message: '{'.repeat(200 * size) },
      { message: `${'{"a":'.repeat(20 * size)}1${'}'.repeat(20 * size)}` },
      { message: `${'{"a":['.repeat(20 * size)}1${']}'.repeat(19 * size)}` },
      { message: '\\"{'.repeat(20 * size) },
      { message: 'context window '.repeat(20 * size) },
      { message: 'exceed '.repeat(40 * size) },
      { message: `try again in ${'1m'.repeat(50 * size)}` },
      { message: 'model '.repeat(50 * size), status: 404 },
      {
        headers: Object.fromEntries(
          Array.from({ length: 5 * size }, (_, index) => [`x-ratelimit-a${'b-'.repeat(index % 50)}`, '1']),
        ),
        status: 429,
      },
      Array.from({ length: 100 * size }, () => ({ code: 'x' })),
    ];
    const work = (size: number): number => {
      const hostile = hostileOf(size);
      const start = process.cpuUsage();
      for (const error of hostile) classifyError(error, { now: 0 });
      return process.cpuUsage(start).user;
    };
    work(50);
    // The errors are 16 times as large: quadratic work would take 256 times as long.
    expect(work(960) / Math.max(2_000, work(60))).toBeLessThan(100);
  });
});
