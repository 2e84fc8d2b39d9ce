import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundedLabel } from './bounded-label.js';

describe('boundedLabel', () => {
  it('keeps the first values and calls all others "other"', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.nat(5), (values, maxValues) => {
        const label = boundedLabel(maxValues);
        const first = new Set([...new Set(values)].slice(0, maxValues));
        expect(values.map((value) => label(value))).toEqual(
          values.map((value) => (first.has(value) ? value : 'other')),
        );
      }),
    );
  });

  it('retains 100 characters of a value', () => {
    const label = boundedLabel(2);
    expect(label('x'.repeat(1_000_000))).toBe(`${'x'.repeat(100)}…`);
    expect(label(`${'x'.repeat(100)}y`)).toBe(`${'x'.repeat(100)}…`);
    expect([label('a'), label('b')]).toEqual(['a', 'other']);
  });
});
