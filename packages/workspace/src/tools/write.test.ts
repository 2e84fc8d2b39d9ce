import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workbench } from '../../test/workbench.js';
import { createWorkspacePaths } from '@h/paths';
import { readTool } from './read.js';
import { writeTool } from './write.js';

let bench: ReturnType<typeof workbench>;
beforeEach(() => (bench = workbench()));
afterEach(() => bench.remove());

const write = (path: string, content: string, options?: Parameters<typeof bench.call>[2]) =>
  bench.call(writeTool, { path, content }, options);
const modeOf = (path: string) => (statSync(bench.at(path)).mode & 0o7777).toString(8);
const leftovers = (folder = '.') => readdirSync(bench.at(folder)).filter((name) => name.endsWith('.tmp'));

describe('write', () => {
  it('creates a file and the folders above it', async () => {
    expect(await write('a/b/новый.txt', 'one\ntwo')).toMatchObject({
      status: 'ok',
      text: 'Made a/b/новый.txt (2 lines, 7 bytes).',
      details: {
        kind: 'write',
        path: 'a/b/новый.txt',
        created: true,
        bytes: 7,
        additions: 2,
        deletions: 0,
        isDiffCut: false,
      },
    });
    expect(bench.content('a/b/новый.txt')).toBe('one\ntwo');
    expect(leftovers('a/b')).toEqual([]);
  });

  it('replaces a file and shows the diff', async () => {
    bench.put('a.txt', 'one\ntwo\nthree\n');
    const { text, details } = await write('a.txt', 'one\n2\nthree\n');
    expect(text).toBe('Replaced a.txt (3 lines, 12 bytes).');
    expect(details).toMatchObject({ created: false, additions: 1, deletions: 1 });
    expect(details['diff']).toBe('--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n');
  });

  it.each([0o600, 0o755, 0o444, 0o640])('keeps the mode %o', async (mode) => {
    bench.put('script', 'old');
    chmodSync(bench.at('script'), mode);
    await write('script', 'new');
    expect(modeOf('script')).toBe(mode.toString(8));
    expect(bench.content('script')).toBe('new');
  });

  it('creates files with the default mode of the process', async () => {
    writeFileSync(bench.at('plain'), '');
    await write('made', 'x');
    expect(modeOf('made')).toBe(modeOf('plain'));
  });

  it('does not write a file that already has this content', async () => {
    bench.put('a', 'same');
    const before = statSync(bench.at('a'));
    expect((await write('a', 'same')).text).toBe('a already has this content, so nothing was written.');
    expect(statSync(bench.at('a'))).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  it('writes to the target of a link inside, and keeps the link', async () => {
    bench.put('src/real', 'old');
    symlinkSync('src/real', bench.at('link'));
    await write('link', 'new');
    expect(bench.content('src/real')).toBe('new');
    expect(readlinkSync(bench.at('link'))).toBe('src/real');
  });

  it('writes nothing outside', async () => {
    mkdirSync(`${bench.base}/outside`);
    writeFileSync(`${bench.base}/outside/file`, 'old');
    symlinkSync('../outside', bench.at('folder'));
    symlinkSync('../outside/file', bench.at('file'));
    symlinkSync('../outside/new', bench.at('dangling'));
    const cases = [
      ['../outside/file', 'outside'],
      ['folder/new', 'link-outside'],
      ['file', 'link-outside'],
      ['dangling', 'dangling-link'],
      [`${bench.root}-evil`, 'outside'],
      ['.git/hooks/pre-commit', 'not-permitted'],
      ['.env', 'not-permitted'],
    ] as const;
    for (const [path, code] of cases) expect(await write(path, 'EVIL'), path).toMatchObject({ status: 'failed', code });
    expect(readdirSync(`${bench.base}/outside`)).toEqual(['file']);
    expect(readFileSync(`${bench.base}/outside/file`, 'utf8')).toBe('old');
    expect(readdirSync(bench.base).toSorted()).toEqual(['outside', 'work']);
  });

  it('writes nothing outside if its folder is swapped for a link after the check', async () => {
    mkdirSync(`${bench.base}/outside`);
    bench.put('src/file', 'old');
    const tool = writeTool({
      ...bench.workspace,
      paths: {
        ...bench.workspace.paths,
        authorize: async (path, options) => {
          const checked = await createWorkspacePaths(bench.root).authorize(path, options);
          renameSync(bench.at('src'), bench.at('old'));
          symlinkSync('../outside', bench.at('src'));
          return checked;
        },
      },
    });
    const context = {
      call: { id: '1', name: 'write' },
      turn: 't',
      session: 's',
      step: 1,
      signal: new AbortController().signal,
      progress: () => undefined,
    };
    for (const path of ['src/file', 'src/new', 'src/deep/new']) {
      await expect(tool.run({ path, content: 'EVIL' }, context)).rejects.toBeInstanceOf(Error);
      expect(readdirSync(`${bench.base}/outside`)).toEqual([]);
      renameSync(bench.at('src'), bench.at(`trap-${path.length}`));
      renameSync(bench.at('old'), bench.at('src'));
    }
  });

  it('refuses folders, long names, and files in place of folders', async () => {
    mkdirSync(bench.at('folder'));
    bench.put('file', '');
    expect(await write('folder', 'x')).toMatchObject({ code: 'is-folder' });
    expect(await write('.', 'x')).toMatchObject({ code: 'is-folder' });
    expect(await write('file/below', 'x')).toMatchObject({ code: 'not-a-folder' });
    expect(await write('x'.repeat(300), 'x')).toMatchObject({ code: 'unreachable' });
    expect(leftovers()).toEqual([]);
  });

  it('writes nothing if it was already aborted', async () => {
    const context = {
      call: { id: '1', name: 'write' },
      turn: 't',
      session: 's',
      step: 1,
      signal: AbortSignal.abort(),
      progress: () => undefined,
    };
    await expect(writeTool(bench.workspace).run({ path: 'a', content: 'x' }, context)).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(readdirSync(bench.root)).toEqual([]);
  });

  it('shows no diff of binary or very different content', async () => {
    bench.put('bin', Buffer.from([0, 1, 2]));
    expect((await write('bin', 'text\n')).details).toMatchObject({
      diff: '',
      additions: 1,
      deletions: 0,
      isDiffCut: true,
    });
    bench.put('long', Array.from({ length: 6_000 }, (_, index) => `a${index}\n`).join(''));
    const other = Array.from({ length: 6_000 }, (_, index) => `b${index}\n`).join('');
    expect((await write('long', other)).details).toMatchObject({
      diff: '',
      additions: 6_000,
      deletions: 6_000,
      isDiffCut: true,
    });
    const { details, diff } = await write('fresh', `${'x'.repeat(100)}\n`.repeat(2_000));
    expect(details).toMatchObject({ additions: 2_000, isDiffCut: true });
    expect(diff.length).toBeLessThanOrEqual(64 * 1024);
    expect(diff.endsWith('\n')).toBe(true);
  });

  it('serializes two writes of one file', async () => {
    const results = await Promise.all(Array.from({ length: 8 }, (_, index) => write('a', `content ${index}`)));
    expect(results.map((result) => result.status)).toEqual(Array(8).fill('ok'));
    expect(bench.content('a')).toMatch(/^content \d$/u);
    expect(leftovers()).toEqual([]);
  });
});

describe('a file that was read before', () => {
  const read = (path: string, session?: string) => bench.call(readTool, { path }, { ...(session && { session }) });

  it('requires another read before it overwrites a file that has changed', async () => {
    bench.put('a', 'first');
    await read('a');
    bench.put('a', 'second');
    expect(await write('a', 'mine')).toMatchObject({
      status: 'failed',
      code: 'stale',
      text: 'a has changed since it was last read: read it again before you change it.',
    });
    expect(bench.content('a')).toBe('second');
    await read('a');
    expect(await write('a', 'mine')).toMatchObject({ status: 'ok' });
    expect(await write('a', 'mine again')).toMatchObject({ status: 'ok' });
  });

  it('counts as unchanged if it was only touched', async () => {
    bench.put('a', 'first');
    await read('a');
    utimesSync(bench.at('a'), 1, 1);
    expect(await write('a', 'mine')).toMatchObject({ status: 'ok' });
  });

  it('counts as changed if only its content differs, not its size and times', async () => {
    bench.put('a', 'first');
    utimesSync(bench.at('a'), 1, 1);
    await read('a');
    writeFileSync(bench.at('a'), 'other');
    utimesSync(bench.at('a'), 1, 1);
    expect(await write('a', 'mine')).toMatchObject({ code: 'stale' });
  });

  it('must be read by each session that changes it', async () => {
    bench.put('a', 'first');
    await read('a', 'alice');
    expect(await write('a', 'by bob', { session: 'bob' })).toMatchObject({ status: 'ok' });
    expect(await write('a', 'by alice', { session: 'alice' })).toMatchObject({ code: 'stale' });
  });

  it('must always be read first with requireRead "always"', async () => {
    bench.remove();
    bench = workbench({ requireRead: 'always' });
    bench.put('a', 'first');
    expect(await write('a', 'mine')).toMatchObject({
      code: 'not-read',
      text: 'a exists and was not read yet: read it first.',
    });
    await read('a');
    expect(await write('a', 'mine')).toMatchObject({ status: 'ok' });
    expect(await write('new', 'x')).toMatchObject({ status: 'ok' });
    expect(await write('new', 'y')).toMatchObject({ status: 'ok' });
  });

  it('is compared by size and time if its content is too large', async () => {
    bench.remove();
    bench = workbench({ limits: { maxFileBytes: 4 } });
    bench.put('a', 'first');
    await read('a');
    utimesSync(bench.at('a'), 1, 1);
    expect(await write('a', 'mine')).toMatchObject({ code: 'stale' });
  });
});
