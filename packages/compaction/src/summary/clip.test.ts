import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clip } from './clip.js';

describe('clip', () => {
  it('keeps the beginning and the end, and says how much is missing', () => {
    const text = `begin ${'x'.repeat(1000)} end`;
    expect(clip(text, 100)).toMatch(/^begin x+\n\[… 9\d\d characters left out …\]\nx+ end$/);
    expect(clip('short', 100)).toBe('short');
  });

  it('never exceeds its limit, splits no character, and counts what it removed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), fc.nat(120), (text, maxChars) => {
        const clipped = clip(text, maxChars);
        expect(clipped.length).toBeLessThanOrEqual(Math.max(maxChars, 0));
        expect(clipped.isWellFormed()).toBe(text.isWellFormed());
        const [note, missing] = /\n\[… (\d+) characters left out …\]\n/.exec(clipped) ?? [];
        if (note !== undefined && !text.includes('left out')) {
          expect(clipped.length - note.length + Number(missing)).toBe(text.length);
        }
      }),
    );
  });
});
