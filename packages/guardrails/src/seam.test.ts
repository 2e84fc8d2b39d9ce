import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatedAtSeam, SeamFilter } from './truncation-recovery.js';

describe('repeatedAtSeam', () => {
  it.each<readonly [string, string, string, number]>([
    ['a sentence', 'It was the best of times, it was the', 'best of times, it was the worst', 25],
    ['a line from its beginning', 'one();\ntwoOrThree(1, ', 'twoOrThree(1, 2);', 14],
    ['all of it', 'const answer = ', 'const answer = 42;', 15],
    ['a short word', 'It was the', 'the worst', 0],
    ['the middle of a word', 'xxunfortunately', 'unfortunately not', 0],
    ['a row of dashes', 'Title\n--------------------', '--------------------\nText', 0],
    ['indentation', 'if (a) {\n                ', '                b();', 0],
    ['nothing', 'It was the best', ' of times', 0],
    ['nothing, after nothing', '', 'Anything at all', 0],
    ['something, before nothing', 'Anything at all', '', 0],
  ])('knows %s', (_, before, next, repeated) => {
    expect(repeatedAtSeam(before, next)).toBe(repeated);
  });

  it('never counts more than a true repeat', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n', 'é', '😀'), maxLength: 60 });
    fc.assert(
      fc.property(text, text, (before, next) => {
        const repeated = repeatedAtSeam(before, next);
        expect(before.endsWith(next.slice(0, repeated))).toBe(true);
      }),
    );
  });

  it('finds every repeat that begins at a word', () => {
    const words = fc.array(fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon'), {
      minLength: 4,
      maxLength: 12,
    });
    fc.assert(
      fc.property(words, fc.string({ maxLength: 20 }), (given, rest) => {
        const repeat = given.slice(1).join(' ');
        expect(repeatedAtSeam(given.join(' '), repeat + rest)).toBeGreaterThanOrEqual(repeat.length);
      }),
    );
  });

  it('takes linear time on text that nearly repeats everywhere', () => {
    const work = (count: number): number => {
      const before = 'ab'.repeat(20 * count);
      const started = process.cpuUsage();
      for (let round = 0; round < 20; round += 1) repeatedAtSeam(before, `${'ab'.repeat(count)}c`);
      return process.cpuUsage(started).user;
    };
    work(500);
    // The texts are 16 times as long: quadratic work would take 256 times as long.
    expect(work(8_000) / Math.max(2_000, work(500))).toBeLessThan(100);
  });
});

describe('SeamFilter', () => {
  it('shows the same in pieces as in one', () => {
    const word = fc.constantFrom('alpha ', 'beta ', 'a', '\n', 'gamma, delta ');
    const text = fc.array(word, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(
        text,
        fc.nat(60),
        text,
        fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
        (before, from, rest, sizes) => {
          const next = before.slice(from) + rest;
          const filter = new SeamFilter(before);
          let shown = '';
          let place = 0;
          for (let piece = 0; place < next.length; piece += 1) {
            const size = sizes[piece % sizes.length] ?? 1;
            shown += filter.take(next.slice(place, place + size));
            place += size;
          }
          shown += filter.flush();
          expect(shown).toBe(next.slice(repeatedAtSeam(before, next)));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('holds back no piece that cannot be a repeat', () => {
    const filter = new SeamFilter('It was the best of times, ');
    expect(['it ', 'was ', 'the ', 'worst'].map((piece) => filter.take(piece))).toEqual([
      'it ',
      'was ',
      'the ',
      'worst',
    ]);
  });
});
