import { describe, expect, it } from 'vitest';
import { chainOf } from './chain.js';

describe('chainOf', () => {
  it('puts the model of the request first, and each model once with its settings', () => {
    const small = { model: 'small', provider: 'beta', settings: { maxOutputTokens: 5 } };
    expect(chainOf('b/2', ['a/1', 'b/2', small, 'a/1'], undefined)).toEqual([
      { model: 'b/2', provider: 'b', settings: undefined },
      { model: 'a/1', provider: 'a', settings: undefined },
      small,
    ]);
    expect(chainOf('small', ['a/1', small], 'c').map(({ provider }) => provider)).toEqual(['beta', 'a']);
  });

  it('assigns a bare name to the only provider, and no name to the driver', () => {
    expect(chainOf('gpt-5', [], 'openai')).toEqual([{ model: 'gpt-5', provider: 'openai', settings: undefined }]);
    expect(chainOf(undefined, [], undefined)).toEqual([{ model: undefined, provider: undefined, settings: undefined }]);
  });
});
