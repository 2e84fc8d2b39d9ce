import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CueIndex, cuesOf } from './cues.js';

/** Sources of expressions over few characters, so that they match random texts. */
const { source } = fc.letrec<{ source: string; sequence: string; part: string; atom: string }>((tie) => ({
  source: fc.array(tie('sequence'), { minLength: 1, maxLength: 3 }).map((all) => all.join('|')),
  sequence: fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((all) => all.join('')),
  part: fc
    .tuple(tie('atom'), fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{0,2}', '{1,3}?'))
    .map(([atom, quantifier]) => (/^(?:\\b|\^|\(\?<?[=!])/.test(atom) ? atom : atom + quantifier)),
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', '-', ' ', '\\.', 's', 'k') },
    {
      weight: 2,
      arbitrary: fc.constantFrom('\\s', '\\w', '\\b', '.', '[ab]', '[^a]', '[a-b]', '^', '\\x61', '\\u0062'),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('(', '(?:', '(?=', '(?!', '(?<=', '(?<!'), tie('source'))
        .map(([opening, inner]) => `${opening}${inner})`),
    },
  ),
}));
const text = fc
  .array(fc.constantFrom('a', 'b', 'A', '-', ' ', '\n', '.', 's', 'k', '\u017f', '\u212a', '\u00e9', '\u00a0', '_'), {
    maxLength: 16,
  })
  .map((characters) => characters.join(''));

describe('CueIndex', () => {
  it('rejects no text that a pattern matches', () => {
    fc.assert(
      fc.property(
        fc.array(source, { minLength: 1, maxLength: 4 }),
        fc.constantFrom('', 'i', 'u', 'iu'),
        text,
        (all, flags, said) => {
          const patterns = all.map((one) => new RegExp(one, flags));
          const mayMatch = new CueIndex(patterns).in(said);
          for (const pattern of patterns) if (pattern.test(said)) expect(mayMatch(pattern)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('rejects texts without a literal of the pattern', () => {
    const [sender, sink] = [/\b(?:curl|wget)\s/, /webhook\.site|(?:ngrok|tunnel)(?:-free)?\.(?:io|app)/i];
    const index = new CueIndex([sender, sink]);
    const found = (said: string): readonly boolean[] => [sender, sink].map(index.in(said));
    expect(found('Curly braces and a secure link')).toEqual([false, false]);
    expect(found('run curl\n-d @x https://WEBHOOK.SITE/1')).toEqual([true, true]);
  });

  it('lists the literals of a pattern', () => {
    expect(cuesOf(/(?:eat|drink)s? (?:\S+ ){0,3}apples?/)).toEqual(['apple', 'apples']);
    expect(cuesOf(/[a-z]{20}/)).toBeUndefined();
  });
});
