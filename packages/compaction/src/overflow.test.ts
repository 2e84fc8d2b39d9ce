import { failure } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { errorInfoOf, isContextOverflow, windowNamedIn } from './overflow.js';

describe('isContextOverflow', () => {
  it.each([
    ['prompt is too long: 210000 tokens > 200000 maximum', { status: 400 }],
    [
      'This model’s maximum context length is 128000 tokens. However, your messages resulted in 140123 tokens.',
      { status: 400, code: 'context_length_exceeded' },
    ],
    ['Your input exceeds the context window of this model. Please adjust your input and try again.', { status: 400 }],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', { status: 400 }],
    ['Input is too long for requested model.', { status: 400 }],
    ['the request exceeds the available context size, try increasing it', { status: 400 }],
    ['Please reduce the length of the messages or completion.', { status: 400 }],
    ['Request Entity Too Large', { status: 413 }],
    ['Bad request', { status: 400, body: { error: { code: 'context_length_exceeded' } } }],
    ['input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000', { status: 400 }],
    ['Failed', { cause: failure('prompt is too long', { status: 400 }) }],
    ['too many tokens in the prompt', {}],
  ])('takes %j for one', (message, more) => {
    expect(isContextOverflow(failure(message, more))).toBe(true);
  });

  it.each([
    ['Rate limit reached: 30000 tokens per minute. Your input exceeds the limit.', { status: 429 }],
    ['Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 34521.', {}],
    ['Too many requests', { status: 429 }],
    ['You exceeded your current quota', {}],
    ['Overloaded', { status: 529 }],
    ['Internal server error', { status: 500 }],
    ['messages.3: tool_use ids were found without tool_result blocks', { status: 400 }],
    ['max_tokens: 999999 > 64000, which is the maximum allowed number of output tokens', { status: 400 }],
    ['The operation was aborted', { code: 'aborted' }],
  ])('does not take %j for one', (message, more) => {
    expect(isContextOverflow(failure(message, more))).toBe(false);
  });
});

describe('windowNamedIn', () => {
  it.each([
    ['prompt is too long: 210000 tokens > 200000 maximum', 200_000],
    ['This model’s maximum context length is 128,000 tokens. However, you requested 140123 tokens.', 128_000],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 1_048_576],
    ['prompt is too long', undefined],
    ['at most 12 images', undefined],
  ])('finds in %j %s', (message, window) => {
    expect(windowNamedIn(failure(message))).toBe(window);
  });
});

describe('errorInfoOf', () => {
  it('finds status and body where libraries put them', () => {
    expect(errorInfoOf(Object.assign(new Error('No'), { statusCode: 400, responseBody: '{"x":1}' }))).toMatchObject({
      message: 'No',
      status: 400,
      body: '{"x":1}',
    });
    expect(errorInfoOf(Object.assign(new Error('No'), { status: 413 }))).toMatchObject({ status: 413 });
    expect(errorInfoOf('just text')).toEqual({ name: 'Error', message: 'just text' });
  });
});
