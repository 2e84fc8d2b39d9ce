import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { WordReader } from './wording-words.js';
import { hashBetween } from '../text/word-table.js';

/** All that a reader finds, as one expression. */
const word =
  /[a-z]+(?![\p{L}\w'.+@:/-])|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|https?:\/\/[^\s)>"']+|[\w.+-]+@[\w-]+\.\w[\w.]*|[$\u20ac\u00a3]\s?\d[\d.,]*|~?\/?(?:[\w.-]+\/)+[\w.-]+|\.[a-z]\w+|[\p{L}][\p{L}'-]*|\d+|[.!?;:"\u201c{}()`<>|=,[\]]/gu;

const parts = fc.oneof(
  fc.constantFrom(...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))),
  fc.constantFrom(
    'the',
    'http',
    'https://',
    ' ',
    '. ',
    ': ',
    "'s",
    '.env',
    '~/',
    'a/b',
    'me@',
    '€',
    '£ 5',
    '漢',
    '한',
    'é',
  ),
  fc.constantFrom('\u{1f600}', '\u{1d4d0}', '\ud835', '\udc00', '“'),
);

it('finds the words of an expression in any text', () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 40 }), (list) => {
      const text = list.join('');
      const reader = new WordReader(text);
      const found: string[] = [];
      while (reader.next()) {
        found.push(text.slice(reader.start, reader.end));
        expect(reader.hash).toBe(hashBetween(text, reader.start, reader.end));
      }
      expect(found).toEqual(text.match(word) ?? []);
    }),
    { numRuns: 2000 },
  );
});
