import { APICallError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { toErrorInfo } from './error-info.js';

const apiError = (details: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({
    message: 'It failed.',
    url: 'https://api.example/v1?key=abc',
    requestBodyValues: { messages: ['private'] },
    ...details,
  });

describe('toErrorInfo', () => {
  it('contains no data of the request', () => {
    const text = JSON.stringify(toErrorInfo(apiError({ statusCode: 400 })));
    expect(text).not.toContain('private');
    expect(text).not.toContain('api.example');
  });

  it.each([
    [{ error: { type: 'invalid_request_error', code: 'context_length_exceeded' } }, 'context_length_exceeded'],
    [{ type: 'error', error: { type: 'overloaded_error' } }, 'overloaded_error'],
    [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 'RESOURCE_EXHAUSTED'],
    [{ code: 'no_quota' }, 'no_quota'],
    [{ message: 'nothing more' }, undefined],
  ])("takes the provider's word from %j", (body, code) => {
    expect(toErrorInfo(apiError({ statusCode: 400, responseBody: JSON.stringify(body) })).code).toBe(code);
  });

  it('keeps nested causes up to a limit', () => {
    const deep = [1, 2, 3, 4, 5, 6, 7].reduce<Error>(
      (cause, level) => new Error(`level ${level}`, { cause }),
      new Error('bottom'),
    );
    let depth = 0;
    for (let info = toErrorInfo(deep); info.cause; info = info.cause) depth += 1;
    expect(depth).toBe(5);
    const circular = new Error('round');
    circular.cause = circular;
    expect(toErrorInfo(circular).message).toBe('round');
  });

  it('uses the code of the cause if the error has none', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(toErrorInfo(new TypeError('fetch failed', { cause })).code).toBe('ECONNREFUSED');
  });

  it.each([
    ['a text', { name: 'Error', message: 'a text' }],
    [undefined, { name: 'Error', message: 'undefined' }],
    [
      { message: 'plain', code: 'odd' },
      { name: 'StreamError', message: 'plain', code: 'odd', body: { message: 'plain', code: 'odd' } },
    ],
    [{ any: 1 }, { name: 'StreamError', message: 'The provider sent an error inside the stream.', body: { any: 1 } }],
    [
      { type: 'error', response: { error: { message: 'inner', code: 'deep' } } },
      {
        name: 'StreamError',
        message: 'inner',
        code: 'deep',
        body: { type: 'error', response: { error: { message: 'inner', code: 'deep' } } },
      },
    ],
  ])('converts %j', (thrown, expected) => {
    expect(toErrorInfo(thrown)).toEqual(expected);
  });

  it('truncates a long message', () => {
    expect(toErrorInfo(new Error('x'.repeat(10_000))).message).toBe(`${'x'.repeat(4_096)} [… 5904 more characters]`);
  });

  it('redacts a key at the truncation point', () => {
    const key = 'sk-ant-api03-Ab3dEf6hIj9lMnOpQrSt';
    const { body } = toErrorInfo(apiError({ responseBody: `${'x '.repeat(8_185)}${key} and more${'.'.repeat(100)}` }));
    expect(body).not.toContain('sk-ant');
    expect(body).toMatch(/ \[… \d+ more characters\]$/);
  });

  it('accepts data that cannot be serialized as JSON', () => {
    const frame: Record<string, unknown> = { message: 'round' };
    frame['self'] = frame;
    expect(toErrorInfo(frame)).toEqual({ name: 'StreamError', message: 'round' });
  });
});
