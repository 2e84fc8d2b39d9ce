import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { fold } from './fold.js';

const ascii = fc
  .array(fc.constantFrom('a', 'B', '-', '\n', '-\n', ' ', '\t', '*', '_', '~', '.', '<'), { maxLength: 60 })
  .map((parts) => parts.join(''));

it('folds ASCII in the same way with and without other characters behind it', () => {
  fc.assert(
    fc.property(ascii, (text) => {
      const alone = fold(text);
      const followed = fold(`${text}\u00e9\ufdfa`);
      expect(followed.text.slice(0, alone.text.length + 1)).toBe(`${alone.text}e`);
      for (let place = 0; place < alone.text.length; place += 1) expect(followed.at(place)).toBe(alone.at(place));
      expect(alone.at(alone.text.length)).toBe(text.length);
    }),
  );
});

it('gives each character of a long expansion the place of its origin', () => {
  const { text, at } = fold('\ufdfa'.repeat(100));
  expect(text).toHaveLength(400);
  for (let place = 0; place < text.length; place += 1) expect(at(place)).toBe(Math.floor(place / 4));
});
