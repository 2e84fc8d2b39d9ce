import { describe, expect, it } from 'vitest';
import { paletteFor } from '../render/palette.js';
import { inputRow } from './input-row.js';

const palette = paletteFor({ isTerminal: false, environment: {} });
const rowOf = (text: string, cursor = text.length, columns = 20) =>
  inputRow({ text, cursor }, 'Enter a message.', { palette, columns });

describe('inputRow', () => {
  it('shows the hint until something is typed', () => {
    expect(rowOf('')).toEqual({ rows: ['› Enter a message.'], cursor: 2 });
  });

  it('shows the draft and the cursor in it', () => {
    expect(rowOf('fix it')).toEqual({ rows: ['› fix it'], cursor: 8 });
    expect(rowOf('fix it', 3)).toEqual({ rows: ['› fix it'], cursor: 5 });
  });

  it('counts wide characters as two columns', () => {
    expect(rowOf('日本', 1)).toEqual({ rows: ['› 日本'], cursor: 4 });
  });

  it('shows the part of a long draft around the cursor', () => {
    const long = 'abcdefghijklmnopqrstuvwxyz';
    expect(rowOf(long)).toEqual({ rows: ['› jklmnopqrstuvwxyz'], cursor: 19 });
    expect(rowOf(long, 0)).toEqual({ rows: ['› abcdefghijklmnopq…'], cursor: 2 });
  });

  it('stays on one row', () => {
    expect(rowOf('a\nb\tc')).toEqual({ rows: ['› a b c'], cursor: 7 });
  });
});
