import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replaceText, type Replacement } from './replace-text.js';

const textAfter = (text: string, old: string, next: string, replaceAll = false) => {
  const result = replaceText(text, { old, new: next, replaceAll });
  return result.ok ? result.text : result.code;
};
const messageOf = (text: string, replacement: Replacement) => {
  const result = replaceText(text, replacement);
  return result.ok ? '' : result.message;
};

describe('replaceText', () => {
  it('replaces the only occurrence', () => {
    expect(replaceText('one two three', { old: 'two', new: '2' })).toEqual({
      ok: true,
      text: 'one 2 three',
      match: 'exact',
      count: 1,
    });
    expect(textAfter('abc', 'abc', '')).toBe('');
    expect(textAfter('a\nb\n', 'a\n', 'a\nnew\n')).toBe('a\nnew\nb\n');
  });

  it('inserts $& and similar sequences literally', () => {
    expect(textAfter('x = 1', '1', "$& $1 $` $'")).toBe("x = $& $1 $` $'");
  });

  it.each([
    ['', 'x', 'empty-old'],
    ['same', 'same', 'no-change'],
    ['a\r\nb', 'a\nb', 'no-change'],
    ['missing', 'x', 'not-found'],
  ])('refuses %j → %j as %s', (old, next, code) => {
    expect(textAfter('a\nb same', old, next)).toBe(code);
  });

  it('fails for several occurrences, and names their lines', () => {
    expect(textAfter('x\ny\nx', 'x', 'z')).toBe('ambiguous');
    expect(messageOf('x\ny\nx', { old: 'x', new: 'z' })).toContain('old occurs 2 times (lines 1, 3)');
    expect(messageOf('x'.repeat(50), { old: 'x', new: 'z' })).toContain('50 times (line 1 …)');
    expect(textAfter('aaa', 'aa', 'b')).toBe('ambiguous');
  });

  it('replaces every exact occurrence with replaceAll', () => {
    expect(textAfter('x y x', 'x', 'zz', true)).toBe('zz y zz');
    expect(textAfter('aaa', 'aa', 'b', true)).toBe('ba');
    expect(replaceText('x x', { old: 'x', new: 'y', replaceAll: true })).toMatchObject({ count: 2 });
  });

  it('keeps CRLF, also in new lines, for any line ends in the input', () => {
    const text = 'one\r\ntwo\r\nthree\r\n';
    for (const end of ['\n', '\r\n']) {
      expect(textAfter(text, `one${end}two`, `one${end}1.5${end}two`)).toBe('one\r\n1.5\r\ntwo\r\nthree\r\n');
      expect(textAfter(text, `two${end}`, '')).toBe('one\r\nthree\r\n');
      expect(textAfter(text, `two${end}three`, 'both')).toBe('one\r\nboth\r\n');
    }
    expect(textAfter('a\nb\n', 'a\nb', 'a\r\nx\r\nb')).toBe('a\nx\nb\n');
    expect(textAfter('a\r\n', 'a', 'x\ny')).toBe('x\r\ny\r\n');
    expect(textAfter('alone', 'alone', 'a\nb')).toBe('a\nb');
  });

  it('keeps the line ends of other lines in a mixed file', () => {
    expect(textAfter('a\r\nb\nc\r\nd', 'b\nc', 'b\nx\nc')).toBe('a\r\nb\nx\nc\r\nd');
    expect(textAfter('a\r\nb\r\nc\nd', 'b', 'b\nx')).toBe('a\r\nb\r\nx\r\nc\nd');
  });

  it('finds look-alike text, and keeps the unchanged characters', () => {
    expect(replaceText('say “hello” — now', { old: 'say "hello" - now', new: 'say "goodbye" - now' })).toEqual({
      ok: true,
      text: 'say “goodbye” — now',
      match: 'look-alike',
      count: 1,
    });
    expect(textAfter('it’s 5\u00A0€', "it's 5 €", "it's 6 €")).toBe('it’s 6\u00A0€');
    expect(textAfter('plain "q"', 'plain “q”', 'plain “r”')).toBe('plain "r"');
    expect(textAfter('a – b\r\nc “d”\r\n', 'a - b\nc "d"', 'a - b\nx\nc "d"')).toBe('a – b\r\nx\r\nc “d”\r\n');
  });

  it('prefers the exact occurrence', () => {
    expect(textAfter('“a”\n"a"\n„a“', '"a"', 'b')).toBe('“a”\nb\n„a“');
  });

  it('fails if several places look similar, even with replaceAll', () => {
    for (const replaceAll of [false, true]) {
      expect(textAfter('“a”\n„a“', '"a"', 'b', replaceAll)).toBe('ambiguous');
    }
    expect(messageOf('“a”\n„a“', { old: '"a"', new: 'b' })).toContain('2 places look similar (lines 1, 2)');
  });

  it('suggests lines that resemble the first line of missing text', () => {
    expect(messageOf('if (x) {\n\treturn  1;\n}', { old: '  return 1;\n  }', new: '' })).toContain(
      'line 2 resembles its first line',
    );
    expect(messageOf('nothing', { old: 'return 1;', new: '' })).toContain('read the file again');
  });

  it('changes only the one place, for any text', () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'b', '\n', '\r\n', '“', '"', '—', '\u00A0', '🙂'),
      maxLength: 30,
    });
    fc.assert(
      fc.property(letters, letters, letters, letters, (before, old, after, next) => {
        const result = replaceText(before + old + after, { old, new: next });
        if (!result.ok || result.match !== 'exact') return;
        const plain = (text: string) => text.replaceAll('\r\n', '\n');
        // In a text with uniform line ends, the result equals a plain replacement.
        expect(plain(result.text)).toBe(plain(before + old + after).replace(plain(old), () => plain(next)));
        const withoutLoneEnds = (text: string) => !/(?<!\r)\n/u.test(text);
        if (withoutLoneEnds(before + old + after) && (before + old + after).includes('\n')) {
          expect(withoutLoneEnds(result.text)).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('restores the text when the edit is reversed', () => {
    const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\r\n'), minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(words, words, words, (before, old, after) => {
        const text = `${before}<${old}>${after}`;
        const there = replaceText(text, { old: `<${old}>`, new: '<@>' });
        const back = there.ok ? replaceText(there.text, { old: '<@>', new: `<${old}>` }) : there;
        // A text without any line end has no style to follow.
        if (text.replace(`<${old}>`, '').includes('\n') || !old.includes('\n')) {
          expect(back).toMatchObject({ ok: true, text });
        }
      }),
    );
  });
});
