import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scan } from './scan.js';
import { similarity } from './word-sample.js';

describe('similarity', () => {
  const text = fc.array(fc.constantFrom(...'one two three four five six seven eight nine ten'.split(' ')), {
    maxLength: 12,
  });

  it('is the share of common words of two short texts', () => {
    fc.assert(
      fc.property(text, text, (left, right) => {
        const [one, two] = [new Set(left), new Set(right)];
        const all = new Set([...one, ...two]).size;
        const expected = all === 0 ? 1 : [...one].filter((each) => two.has(each)).length / all;
        expect(similarity(scan(left.join(' ')).words, scan(right.join(' ')).words)).toBeCloseTo(expected);
      }),
    );
  });

  it('is an estimate for long texts', () => {
    const words = Array.from(
      { length: 400 },
      (_, index) =>
        `w${'abcdefghij'[index % 10]}${'klmnopqrst'[Math.floor(index / 10) % 10]}${'uvwxyz'[Math.floor(index / 100)]}`,
    );
    const of = (list: readonly string[]): readonly number[] => scan(list.join(' ')).words;
    expect(
      similarity(of(words), of(words.map((each, index) => (index % 20 === 0 ? `x${each}` : each)))),
    ).toBeGreaterThan(0.6);
    expect(similarity(of(words.slice(0, 200)), of(words.slice(200)))).toBeLessThan(0.3);
  });
});
