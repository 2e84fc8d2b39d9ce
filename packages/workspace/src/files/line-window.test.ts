import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineWindow, type WindowOptions } from './line-window.js';

const everything: WindowOptions = { offset: 1, maxLines: 1_000, maxBytes: 1_000_000, column: 1, maxLineChars: 1_000 };

const windowOf = (text: string | Buffer, options: Partial<WindowOptions> = {}, chunkBytes = 1_000_000) => {
  const window = new LineWindow({ ...everything, ...options });
  const bytes = Buffer.from(text as string);
  for (let start = 0; start < bytes.length; start += chunkBytes) {
    window.write(bytes.subarray(start, start + chunkBytes));
  }
  return window.end();
};
const textsOf = (...parameters: Parameters<typeof windowOf>) => windowOf(...parameters).lines.map((line) => line.text);

describe('LineWindow', () => {
  it.each([
    ['', []],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\nb', ['a', 'b']],
    ['\n\n', ['', '']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\rb\r', ['a\rb']],
    ['\uFEFFa\n\uFEFFb', ['a', '\uFEFFb']],
    ['nul\0here', ['nul␀here']],
  ])('reads %j as %j', (text, lines) => {
    expect(textsOf(text)).toEqual(lines);
    expect(textsOf(text, {}, 1)).toEqual(lines);
    expect(windowOf(text).seenLines).toBe(lines.length);
  });

  it('keeps the lines from an offset, and counts the rest', () => {
    const { lines, seenLines } = windowOf('1\n2\n3\n4\n5', { offset: 2, maxLines: 2 });
    expect(lines.map((line) => [line.number, line.text])).toEqual([
      [2, '2'],
      [3, '3'],
    ]);
    expect(seenLines).toBe(5);
  });

  it('ends before the first line that does not fit, but shows at least one', () => {
    expect(textsOf('aaaa\nbbbb\ncccc', { maxBytes: 10 })).toEqual(['aaaa', 'bbbb']);
    expect(textsOf('aaaa\nbbbb\ncccc', { maxBytes: 9 })).toEqual(['aaaa']);
    expect(textsOf('aaaa\nbbbb\ncccc', { maxBytes: 1 })).toEqual(['aaaa']);
    expect(textsOf('aaaa\nb', { maxBytes: 1, offset: 2 })).toEqual(['b']);
  });

  it('truncates long lines, reports it, and continues at a column', () => {
    const line = 'abcdefghij';
    expect(windowOf(`${line}\nxy`, { maxLineChars: 4 }).lines).toEqual([
      { number: 1, text: 'abcd', bytes: 10, isCut: true },
      { number: 2, text: 'xy', bytes: 2, isCut: false },
    ]);
    expect(windowOf(line, { maxLineChars: 4, column: 9 }).lines).toEqual([
      { number: 1, text: 'ij', bytes: 10, isCut: false },
    ]);
    expect(textsOf(line, { column: 20 })).toEqual(['']);
    expect(windowOf('abcd\r\n', { maxLineChars: 4 }, 1).lines[0]).toMatchObject({ text: 'abcd', isCut: false });
    expect(windowOf('abcd\rx\n', { maxLineChars: 4 }, 1).lines[0]).toMatchObject({ text: 'abcd', isCut: true });
  });

  it('never splits a character', () => {
    expect(textsOf('ab🙂cd', { maxLineChars: 3 })[0]?.isWellFormed()).toBe(true);
    expect(textsOf('🙂🙂', { column: 2 })[0]?.isWellFormed()).toBe(true);
  });

  it('replaces invalid UTF-8', () => {
    expect(textsOf(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe4]))).toEqual(['a�b', '�']);
  });

  it('reports when the window is complete', () => {
    const window = new LineWindow({ ...everything, maxLines: 1 });
    expect(window.isFull).toBe(false);
    window.write(Buffer.from('a\n'));
    expect(window.isFull).toBe(true);
  });

  it('finds the same lines as split() for any chunks', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '\r\n', '🙂', 'é', ' '), maxLength: 60 });
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 6 }),
        (content, chunk, offset, maxLines) => {
          const split = content.split('\n').map((line) => line.replace(/\r$/u, ''));
          if (split.at(-1) === '') split.pop();
          const result = windowOf(content, { offset, maxLines }, chunk);
          expect(result.seenLines).toBe(split.length);
          expect(result.lines.map((line) => line.text)).toEqual(split.slice(offset - 1, offset - 1 + maxLines));
        },
      ),
    );
  });

  it('never exceeds its limits', () => {
    const small = fc.integer({ min: 1, max: 30 });
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        small,
        small,
        small,
        small,
        (content, maxBytes, maxLineChars, column, chunk) => {
          const { lines } = windowOf(content, { maxBytes, maxLineChars, column }, chunk);
          const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line.text) + 1, 0);
          expect(lines.length <= 1 || bytes <= maxBytes).toBe(true);
          for (const line of lines) {
            expect(line.text.length).toBeLessThanOrEqual(maxLineChars);
            expect(line.text.isWellFormed()).toBe(true);
          }
        },
      ),
    );
  });
});
