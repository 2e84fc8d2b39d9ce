import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../test/samples.js';
import { approximateTokens, charsPerToken, estimateTokens, loadTokenizer } from './index.js';

describe('estimateTokens', () => {
  it.each(Object.entries(samples))('is at least the exact count of o200k_base for %s', async (_, text) => {
    const exact = (await loadTokenizer('o200k_base'))(text);
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(exact);
  });

  it.each(['prose', 'code', 'json', 'log', 'hex', 'base64', 'numbers'])(
    'is at most 45 %% too high for %s',
    async (kind) => {
      const text = samples[kind] as string;
      const exact = (await loadTokenizer('o200k_base'))(text);
      expect(estimateTokens(text)).toBeLessThanOrEqual(exact * 1.45);
    },
  );

  it('is 0 for an empty string and bounded by the length', () => {
    expect(estimateTokens('')).toBe(0);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const tokens = estimateTokens(text);
        expect(tokens).toBeGreaterThanOrEqual(text.trim() === '' ? 0 : 1);
        expect(tokens).toBeLessThanOrEqual(text.length * 2 + 1);
      }),
    );
  });

  it('does not decrease when words are appended', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(' word', '漢', '\n123', '{"a":1}'), (text, more) => {
        expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(estimateTokens(text));
      }),
    );
  });
});

describe('approximateTokens', () => {
  it.each(Object.entries(samples))('is at most a third too high for %s', async (_, text) => {
    const exact = (await loadTokenizer('o200k_base'))(text);
    expect(approximateTokens(text)).toBeLessThanOrEqual(exact * (4 / 3));
  });

  it('counts dense scripts at 0.7 tokens per character', () => {
    expect(approximateTokens('漢'.repeat(1000))).toBeCloseTo(700, 6);
  });

  it('is proportional to the length', () => {
    expect([approximateTokens(''), approximateTokens('x'.repeat(charsPerToken * 10))]).toEqual([0, 10]);
  });
});
