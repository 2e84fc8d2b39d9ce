import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { publicHeaders, withoutSecrets } from './secrets.js';

describe('withoutSecrets', () => {
  it.each([
    'sk-proj-Ab3dEf6hIj9lMnOpQrStUvWxYz0123456789',
    'sk-ant-api03-Ab3dEf6hIj9lMnOpQrSt_UvWxYz-0123456789AA',
    'gsk_Ab3dEf6hIj9lMnOpQrStUvWxYz0123',
    'xai-Ab3dEf6hIj9lMnOpQrStUvWxYz0123',
    'AIzaSyA1234567890abcdefghijklmnopqrstuv',
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_Ab3dEf6hIj9lMnOpQrStUvWxYz0123456789',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
  ])('removes %s', (key) => {
    expect(withoutSecrets(`Incorrect API key provided: ${key}. See the docs.`)).toBe(
      'Incorrect API key provided: [redacted]. See the docs.',
    );
  });

  it.each([
    ['Authorization: Bearer abc123def456, and more', 'Authorization: Bearer [redacted], and more'],
    [
      'Headers.append: "my"odd\nkey" is an invalid header value.',
      'Headers.append: [redacted] is an invalid header value.',
    ],
    ['GET /v1/models?key=abc123def&alt=sse failed', 'GET /v1/models?key=[redacted]&alt=sse failed'],
  ])('removes the credential from %j', (text, expected) => {
    expect(withoutSecrets(text)).toBe(expected);
  });

  it.each([
    'The model claude-opus-4-1-20250805-thinking is not available.',
    'Request req_011CSHoEeqs5C35K2UUqR7Fy failed for msg_01XFDUDYJgAACzvnptvVoYEL.',
    'A risk-adjusted and task-specific-evaluation-of-2025 was asked for.',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8, id 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    'sk-learn-compatible-models-are-not-supported',
  ])('does not change %j', (text) => {
    expect(withoutSecrets(text)).toBe(text);
  });

  it('takes linear time for any text', () => {
    const nasty = fc.constantFrom('sk-', 'Bearer ', 'eyJ', '.', '-', 'a', '?key=', 'sk-sk-', 'Headers.append: "');
    fc.assert(
      fc.property(nasty, (piece) => {
        withoutSecrets(piece.repeat(5_000));
      }),
    );
  });
});

describe('publicHeaders', () => {
  it('omits cookies and credentials in any letter case', () => {
    expect(
      publicHeaders({
        'Retry-After': '3',
        'Set-Cookie': 'a=1',
        Authorization: 'Bearer x',
        'x-api-key': 'k',
        'x-note': 'Bearer abcdefghij',
      }),
    ).toEqual({ 'retry-after': '3', 'x-note': 'Bearer [redacted]' });
  });
});
