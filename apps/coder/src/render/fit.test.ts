import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clipped, rowsOf, widthOf } from './fit.js';

describe('clipped', () => {
  it('returns text that fits unchanged', () => {
    expect(clipped('hello', 5)).toBe('hello');
  });

  it('marks the cut', () => {
    expect(clipped('hello world', 6)).toBe('hello…');
  });

  it('counts wide characters as two columns and never splits one', () => {
    expect(clipped('日本語', 5)).toBe('日本…');
    expect(clipped('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧…');
  });

  it('never exceeds the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: -3, max: 30 }), (text, columns) => {
        expect(widthOf(clipped(text, columns))).toBeLessThanOrEqual(Math.max(0, columns));
      }),
    );
  });
});

describe('rowsOf', () => {
  it('breaks between words', () => {
    expect(rowsOf('one two three', 8)).toEqual(['one two ', 'three']);
  });

  it('breaks a word that is longer than a row', () => {
    expect(rowsOf('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
  });

  it('returns one row for an empty line', () => {
    expect(rowsOf('', 10)).toEqual(['']);
  });
});
