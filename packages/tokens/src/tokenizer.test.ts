import fc from 'fast-check';
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite';
import { beforeAll, describe, expect, it } from 'vitest';
import { samples } from '../test/samples.js';
import { encodingOf, loadTokenizer, type Encoding } from './index.js';

const packed: Readonly<Record<Encoding, () => Promise<{ readonly default: TiktokenBPE }>>> = {
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
};

describe.each<Encoding>(['o200k_base', 'cl100k_base'])('the %s tokenizer', (encoding) => {
  let reference: Tiktoken;
  let count: (text: string) => number;

  beforeAll(async () => {
    reference = new Tiktoken((await packed[encoding]()).default);
    count = await loadTokenizer(encoding);
  }, 120_000);

  it.each(Object.entries(samples))('counts %s as js-tiktoken does', (_, text) => {
    expect(count(text)).toBe(reference.encode(text, [], []).length);
  });

  it('counts any text with words of ordinary length as js-tiktoken does', () => {
    const unit = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.constantFrom(
        ' ',
        '\n',
        '\r\n',
        '\t',
        "'s",
        "'LL",
        '123',
        'hello',
        'Über',
        '漢字',
        '👩‍💻',
        'e\u0301',
        '----',
        '//\n',
      ),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 20 }), (parts) => {
        const text = parts.join('').toWellFormed();
        fc.pre(!/[^\s]{60}|\s{60}/u.test(text));
        expect(count(text)).toBe(reference.encode(text, [], []).length);
      }),
      { numRuns: 300 },
    );
  });

  it('counts the names of special tokens as plain text', () => {
    const text = 'cat log.txt: <|endoftext|> and <|endofprompt|>';
    expect(() => reference.encode(text)).toThrow('special token');
    expect(count(text)).toBe(reference.encode(text, [], []).length);
  });

  it('counts lone surrogates and the empty string', () => {
    expect(count('')).toBe(0);
    expect(count('a\ud83d b\udc4d')).toBeGreaterThan(2);
  });

  it.each([
    ['a letter', 'a'],
    ['a capital', 'A'],
    ['a space', ' '],
    ['a line break', '\n'],
    ['a symbol', '='],
    ['a Chinese character', '漢'],
    ['a combining mark', '\u0301'],
    ['an emoji', '👍'],
    ['a capital and a symbol', 'A!'],
    ['two kinds of spaces', ' \u00a0'],
    ['an apostrophe', "'"],
  ])('counts a megabyte of %s in linear time', (_, unit) => {
    const once = count(unit.repeat(64));
    const tokens = count(unit.repeat(2 ** 20 / unit.length));
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual((once + 2) * (2 ** 20 / (32 * unit.length)));
  });
});

describe('encodingOf', () => {
  it.each([
    ['gpt-5-mini', 'o200k_base'],
    ['openai/gpt-4o', 'o200k_base'],
    ['o3', 'o200k_base'],
    ['gpt-4-turbo', 'cl100k_base'],
    ['gpt-3.5-turbo', 'cl100k_base'],
    ['anthropic/claude-sonnet-4-5', undefined],
    ['o3x', undefined],
    [undefined, undefined],
  ])('returns the vocabulary of %s', (model, encoding) => {
    expect(encodingOf(model)).toBe(encoding);
  });
});

describe('loadTokenizer', () => {
  it('rejects an unknown encoding', async () => {
    await expect(loadTokenizer('p50k_base' as Encoding)).rejects.toThrow(
      'loadTokenizer(): "encoding" must be "o200k_base" or "cl100k_base"; received "p50k_base".',
    );
  });
});
