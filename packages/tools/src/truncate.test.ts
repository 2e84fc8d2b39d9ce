import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '@h/options';
import { grouped, truncate, truncation } from './truncate.js';

const lines = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}`).join('\n');

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3_000 }),
  fc
    .array(fc.constantFrom('\n', 'a', '😀', '\ud800', '\udc00', 'error: 1', '}'), { maxLength: 2_000 })
    .map((pieces) => pieces.join('')),
);
const anyNote = fc.option(fc.string({ maxLength: 100 }), { nil: undefined });

describe('truncate', () => {
  it('never exceeds its cap, for any text and cap', () => {
    fc.assert(
      fc.property(
        anyText,
        fc.nat(3_500),
        anyNote,
        (text, maxChars, note) => truncate(text, { maxChars, note }).length <= maxChars,
      ),
      { numRuns: 2_000 },
    );
  });

  it('never leaves a lone surrogate', () => {
    fc.assert(
      fc.property(anyText, fc.nat(3_500), anyNote, (text, maxChars, note) =>
        truncate(text, { maxChars, note }).isWellFormed(),
      ),
      { numRuns: 2_000 },
    );
  });

  it('states the number of omitted characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 500, maxLength: 3_000 }),
        fc.integer({ min: 150, max: 499 }),
        (text, maxChars) => {
          const result = truncation(text, { maxChars });
          const marker = `\n[… ${grouped(result.omitted)} characters omitted …]\n`;
          const [head = '', tail = ''] = result.text.split(marker);
          expect(result.text.split(marker)).toHaveLength(2);
          expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
          expect(head.length + tail.length + result.omitted).toBe(text.length);
        },
      ),
    );
  });

  it('returns text that fits unchanged', () => {
    expect(truncation('short', { maxChars: 5 })).toEqual({ text: 'short', omitted: 0 });
  });

  it.each([
    [0, ''],
    [1, '…'],
    [4, 'abc…'],
  ])('cuts to %i characters without a marker if none fits', (maxChars, expected) => {
    expect(truncate('abcdefgh'.repeat(20), { maxChars })).toBe(expected);
  });

  it('cuts one line of ten million characters to its cap', () => {
    const { length } = truncate('x'.repeat(10_000_000), { maxChars: 16_000 });
    expect(length).toBeGreaterThan(15_900);
    expect(length).toBeLessThanOrEqual(16_000);
  });

  it('cuts at a line end if that loses little', () => {
    const [head = '', tail = ''] = truncate(lines(1_000), { maxChars: 1_000 }).split(/\n\[… .* …\]\n/);
    expect(head.split('\n').at(-1)).toMatch(/^line \d+$/);
    expect(lines(1_000)).toContain(`${head}\n`);
    expect(lines(1_000).endsWith(`\n${tail}`)).toBe(true);
  });

  it('cuts within a line if the next line end is far', () => {
    const text = `abc\n${'x'.repeat(100_000)}`;
    expect(truncate(text, { maxChars: 10_000 }).length).toBeGreaterThan(9_900);
  });

  it('keeps both halves of an emoji, or neither', () => {
    for (let maxChars = 60; maxChars < 70; maxChars += 1) {
      expect(truncate('😀'.repeat(200), { maxChars })).toMatch(
        /^(?:😀)+\n\[… [\d,]+ characters omitted …\]\n(?:😀)*$/u,
      );
    }
  });

  it.each([
    ['an error', 'TypeError: x is not a function\n    at main (app.js:3:1)'],
    ['an exit code', 'bye\nexit code: 2'],
    ['a summary', 'Tests: 3 of 200'],
    ['a count', '12 passed'],
  ])('keeps more of a tail with %s', (_, end) => {
    const body = 'abcdefghi\n'.repeat(5_000);
    const tailOf = (text: string): number =>
      (truncate(text, { maxChars: 10_000 }).split(' omitted …]')[1] as string).length;
    expect(tailOf(`${body}${end}`)).toBeGreaterThan(2 * tailOf(`${body}${'z'.repeat(end.length)}`));
  });

  it('keeps more of the tail of a JSON document, but not of other text that ends in a brace', () => {
    const tailOf = (text: string): number =>
      (truncate(text, { maxChars: 10_000 }).split(' omitted …]')[1] as string).length;
    const body = '"abc",'.repeat(10_000);
    expect(tailOf(`[${body}0]`)).toBeGreaterThan(2 * tailOf(`x[${body}0]`));
  });

  it('adds the note to the marker if it fits', () => {
    const note = 'stored as artifact "a"';
    expect(truncate('x'.repeat(500), { maxChars: 300, note })).toContain(`characters omitted; ${note} …]`);
    expect(truncate('x'.repeat(500), { maxChars: 80, note })).toContain('characters omitted …]');
  });

  it.each([-1, Number.NaN])('rejects a cap of %d', (maxChars) => {
    expect(() => truncate('x', { maxChars })).toThrow(InvalidOptionError);
  });
});
