import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { echo, oneLine, printable } from './printable.js';

describe('printable', () => {
  it('removes escape sequences for cursor, colors and titles', () => {
    expect(printable('a\u001B[2J\u001B[31mb\u001B]0;title\u0007c\rd\u009B1me')).toBe('a[2J[31mb]0;titlecd1me');
  });

  it('removes bidirectional marks', () => {
    expect(printable('safe\u202Etxt.exe\u2066')).toBe('safetxt.exe');
  });

  it('keeps line feeds, tabs and letters of every script', () => {
    expect(printable('a\r\nb\tc 日本語 👩‍👩‍👧 é\n')).toBe('a\nb\tc 日本語 👩‍👩‍👧 é\n');
  });

  it('removes all control characters except tab and line feed', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.nat(0x24ff).map((code) => String.fromCodePoint(code)) }), (text) => {
        expect(printable(text).replaceAll(/[\t\n]/g, '')).not.toMatch(/\p{Cc}/u);
      }),
    );
  });
});

describe('oneLine', () => {
  it('joins any text into one line', () => {
    expect(oneLine('  a\n\n  b\t\u001B[31mc\r\n')).toBe('a b [31mc');
  });
});

describe('echo', () => {
  it('shows a message on one line', () => {
    expect(echo('fix\n the  test …')).toBe('fix the test …');
    expect(echo('x'.repeat(800))).toBe('x'.repeat(800));
  });

  it('shows the beginning and the size of a long message', () => {
    expect(echo('ab\n'.repeat(4_000_000))).toMatch(/^(ab ){266}a?b?…\s\(12,000,000 characters in all\)$/);
    expect(echo(`${' '.repeat(4000)}end`)).toBe('… (4,003 characters in all)');
    expect(echo('長'.repeat(500))).toBe(`${'長'.repeat(399)}… (500 characters in all)`);
  });
});
