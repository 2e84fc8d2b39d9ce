import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { charactersOf, hasRun, runsOf } from './regions.js';

const text = fc.array(fc.tuple(fc.constantFrom('a', 'b', '-', '\u00e9'), fc.nat(9)), { maxLength: 12 });

it('finds a run of characters exactly if an expression does', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 16 }), (runs, min) => {
      const joined = runs.map(([character, times]) => character.repeat(times)).join('');
      const expected = new RegExp(`[ab]{${min}}`).test(joined);
      expect(hasRun(joined, min, (code) => code === 97 || code === 98)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

it('returns the runs of characters that an expression matches', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 16 }), (runs, min) => {
      const joined = runs.map(([character, times]) => character.repeat(times)).join('');
      const expected = Array.from(joined.matchAll(new RegExp(`[ab]{${min},}`, 'g')), ({ 0: match, index }) => ({
        start: index,
        end: index + match.length,
      }));
      expect(runsOf(joined, min, charactersOf(/[ab]/, false))).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
