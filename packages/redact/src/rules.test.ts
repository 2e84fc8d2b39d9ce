import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosen, frames } from '../test/printed.js';
import { randomValue, tokenMakers } from '../test/secrets.js';
import { Reader } from './text/reader.js';
import { rules } from './rules.js';

const value = fc.oneof(
  fc.constantFrom(...chosen),
  fc.integer({ min: 1, max: 1e6 }).map((seed) => randomValue(seed, 24)),
  fc.tuple(fc.constantFrom(...tokenMakers), fc.integer({ min: 1, max: 1e6 })).map(([[, make], seed]) => make(seed)),
);
const framed = fc.tuple(fc.constantFrom(...frames), value).map(([[, frame], secret]) => frame(secret));
const text = fc
  .tuple(fc.array(framed, { minLength: 1, maxLength: 2 }), fc.constantFrom('', ' ', '\n', '"', ':', '='), fc.nat(40))
  .map(([parts, joint, cut]) => parts.join(joint).slice(cut > 30 ? cut - 30 : 0));

/** Returns the detectors that find a secret at an offset at which their guards rule it out. */
const missed = (whole: string, isWhole: boolean): readonly string[] =>
  rules.flatMap(([before, character, find, mayFind]) =>
    Array.from(whole, (_, index) => index).flatMap((index) => {
      const isCandidate = index > 0 && character.test(whole.charAt(index)) && before.test(whole.charAt(index - 1));
      if (!isCandidate || mayFind === undefined || mayFind(whole, index)) return [];
      const place = { from: 0, isWhole, isBeginning: true, barrier: 0, ahead: [] };
      const found = find(new Reader(whole, { replacement: '[redacted]' }, place), index);
      return found === undefined ? [] : [`${find.name} at ${index}`];
    }),
  );

describe('guards', () => {
  it('rule out no offset at which a detector finds a secret', () => {
    fc.assert(
      fc.property(text, (whole) => {
        expect(missed(whole, true)).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('rule out no offset of an unfinished text at which a detector finds a secret', () => {
    fc.assert(
      fc.property(text, fc.nat(200), (whole, cut) => {
        expect(missed(whole.slice(0, Math.max(2, whole.length - cut)), false)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
