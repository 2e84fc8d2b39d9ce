import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Screen } from './screen.js';

/** A terminal emulator for the sequences that a screen writes. */
const terminal = (columns: number) => {
  const rows: string[] = [''];
  const cursor = { row: 0, column: 0 };
  let [width, wraps] = [columns, true];
  const put = (character: string): void => {
    if (cursor.column >= width && !wraps) return;
    const row = (rows[cursor.row] ?? '').padEnd(cursor.column);
    rows[cursor.row] = row.slice(0, cursor.column) + character + row.slice(cursor.column + 1);
    cursor.column += 1;
    if (cursor.column > width) throw new Error('A row is wider than the terminal.');
  };
  return {
    columns,
    /** Changes the width; the program learns it later. */
    resize: (to: number): void => void (width = to),
    write: (text: string): void => {
      // oxlint-disable-next-line eslint/no-control-regex -- the escape sequences of a terminal begin with one
      for (const [token] of text.matchAll(/\u001B\[(\?7[hl]|\d*[A-Z])|[^]/g)) {
        const count = Number(/\d+/.exec(token)?.[0] ?? 1);
        if (token === '\r') cursor.column = 0;
        else if (token === '\n') {
          cursor.row += 1;
          cursor.column = 0;
          rows[cursor.row] ??= '';
        } else if (!token.startsWith('\u001B')) put(token);
        else if (token.includes('?')) wraps = token.endsWith('h');
        else if (token.endsWith('A')) cursor.row -= count;
        else if (token.endsWith('C')) cursor.column += count;
        else if (token.endsWith('J')) {
          rows.splice(cursor.row + 1);
          rows[cursor.row] = (rows[cursor.row] ?? '').slice(0, cursor.column);
        } else throw new Error(`The terminal emulator does not support ${JSON.stringify(token)}.`);
      }
    },
    cursor,
    shown: (): readonly string[] => rows.map((row) => row.trimEnd()),
  };
};

describe('Screen', () => {
  it('keeps live rows below everything else', () => {
    const output = terminal(40);
    const screen = new Screen(output);
    screen.lines(['one']);
    screen.live({ rows: ['status'] });
    screen.lines(['two', 'three']);
    screen.live({ rows: ['other status', 'input'] });
    screen.lines(['four']);
    expect(output.shown()).toEqual(['one', 'two', 'three', 'four', 'other status', 'input']);
  });

  it('erases removed live rows', () => {
    const output = terminal(40);
    const screen = new Screen(output);
    screen.live({ rows: ['a', 'b', 'c'] });
    screen.live({ rows: [] });
    screen.lines(['end']);
    expect(output.shown()).toEqual(['end', '']);
  });

  it('shows streamed text above the live rows', () => {
    const output = terminal(40);
    const screen = new Screen(output);
    screen.live({ rows: ['status'] });
    for (const piece of ['Hel', 'lo\nwor', 'ld']) screen.text(piece);
    expect(output.shown()).toEqual(['Hello', 'world', 'status']);
    screen.text('!');
    screen.lines(['tool']);
    expect(output.shown()).toEqual(['Hello', 'world!', 'tool', 'status']);
  });

  it('breaks long text between words', () => {
    const output = terminal(21);
    const screen = new Screen(output);
    for (const word of 'the quick brown fox jumps over the lazy dog'.split(/(?<= )/)) screen.text(word);
    screen.lines([]);
    expect(output.shown()).toEqual(['the quick brown fox', 'jumps over the lazy', 'dog', '']);
  });

  it('redraws live rows in place before it learns that the terminal is narrower', () => {
    const output = terminal(40);
    const screen = new Screen(output);
    output.resize(25);
    screen.live({ rows: ['Answering · 1.1 s · Ctrl-C cancels'] });
    screen.live({ rows: ['Answering · 1.2 s · Ctrl-C cancels'] });
    expect(output.shown()).toEqual(['Answering · 1.2 s · Ctrl-']);
  });

  it('places the cursor in the input row', () => {
    const output = terminal(40);
    const screen = new Screen(output);
    screen.live({ rows: ['status', '› fix it'], cursor: 5 });
    expect(output.cursor).toEqual({ row: 1, column: 5 });
    screen.lines(['line']);
    expect(output.cursor).toEqual({ row: 2, column: 5 });
    expect(output.shown()).toEqual(['line', 'status', '› fix it']);
  });

  it('shows each line once and in order between redraws', () => {
    const step = fc.oneof(
      fc.record({ text: fc.stringMatching(/^[a-z \n]{0,30}$/) }),
      fc.record({ lines: fc.array(fc.stringMatching(/^[A-Z]{0,30}$/), { maxLength: 3 }) }),
      fc.record({ live: fc.array(fc.stringMatching(/^[0-9]{1,30}$/), { maxLength: 3 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        const output = terminal(26);
        const screen = new Screen(output);
        let expected = '';
        for (const given of steps) {
          if ('text' in given) screen.text(given.text);
          else if ('lines' in given) screen.lines(given.lines);
          else screen.live({ rows: given.live });
          if ('text' in given) expected += given.text;
          if ('lines' in given) expected += given.lines.join('');
        }
        screen.live({ rows: [] });
        screen.lines([]);
        const letters = (text: string): string => text.replaceAll(/[^a-zA-Z]/g, '');
        expect(letters(output.shown().join(''))).toBe(letters(expected));
      }),
    );
  });
});
