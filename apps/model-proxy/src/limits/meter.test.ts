import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputTokensOf } from './meter.js';

const run = fc
  .tuple(fc.integer({ min: 1, max: 6_500 }), fc.constantFrom('a', 'Z', '0', '+', '/'))
  .map(([length, char]) => char.repeat(length));
const gap = fc.constantFrom(' ', '"', '\\n', '==', ' - ', '…');

/** The definition, without regard to time: runs of 2,000 characters or more count as 1,500 tokens. */
const expected = (text: string): number => {
  const runs = (text.match(/[A-Za-z0-9+/]+/g) ?? []).filter(({ length }) => length >= 2_000);
  const encoded = runs.reduce((sum, { length }) => sum + length, 0);
  return Math.ceil((text.length - encoded) / 3.5) + runs.length * 1_500;
};

describe('inputTokensOf', () => {
  it('counts every run of encoded data once, wherever it is', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(run, gap), { maxLength: 8 }), (pieces) => {
        const text = pieces.flat().join('');
        expect(inputTokensOf(text)).toBe(expected(text));
      }),
    );
  });

  it('is linear for runs that are just too short', () => {
    const short = `${'a'.repeat(1_999)} `;
    expect(inputTokensOf(short.repeat(20_000))).toBe(Math.ceil((2_000 * 20_000) / 3.5));
  });
});
