import fc from 'fast-check';
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite';
import { beforeAll, describe, expect, it } from 'vitest';
import { samples } from '../../test/samples.js';
import { createTokenizer } from './tokenizer.js';
import { loadVocabulary, type Encoding } from './vocabulary.js';

const packed: Readonly<Record<Encoding, () => Promise<{ readonly default: TiktokenBPE }>>> = {
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
};

describe.each<Encoding>(['o200k_base', 'cl100k_base'])('the tokenizer of %s', (encoding) => {
  let reference: Tiktoken;
  let count: (text: string) => number;

  beforeAll(async () => {
    reference = new Tiktoken((await packed[encoding]()).default);
    count = createTokenizer(await loadVocabulary(encoding));
  }, 120_000);

  it.each(Object.entries(samples))('counts %s as js-tiktoken does', (_, text) => {
    expect(count(text)).toBe(reference.encode(text, [], []).length);
  });

  it('counts any text as js-tiktoken does, as long as its words are not endless', () => {
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

  it('counts the names of special tokens as the text that they are', () => {
    const text = 'cat log.txt: <|endoftext|> and <|endofprompt|>';
    expect(() => reference.encode(text)).toThrow('special token');
    expect(count(text)).toBe(reference.encode(text, [], []).length);
  });

  it('counts lone surrogates and the empty text', () => {
    expect(count('')).toBe(0);
    expect(count('a\ud83d b\udc4d')).toBeGreaterThan(2);
  });

  it.each([
    ['a letter', 'a'],
    ['a capital', 'A'],
    ['a blank', ' '],
    ['a line break', '\n'],
    ['a sign', '='],
    ['a Chinese character', '漢'],
    ['a mark', '\u0301'],
    ['an emoji', '👍'],
    ['a capital and a sign', 'A!'],
    ['blanks of two kinds', ' \u00a0'],
    ['an apostrophe', "'"],
  ])('counts a megabyte of %s in parts, close to what it has by the piece', (_, unit) => {
    const once = count(unit.repeat(64));
    const tokens = count(unit.repeat(2 ** 20 / unit.length));
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual((once + 2) * (2 ** 20 / (32 * unit.length)));
  });
});
