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

const alphabetFrom = (first: number): string =>
  Array.from({ length: 26 }, (_, index) => String.fromCodePoint(first + index)).join('');

it.each([
  ['negative circled', 0x1f150],
  ['negative squared', 0x1f170],
  ['squared', 0x1f130],
  ['regional', 0x1f1e6],
  ['circled', 0x24b6],
  ['fullwidth', 0xff21],
  ['mathematical bold', 0x1d400],
])('folds %s letters to the alphabet', (_, first) => {
  expect(fold(alphabetFrom(first)).text).toBe('abcdefghijklmnopqrstuvwxyz');
});

it.each(['ᗩᗷᑕᗪᕮᖴᘜᕼᓰᒍᛕᒪᗰᑎᝪᑭᑫᖇᔕᒥᑌᐯᗯ᙭ᖻᘔ', 'ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑ', 'ᎪᏴᏟᎠᎬᎨᏀᎻᏆᎫᏦᏞᎷᏁ'])(
  'folds letters of other scripts that look Latin: %s',
  (letters) => {
    expect(fold(letters).text).toBe('abcdefghijklmnopqrstuvwxyz'.slice(0, Array.from(letters).length));
  },
);

it('leaves flags alone', () => {
  expect(fold('\u{1f1e9}\u{1f1ea} and \u{1f1eb}\u{1f1f7}').text).not.toMatch(/de|fr/);
});
