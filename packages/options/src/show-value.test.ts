import { describe, expect, it } from 'vitest';
import { showValue, visibleLine, visibleText } from './index.js';

class Pool {
  size = 1;
}

describe('showValue', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;

  it.each<[unknown, string]>([
    [undefined, 'undefined'],
    [null, 'null'],
    [1.5, '1.5'],
    [Number.NaN, 'NaN'],
    [Infinity, 'Infinity'],
    [7n, '7n'],
    [Symbol('a'), 'Symbol(a)'],
    [true, 'true'],
    ['a "b"\n', String.raw`"a \"b\"\n"`],
    ['x'.repeat(24), `"${'x'.repeat(24)}"`],
    ['x'.repeat(25), `"${'x'.repeat(16)}…" (25 characters)`],
    [`${'x'.repeat(15)}😀${'x'.repeat(9)}`, `"${'x'.repeat(15)}�…" (26 characters)`],
    [() => 1, 'a function'],
    [/a+/gu, '/a+/gu'],
    [new Pool(), 'an instance of Pool'],
    [new Map(), 'an instance of Map'],
    [Object.create(null), '{}'],
    [[1, 'a', [true]], '[1,"a",[true]]'],
    [{ a: 1, b: { c: [] } }, '{"a":1,"b":{"c":[]}}'],
    [circle, '{"self":{"self":{"self":{…}}}}'],
    [Array.from({ length: 12 }, (_, index) => index), '[0,1,2,3,4,5,6,7,8,9,… 2 more]'],
    [{ apiKey: 'abc', maxTokens: 3 }, '{"apiKey":a string of 3 characters,"maxTokens":3}'],
  ])('shows a value in one short line', (value, text) => {
    expect(showValue(value)).toBe(text);
  });

  it('hides a string whose name looks secret', () => {
    expect(showValue('abc', 'apiKey')).toBe('a string of 3 characters');
    expect(showValue(['abc'], 'profiles[0].keys')).toBe('[a string of 3 characters]');
    expect(showValue({ refresh_token: 'abc' })).toBe('{"refresh_token":a string of 3 characters}');
    expect(['sessionKey', 'maxTokens', 'keyboard'].map((name) => showValue('abc', name))).toEqual([
      '"abc"',
      '"abc"',
      '"abc"',
    ]);
    expect(showValue('', 'apiKey')).toBe('""');
  });

  it('truncates the result to 200 characters', () => {
    const long = showValue(Array.from({ length: 10 }, () => 'x'.repeat(24)));
    expect([long.length, long.at(-1)]).toEqual([200, '…']);
  });
});

describe('visibleText and visibleLine', () => {
  it.each([
    '\u001B',
    '\u0007',
    '\u007F',
    '\u009B',
    '\u00AD',
    '\u200B',
    '\u202E',
    '\u2028',
    '\uFEFF',
    '\u{E0041}',
    '\u034F',
    '\u3164',
    '\u{E01EF}',
    '\uD800',
  ])('show %j by its code point', (character) => {
    const shown = `a\\u{${character.codePointAt(0)?.toString(16)}}b`;
    expect(visibleText(`a${character}b`)).toBe(shown);
    expect(visibleLine(`a${character}b`)).toBe(shown);
  });

  it('keep ordinary text, and tabs and line feeds in text only', () => {
    expect(visibleText('Größe\t1\n한국어 ❤️')).toBe('Größe\t1\n한국어 ❤️');
    expect(visibleLine('Größe\t1\n한국어')).toBe(String.raw`Größe\u{9}1\u{a}한국어`);
  });
});
