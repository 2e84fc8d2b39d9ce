import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashBetween, WordTable } from './word-table.js';

const words = fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 300 });

it('returns the values of its words, wherever a text has them, and of no others', () => {
  fc.assert(
    fc.property(words, fc.string({ maxLength: 12 }), (known, text) => {
      const values = new Map(known.map((word, index) => [word, index]));
      const table = new WordTable(values);
      for (const [word, value] of values) expect(table.get(word)).toBe(value);
      for (let start = 0; start <= text.length; start += 1) {
        for (let end = start; end <= text.length; end += 1) {
          const expected = values.get(text.slice(start, end));
          expect(table.find(text, start, end, hashBetween(text, start, end))).toBe(expected);
        }
      }
    }),
  );
});
