import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { reasonOf, sharedFolderWarning, startFolder, workFolder } from './folder.js';

const temporary = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'h-folder-')));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
};

describe('sharedFolderWarning', () => {
  it('names the folder of temporary files, and no folder in it', async () => {
    expect(await sharedFolderWarning(await realpath(tmpdir()))).toContain('the temporary files of all programs');
    expect(await sharedFolderWarning(await temporary())).toBeUndefined();
  });
});

describe('workFolder', () => {
  it('resolves a path against the current folder', async () => {
    const folder = await temporary();
    await mkdir(join(folder, 'repo'));
    expect(await workFolder('repo', folder)).toBe(join(folder, 'repo'));
    expect(await workFolder(undefined, folder)).toBe(folder);
  });

  it('follows links', async () => {
    const folder = await temporary();
    await symlink(folder, join(folder, 'link'));
    expect(await workFolder('link', folder)).toBe(folder);
  });

  it('rejects a missing folder', async () => {
    const folder = await temporary();
    await expect(workFolder('gone', folder)).rejects.toMatchObject({
      code: 'usage',
      message: `Cannot use the folder ${join(folder, 'gone')}: it does not exist.`,
    });
  });

  it('rejects a file', async () => {
    const folder = await temporary();
    await writeFile(join(folder, 'file'), '');
    await expect(workFolder('file', folder)).rejects.toMatchObject({
      code: 'usage',
      message: `${join(folder, 'file')} is not a folder.`,
    });
  });
});

describe('startFolder', () => {
  it('returns the folder in which the user called npm start', () => {
    expect(startFolder({ npm_lifecycle_event: 'start', INIT_CWD: '/home/ada' }, '/repo')).toBe('/home/ada');
  });

  it('returns the current folder otherwise', () => {
    expect(startFolder({}, '/repo')).toBe('/repo');
    expect(startFolder({ npm_lifecycle_event: 'test', INIT_CWD: '/home/ada' }, '/repo')).toBe('/repo');
    expect(startFolder({ npm_lifecycle_event: 'start' }, '/repo')).toBe('/repo');
  });
});

it('says in words why a folder cannot be written', () => {
  expect(reasonOf({ code: 'EROFS' })).toBe('the file system is read-only');
  expect(reasonOf({ code: 'EIO' })).toBe('EIO');
});
