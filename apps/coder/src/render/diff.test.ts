import { describe, expect, it } from 'vitest';
import { changesIn, diffLines } from './diff.js';
import { paletteFor } from './palette.js';

const plain = paletteFor({ isTerminal: false, environment: {} });
const color = paletteFor({ isTerminal: true, environment: {} });

const diff = `--- a/src/a.js
+++ b/src/a.js
@@ -8,4 +8,5 @@
 const one = 1;
-const two = 3;
+const two = 2;
+const three = 3;
 export { one };
@@ -100,2 +101,1 @@
 last
-gone
\\ No newline at end of file
`;
const change = { path: 'src/a.js', diff, additions: 2, deletions: 2 };

describe('diffLines', () => {
  it('numbers the lines and shows a gap between hunks', () => {
    expect(diffLines(change, { palette: plain, columns: Infinity })).toEqual([
      '      8   const one = 1;',
      '      9 - const two = 3;',
      '      9 + const two = 2;',
      '     10 + const three = 3;',
      '     11   export { one };',
      '        …',
      '    101   last',
      '    101 - gone',
    ]);
  });

  it('colors added and removed lines', () => {
    const lines = diffLines(change, { palette: color, columns: 80 });
    expect(lines[1]).toBe('    \u001B[31m  9 - const two = 3;\u001B[39m');
    expect(lines[2]).toBe('    \u001B[32m  9 + const two = 2;\u001B[39m');
  });

  it('truncates rows to the width of the terminal', () => {
    const wide = { ...change, diff: `@@ -1 +1 @@\n-${'a'.repeat(300)}\n+${'b'.repeat(300)}\n` };
    expect(diffLines(wide, { palette: plain, columns: 20 })).toEqual([
      `    1 - ${'a'.repeat(11)}…`,
      `    1 + ${'b'.repeat(11)}…`,
    ]);
  });

  it('truncates a long diff and reports the number of omitted lines', () => {
    const long = { ...change, diff: `@@ -0,0 +1,100 @@\n${'+line\n'.repeat(100)}` };
    const lines = diffLines(long, { palette: plain, columns: 80 });
    expect(lines).toHaveLength(41);
    expect(lines.at(-1)).toBe('    … 60 more lines');
  });

  it('shows no control characters', () => {
    const nasty = { ...change, diff: '@@ -1 +1 @@\n-a\n+\u001B[2Jb\tc\n' };
    expect(diffLines(nasty, { palette: plain, columns: 80 })[1]).toBe('    1 + [2Jb  c');
  });

  it('returns nothing for a change without a diff', () => {
    expect(diffLines({ ...change, diff: '' }, { palette: plain, columns: 80 })).toEqual([]);
  });
});

describe('changesIn', () => {
  it('returns the change of a file', () => {
    expect(changesIn({ kind: 'edit', ...change, isDiffCut: false })).toEqual([change]);
  });

  it('returns the changes of several files', () => {
    expect(changesIn({ files: [change, { ...change, path: 'b.js' }] }).map(({ path }) => path)).toEqual([
      'src/a.js',
      'b.js',
    ]);
  });

  it.each([undefined, null, 3, 'text', [], {}, { path: 'a', diff: 7 }, { kind: 'read', path: 'a' }])(
    'returns nothing for %j',
    (details) => {
      expect(changesIn(details)).toEqual([]);
    },
  );

  it('returns nothing without changed lines', () => {
    expect(changesIn({ ...change, diff: '', additions: 0, deletions: 0 })).toEqual([]);
  });
});
