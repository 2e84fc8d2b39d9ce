import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { ensureFolder } from './ensure-folder.js';

describe('ensureFolder', () => {
  it('creates a folder and its parents with the mode, and leaves folders that exist', async () => {
    const root = temporaryFolder();
    const path = join(root, 'a/b/c');
    await Promise.all([ensureFolder(path), ensureFolder(join(root, 'a/b/d')), ensureFolder(path)]);
    expect(['a', 'a/b', 'a/b/c', 'a/b/d'].map((name) => statSync(join(root, name)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700, 0o700,
    ]);
    await ensureFolder(join(root, 'a/e'), 0o755);
    await ensureFolder(join(root, 'a/e'), 0o700);
    expect(statSync(join(root, 'a/e')).mode & 0o777).toBe(0o755);
    await ensureFolder('/');
  });

  it('returns the outermost folder that it created', async () => {
    const root = temporaryFolder();
    expect(await ensureFolder(join(root, 'a/b/c'))).toBe(join(root, 'a'));
    expect(await ensureFolder(join(root, 'a/b/d'))).toBe(join(root, 'a/b/d'));
    expect(await ensureFolder(root)).toBeUndefined();
  });

  it('accepts a link to a folder, and fails for a file and a link to nothing', async () => {
    const root = temporaryFolder();
    await ensureFolder(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'link'));
    symlinkSync(join(root, 'none'), join(root, 'dangling'));
    writeFileSync(join(root, 'file'), '');
    await ensureFolder(join(root, 'link/inner'));
    expect(existsSync(join(root, 'real/inner'))).toBe(true);
    await expect(ensureFolder(join(root, 'file'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(ensureFolder(join(root, 'dangling'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(ensureFolder(join(root, 'file/inner'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.runIf(process.platform === 'linux')('fails in a file system that has no folders of others', async () => {
    await expect(ensureFolder('/proc/x/y/z')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
