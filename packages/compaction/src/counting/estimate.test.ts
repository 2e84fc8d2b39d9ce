import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/samples.js';
import { estimateTokens } from './estimate.js';
import { createTokenizer } from './tokenizer.js';
import { loadVocabulary } from './vocabulary.js';

describe('estimateTokens', () => {
  it.each(Object.entries(samples))(
    'counts at least as many tokens of %s as the tokenizer of today',
    async (_, text) => {
      const exact = createTokenizer(await loadVocabulary('o200k_base'))(text);
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(exact);
    },
  );

  it.each(['prose', 'code', 'json', 'log', 'hex', 'base64', 'numbers'])(
    'counts no more than 45 %% too many of %s',
    async (kind) => {
      const text = samples[kind] as string;
      const exact = createTokenizer(await loadVocabulary('o200k_base'))(text);
      expect(estimateTokens(text)).toBeLessThanOrEqual(exact * 1.45);
    },
  );

  it('counts nothing in nothing, and something in anything', () => {
    expect(estimateTokens('')).toBe(0);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        const tokens = estimateTokens(text);
        expect(tokens).toBeGreaterThanOrEqual(text.trim() === '' ? 0 : 1);
        expect(tokens).toBeLessThanOrEqual(text.length * 2 + 1);
      }),
    );
  });

  it('counts more of a longer text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(' word', '漢', '\n123', '{"a":1}'), (text, more) => {
        expect(estimateTokens(text + more)).toBeGreaterThanOrEqual(estimateTokens(text));
      }),
    );
  });
});
