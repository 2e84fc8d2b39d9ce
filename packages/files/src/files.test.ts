import { execFileSync } from 'node:child_process';
import { constants, readdirSync } from 'node:fs';
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  utimes,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { interceptOperations } from '../../../tooling/vitest/file-operations.js';
import {
  createFolder,
  fileSize,
  openRegularFile,
  readRegularFile,
  replaceFile,
  sweepTemporaryFiles,
  UnsafeFileError,
} from './index.js';
import { isTemporaryFile } from './temporary-files.js';

/** Larger than the highest pid of any system. */
const noPid = 2 ** 22 + 1;

const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

/** Returns the inodes of the files and folders that `work` flushes to the disk. */
const flushedBy = async (work: () => Promise<unknown>): Promise<number[]> => {
  const handle = await open(process.execPath);
  const flush = vi.spyOn(Object.getPrototypeOf(handle) as typeof handle, 'sync');
  onTestFinished(() => flush.mockRestore());
  await handle.close();
  const inodes: number[] = [];
  flush.mockImplementation(async function (this: typeof handle) {
    inodes.push((await this.stat()).ino);
  });
  await work();
  return inodes;
};

const inode = async (path: string): Promise<number> => (await stat(path)).ino;

describe('replaceFile()', () => {
  it('writes strings, bytes, chunks and copies', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    await writeFile(join(folder, 'other'), 'copied');
    const sources = ['text', new TextEncoder().encode('bytes'), ['in ', 'pieces'], { copyOf: join(folder, 'other') }];
    const found: string[] = [];
    for (const source of sources) {
      await replaceFile(file, source);
      found.push(await readFile(file, 'utf8'));
    }
    expect(found).toEqual(['text', 'bytes', 'in pieces', 'copied']);
    expect((await readdir(folder)).toSorted()).toEqual(['file', 'other']);
  });

  it('creates a private file, and sets the mode exactly if there is one', async () => {
    const file = join(temporaryFolder(), 'file');
    await replaceFile(file, 'x');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await replaceFile(file, 'x', { mode: 0o666 });
    expect((await stat(file)).mode & 0o777).toBe(0o666);
  });

  it('keeps the permissions of the replaced file on request', async () => {
    const file = join(temporaryFolder(), 'file');
    const umask = process.umask(0o027);
    await replaceFile(file, 'x', { mode: 'keep' });
    process.umask(umask);
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    await chmod(file, 0o604);
    await replaceFile(file, 'x', { mode: 'keep' });
    expect((await stat(file)).mode & 0o777).toBe(0o604);
  });

  it.each([{ mode: '600' }, { mode: -1 }, { sync: 'no' }, { confirm: true }])('refuses %j', async (options) => {
    const folder = temporaryFolder();
    await expect(replaceFile(join(folder, 'file'), 'x', options as never)).rejects.toMatchObject({
      code: 'invalid-option',
      option: Object.keys(options)[0],
    });
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps the old file if confirm fails', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    await replaceFile(file, 'old');
    const refusal = new Error('No.');
    await expect(replaceFile(file, 'new', { confirm: () => Promise.reject(refusal) })).rejects.toBe(refusal);
    expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['old', ['file']]);
  });

  it.runIf(process.platform !== 'win32')('flushes the file and its folder, unless sync is false', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    const flushed = await flushedBy(() => replaceFile(file, 'x'));
    expect(flushed).toEqual([await inode(file), await inode(folder)]);
    expect(await flushedBy(() => replaceFile(file, 'x', { sync: false }))).toEqual([]);
  });

  it('leaves the old file or the new, no handle and no temporary file when any operation fails', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'file');
    let failures = 0;
    /** Replacements that were done, but that a power failure may undo. */
    let unflushed = 0;
    for (let operation = 1, isDone = false; !isDone; operation += 1) {
      await writeFile(file, 'old');
      const before = openFiles();
      const restore = await interceptOperations((count) => {
        if (count === operation) throw Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
      });
      const error: unknown = await replaceFile(file, ['n', 'ew']).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      restore();
      const content = await readFile(file, 'utf8');
      if (error === undefined) expect(content).toBe('new');
      else if (content === 'new') unflushed += 1;
      expect([openFiles(), await readdir(folder)], `operation ${operation}`).toEqual([before, ['file']]);
      if (error !== undefined) failures += 1;
      isDone = operation > 12;
    }
    expect(failures).toBeGreaterThanOrEqual(4);
    // Opening and flushing the folder.
    expect(unflushed).toBe(process.platform === 'win32' ? 0 : 2);
  });

  it('confirms a replacement in a folder that cannot be opened or flushed on this system', async () => {
    const folder = temporaryFolder();
    for (const code of ['EISDIR', 'EINVAL', 'EACCES', 'ENOENT']) {
      const handle = await open(folder);
      const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
      await handle.close();
      sync.mockResolvedValueOnce(undefined).mockRejectedValueOnce(Object.assign(new Error('No.'), { code }));
      await replaceFile(join(folder, 'file'), code);
      sync.mockRestore();
      expect(await readFile(join(folder, 'file'), 'utf8')).toBe(code);
    }
  });
});

