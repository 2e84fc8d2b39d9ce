import { describe, expect, it } from 'vitest';
import { describeError } from './describe-error.js';

describe('describeError', () => {
  it('reads the status, the code and the delay of a response', () => {
    const headers = new Headers({
      'Retry-After': '20',
      Authorization: 'Bearer secret',
      'x-ratelimit-reset-tokens': '1s',
    });
    const error = Object.assign(new Error('429 slow down'), { status: 429, code: 'rate_limit_exceeded', headers });
    expect(describeError(error)).toEqual({
      name: 'Error',
      message: '429 slow down',
      status: 429,
      code: 'rate_limit_exceeded',
      headers: { 'retry-after': '20', 'x-ratelimit-reset-tokens': '1s' },
    });
  });

  it('reads the response in an error', () => {
    const error = {
      message: 'no',
      response: { status: 503, headers: { 'retry-after': '1' } },
      type: 'overloaded_error',
    };
    expect(describeError(error)).toMatchObject({
      status: 503,
      code: 'overloaded_error',
      headers: { 'retry-after': '1' },
    });
  });

  it('describes values whose members throw', () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(describeError(proxy)).toEqual({ name: 'Error', message: expect.any(String) as string });
    const hostile = Object.defineProperty(new Error('x'), 'status', {
      get: () => {
        throw new Error('no');
      },
    });
    expect(describeError(hostile)).toEqual({ name: 'Error', message: 'x' });
    expect(describeError(undefined)).toMatchObject({ name: 'Error' });
  });
});
