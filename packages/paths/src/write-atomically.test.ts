import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OpenFolder } from './open-folder.js';
import { createWorkspacePaths } from './workspace-paths.js';
import { FileChangedError, writeAtomically, type AtomicWrite } from './write-atomically.js';

let root: string;
let folder: OpenFolder;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'h-write-')));
  folder = await createWorkspacePaths(root).openFolder(root);
});
afterEach(async () => {
  await folder.close();
  rmSync(root, { recursive: true, force: true });
});

const at = (name: string) => join(root, name);
const statsOf = (name: string) => statSync(at(name), { bigint: true });
const write = (name: string, text: string, more: Partial<AtomicWrite> = {}) =>
  writeAtomically({ folder, name, data: Buffer.from(text), replaces: undefined, ...more });
const content = (name: string) => readFileSync(at(name), 'utf8');

describe('writeAtomically', () => {
  it('returns the state of the file that it wrote', async () => {
    const { size, mtimeNs, ino } = await write('a', 'text');
    expect({ size, mtimeNs, ino }).toEqual({ size: 4n, mtimeNs: statsOf('a').mtimeNs, ino: statsOf('a').ino });
  });

  it('replaces the file, so that open readers keep the old content', async () => {
    writeFileSync(at('a'), 'old');
    const { ino } = statsOf('a');
    await write('a', 'new', { replaces: statsOf('a') });
    expect(content('a')).toBe('new');
    expect(statsOf('a').ino).not.toBe(ino);
  });

  it.skipIf(process.getuid?.() !== 0)('keeps the owner (only root can show it)', async () => {
    writeFileSync(at('a'), 'old');
    chownSync(at('a'), 12_345, 23_456);
    chmodSync(at('a'), 0o4711);
    await write('a', 'new', { replaces: statsOf('a') });
    expect(statSync(at('a'))).toMatchObject({ uid: 12_345, gid: 23_456 });
    expect(statSync(at('a')).mode & 0o7777).toBe(0o4711);
  });

  it.each([
    ['changed', () => writeFileSync(at('a'), 'by somebody else')],
    ['was replaced', () => (rmSync(at('a')), writeFileSync(at('a'), 'old!'))],
    ['was removed', () => rmSync(at('a'))],
    ['became a link', () => (rmSync(at('a')), symlinkSync('b', at('a')))],
    ['became a folder', () => (rmSync(at('a')), mkdirSync(at('a')))],
  ])('changes nothing if the file %s in the meantime', async (_, change) => {
    writeFileSync(at('a'), 'old');
    const replaces = statsOf('a');
    change();
    const names = readdirSync(root);
    await expect(write('a', 'new', { replaces })).rejects.toBeInstanceOf(FileChangedError);
    expect(readdirSync(root)).toEqual(names);
  });

  it('keeps a file that was created in the meantime, and never follows a link', async () => {
    writeFileSync(at('a'), 'by somebody else');
    symlinkSync('target', at('link'));
    for (const name of ['a', 'link']) await expect(write(name, 'new')).rejects.toBeInstanceOf(FileChangedError);
    expect(content('a')).toBe('by somebody else');
    expect(lstatSync(at('link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(root).toSorted()).toEqual(['a', 'link']);
  });

  it('leaves no temporary file when a write is aborted', async () => {
    const controller = new AbortController();
    const writing = write('a', 'x'.repeat(4_000_000), { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(writing).rejects.toMatchObject({ name: 'AbortError' });
    expect(readdirSync(root)).toEqual([]);
  });

  it('leaves no temporary file when the system refuses', async () => {
    await expect(write('x'.repeat(300), 'text')).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
    expect(readdirSync(root)).toEqual([]);
  });
});
