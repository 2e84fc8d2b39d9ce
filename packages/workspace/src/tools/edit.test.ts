import { chmodSync, statSync } from 'node:fs';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workbench } from '../../test/workbench.js';
import { editTool, multiEditTool } from './edit.js';
import { readTool } from './read.js';

let bench: ReturnType<typeof workbench>;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.remove());

const edit = (path: string, old: string, next: string, more = {}) =>
  bench.call(editTool, { path, old, new: next, ...more });
const multiEdit = (path: string, edits: readonly object[]) => bench.call(multiEditTool, { path, edits });

describe('edit', () => {
  it('replaces the only occurrence, with a short result and a diff in details', async () => {
    bench.put('src/a.ts', 'const a = 1;\nconst b = 2;\n');
    const { status, text, details } = await edit('src/a.ts', 'b = 2', 'b = 3');
    expect({ status, text }).toEqual({ status: 'ok', text: 'Edited src/a.ts: +1 −1 lines.' });
    expect(details).toEqual({
      kind: 'edit',
      path: 'src/a.ts',
      edits: 1,
      additions: 1,
      deletions: 1,
      isDiffCut: false,
      diff: '--- a/src/a.ts\n+++ b/src/a.ts\n@@ -1,2 +1,2 @@\n const a = 1;\n-const b = 2;\n+const b = 3;\n',
    });
    expect(bench.content('src/a.ts')).toBe('const a = 1;\nconst b = 3;\n');
  });

  it('preserves byte order mark, CRLF and mode', async () => {
    bench.put('a.cs', '\uFEFFone\r\ntwo\r\n');
    chmodSync(bench.at('a.cs'), 0o600);
    await edit('a.cs', 'one\ntwo', 'one\n1.5\ntwo');
    expect(bench.content('a.cs')).toBe('\uFEFFone\r\n1.5\r\ntwo\r\n');
    expect(statSync(bench.at('a.cs')).mode & 0o777).toBe(0o600);
  });

  it('reports a match by look-alike characters', async () => {
    bench.put('a', 'say “hi”');
    expect((await edit('a', 'say "hi"', 'say "ho"')).text).toContain('treated as equal');
    expect(bench.content('a')).toBe('say “ho”');
  });

  it('replaces every occurrence with replaceAll', async () => {
    bench.put('a', 'x y x');
    expect((await edit('a', 'x', 'z', { replaceAll: true })).text).toContain('2 places were replaced.');
    expect(bench.content('a')).toBe('z y z');
  });

  it.each([
    ['missing', 'x', 'not-found'],
    ['dup', 'x', 'ambiguous'],
    ['one', 'one', 'no-change'],
    ['', 'x', 'empty-old'],
  ])('refuses to replace %j by %j: %s', async (old, next, code) => {
    bench.put('a', 'dup dup one');
    const result = await edit('a', old, next);
    expect(result).toMatchObject({ status: 'failed', code });
    expect(result.text).toMatch(/^a: old .*\.$/u);
    expect(bench.content('a')).toBe('dup dup one');
  });

  it('refuses files that it would damage', async () => {
    bench.put('bin', Buffer.from('a\0b'));
    bench.put('latin1', Buffer.from('caf\u00e9', 'latin1'));
    for (const path of ['bin', 'latin1']) expect(await edit(path, 'a', 'b')).toMatchObject({ code: 'not-text' });
    bench.remove();
    bench = workbench({ limits: { maxFileBytes: 3 } });
    bench.put('a', 'four');
    expect(await edit('a', 'four', '4')).toMatchObject({ code: 'too-large' });
  });

  it('refuses missing files, folders, and files outside the workspace', async () => {
    bench.put('src/index.ts', '');
    expect(await edit('src/index.js', 'a', 'b')).toMatchObject({
      code: 'not-found',
      text: 'src/index.js does not exist. Similar files: src/index.ts.',
    });
    expect(await edit('src', 'a', 'b')).toMatchObject({ code: 'is-folder' });
    expect(await edit('../x', 'a', 'b')).toMatchObject({ code: 'outside' });
  });

  it('edits a line of a megabyte with a short diff', async () => {
    const json = `{"rows":[${'{"id":1},'.repeat(120_000)}{"id":"last"}]}`;
    bench.put('data.json', json);
    const { details, diff } = await edit('data.json', '{"id":"last"}', '{"id":2}');
    expect(bench.content('data.json')).toBe(json.replace('"last"', '2'));
    expect(details).toMatchObject({ additions: 1, deletions: 1, isDiffCut: true });
    expect(diff.length).toBeLessThan(2_000);
  });

  it('requires another read after a change by others', async () => {
    bench.put('a', 'one two');
    await bench.call(readTool, { path: 'a' });
    expect(await edit('a', 'one', '1')).toMatchObject({ status: 'ok' });
    expect(await edit('a', 'two', '2')).toMatchObject({ status: 'ok' });
    bench.put('a', 'one two three');
    expect(await edit('a', 'three', '3')).toMatchObject({ code: 'stale' });
    await bench.call(readTool, { path: 'a' });
    expect(await edit('a', 'three', '3')).toMatchObject({ status: 'ok' });
  });

  it('applies all of many concurrent edits', async () => {
    bench.put('a', Array.from({ length: 20 }, (_, index) => `<${index}>`).join('\n'));
    await Promise.all(Array.from({ length: 20 }, (_, index) => edit('a', `<${index}>`, `done ${index}`)));
    expect(bench.content('a')).toBe(Array.from({ length: 20 }, (_, index) => `done ${index}`).join('\n'));
  });

  it('changes only the given text, for any file', async () => {
    const letters = fc.string({
      unit: fc.constantFrom('a', 'é', '🙂', '\n', '\r\n', '\t', '“', '\uFEFF'),
      maxLength: 25,
    });
    let sessions = 0;
    await fc.assert(
      fc.asyncProperty(letters, letters, fc.constantFrom('', '\uFEFF'), async (before, after, mark) => {
        bench.put('x', `${mark}${before}<old>${after}`);
        const result = await bench.call(
          editTool,
          { path: 'x', old: '<old>', new: '<new>' },
          { session: `separate ${(sessions += 1)}` },
        );
        expect(result).toMatchObject({ status: 'ok' });
        expect(bench.content('x')).toBe(`${mark}${before}<new>${after}`);
      }),
      { numRuns: 60 },
    );
  });
});

describe('multi_edit', () => {
  it('applies all edits, each to the result of the previous one', async () => {
    bench.put('a', 'one two three');
    const { text, details } = await multiEdit('a', [
      { old: 'one', new: 'first two' },
      { old: 'first two two', new: '12' },
    ]);
    expect(text).toBe('Edited a: +1 −1 lines.');
    expect(details).toMatchObject({ kind: 'edit', edits: 2 });
    expect(bench.content('a')).toBe('12 three');
  });

  it('applies no edit if one fails, and names it', async () => {
    bench.put('a', 'one two');
    const result = await multiEdit('a', [
      { old: 'one', new: '1' },
      { old: 'three', new: '3' },
    ]);
    expect(result).toMatchObject({ status: 'failed', code: 'not-found', details: { failedEdit: 1 } });
    expect(result.text).toMatch(/^Edit 2 of 2: a: old does not occur .* No edit was made\.$/u);
    expect(bench.content('a')).toBe('one two');
  });

  it('refuses an empty list', async () => {
    bench.put('a', 'x');
    expect(await multiEdit('a', [])).toMatchObject({ status: 'invalid-input' });
  });
});
