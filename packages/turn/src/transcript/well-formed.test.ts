import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wellFormed } from './well-formed.js';

const text = fc.array(fc.constantFrom('a', '\ud800', '\udfff', '😀', '\ufffd')).map((parts) => parts.join(''));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('object'),
  ),
  object: fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
}));

describe('wellFormed', () => {
  it('leaves no lone surrogate, keys included', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(JSON.stringify(wellFormed(given))).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });

  it('returns the same value if it is well formed, and never mutates its input', () => {
    fc.assert(
      fc.property(value, (given) => {
        const before = structuredClone(given);
        const once = wellFormed(given);
        expect(given).toEqual(before);
        expect(wellFormed(once)).toBe(once);
        const isSound = !/\\ud[89a-f]/i.test(JSON.stringify(given));
        if (isSound) expect(once).toBe(given);
      }),
    );
  });

  it('keeps pairs, and returns values that are not plain data unchanged', () => {
    const url = new URL('https://example.com');
    const bytes = new Uint8Array([1]);
    const given = { url, bytes, text: '😀', lone: 'a\ud800b' };
    const kept = wellFormed(given);
    expect(kept).toEqual({ url, bytes, text: '😀', lone: 'a\ufffdb' });
    expect([kept.url, kept.bytes]).toEqual([url, bytes]);
    expect(kept.url).toBe(url);
  });
});