describe('createFolder()', () => {
  it('creates a private folder with its files, and never replaces one that has content', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'folder');
    await createFolder(folder, { one: '1', two: ['2'] });
    expect([await readFile(join(folder, 'one'), 'utf8'), await readFile(join(folder, 'two'), 'utf8')]).toEqual([
      '1',
      '2',
    ]);
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await expect(createFolder(folder, { one: 'other' })).rejects.toHaveProperty('code', 'ENOTEMPTY');
    expect([await readFile(join(folder, 'one'), 'utf8'), await readdir(parent)]).toEqual(['1', ['folder']]);
  });

  it.runIf(process.platform !== 'win32')('flushes its files and folders, unless sync is false', async () => {
    const parent = temporaryFolder();
    const folder = join(parent, 'folder');
    const flushed = await flushedBy(() => createFolder(folder, { file: 'x' }));
    expect(flushed).toEqual([await inode(join(folder, 'file')), await inode(folder), await inode(parent)]);
    expect(await flushedBy(() => createFolder(join(parent, 'other'), { file: 'x' }, { sync: false }))).toEqual([]);
  });
});

describe('sweepTemporaryFiles()', () => {
  it('keeps files of living processes, and removes those of ended ones and files that are a day old', async () => {
    const folder = temporaryFolder();
    let temporary = '';
    await replaceFile(join(folder, 'file'), 'x', {
      confirm: async () => {
        await sweepTemporaryFiles(folder);
        temporary = (await readdir(folder)).find(isTemporaryFile) ?? '';
      },
    });
    const elsewhere = temporary.replace(/^\.tmp-.{4}/, '.tmp-0000');
    const old = elsewhere.replace(/.$/, (last) => (last === 'f' ? '0' : 'f'));
    const ended = temporary.replace(/-\d+-([^-]*-[^-]+-[^-]+-[^-]+-[^-]+-[^-]+)$/, `-${noPid}-$1`);
    const beforeReboot = temporary.replace(/^(\.tmp-.{12}-).{4}/, '$10000');
    for (const name of [ended, beforeReboot]) await writeFile(join(folder, name), '');
    await writeFile(join(folder, elsewhere), '');
    await writeFile(join(folder, old), '');
    await utimes(join(folder, old), 1, 1);
    await writeFile(join(folder, '.tmp-mine'), '');
    await sweepTemporaryFiles(folder);
    expect((await readdir(folder)).toSorted()).toEqual([elsewhere, '.tmp-mine', 'file'].toSorted());
    await sweepTemporaryFiles(join(folder, 'none'));
  });
});

describe('openRegularFile() and readRegularFile()', () => {
  it('read a file, and report a missing one as undefined', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'file'), 'content');
    expect(await readRegularFile(join(folder, 'file'))).toMatchObject({ text: 'content', stats: { size: 7 } });
    expect(await readRegularFile(join(folder, 'none'))).toBeUndefined();
    expect([await fileSize(join(folder, 'file')), await fileSize(join(folder, 'none'))]).toEqual([7, 0]);
  });

  it.runIf(process.platform !== 'win32')('refuse links, pipes, devices and folders without waiting', async () => {
    const folder = temporaryFolder();
    const path = (name: string): string => join(folder, name);
    await writeFile(path('file'), 'content');
    await symlink(path('file'), path('link'));
    await symlink(path('none'), path('dangling'));
    execFileSync('mkfifo', [path('pipe')]);
    await mkdir(path('folder'));
    const before = openFiles();
    for (const name of [path('link'), path('dangling'), path('pipe'), path('folder'), '/dev/null']) {
      await expect(readRegularFile(name), name).rejects.toBeInstanceOf(UnsafeFileError);
    }
    const append = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
    for (const name of [path('link'), path('dangling'), path('pipe')]) {
      await expect(openRegularFile(name, append), name).rejects.toMatchObject({ code: 'unsafe-file', path: name });
    }
    expect(openFiles()).toBe(before);
    expect((await readdir(folder)).includes('none')).toBe(false);
  });
});
