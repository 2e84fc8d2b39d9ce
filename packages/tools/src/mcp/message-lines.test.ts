import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { messageLines } from './message-lines.js';

/** Splits a text into chunks of these sizes and returns what the handlers receive. */
const read = (text: string, sizes: readonly number[], maxBytes: number) => {
  const lines: string[] = [];
  const skipped: { start: string; end: string }[] = [];
  const reader = messageLines(maxBytes, {
    onLine: (line) => lines.push(line),
    onTooLong: (start, end) => skipped.push({ start, end }),
  });
  let rest = Buffer.from(text);
  for (let index = 0; rest.byteLength > 0; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    reader.write(rest.subarray(0, size));
    rest = rest.subarray(size);
  }
  return { lines, skipped };
};

const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });
const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((text) => !text.includes('\n'));

describe('messageLines', () => {
  it('returns the same lines for any chunks', () => {
    fc.assert(
      fc.property(fc.array(line), sizes, (lines, cuts) => {
        expect(read(lines.map((text) => `${text}\n`).join(''), cuts, 1_000).lines).toEqual(lines);
      }),
    );
  });

  it('skips exactly the lines that are too long, and returns their ends', () => {
    fc.assert(
      fc.property(fc.array(line), sizes, fc.integer({ min: 1, max: 60 }), (lines, cuts, maxBytes) => {
        const isLong = (text: string): boolean => Buffer.byteLength(text) > maxBytes;
        const { lines: kept, skipped } = read(lines.map((text) => `${text}\n`).join(''), cuts, maxBytes);
        expect(kept).toEqual(lines.filter((text) => !isLong(text)));
        const endOf = (text: string): string => Buffer.from(text).subarray(-256).toString();
        expect(skipped.map(({ end }) => end)).toEqual(lines.filter(isLong).map(endOf));
      }),
    );
  });

  it('omits empty lines and an unfinished last line', () => {
    expect(read('a\n\nb\nc', [2], 10).lines).toEqual(['a', 'b']);
  });
});
