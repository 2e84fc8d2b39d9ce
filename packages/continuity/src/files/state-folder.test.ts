import { chmod, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { git, repository } from '../../test/folders.js';
import { openProject } from '../project.js';
import type { StateFolder } from './state-folder.js';

const touch = async (folder: string): Promise<void> => {
  const { state } = openProject({ folder });
  await state.ensure();
  await writeFile(state.at('x.txt'), 'x');
};

/** Holds the lock until the returned function is called. */
const occupied = (state: StateFolder): Promise<() => void> =>
  new Promise((held, failed) => {
    state.exclusive(() => new Promise<void>((free) => held(free))).catch(failed);
  });

describe('the state folder', () => {
  it('is ignored by git, and the project’s own .gitignore is unchanged', async () => {
    const folder = await repository();
    await writeFile(join(folder, '.gitignore'), 'node_modules\n');
    await touch(folder);
    await touch(folder);
    expect(git(folder, 'status', '--short')).toBe('?? .gitignore');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n');
  });

  it('is ignored by a repository that is created later, and after a crash during its creation', async () => {
    const folder = temporaryFolder();
    await mkdir(join(folder, '.agent-output'));
    await writeFile(join(folder, '.agent-output/.gitignore'), '');
    await touch(folder);
    git(folder, 'init', '--quiet');
    await writeFile(join(folder, 'mine.txt'), 'mine');
    git(folder, 'add', '--all');
    expect(git(folder, 'status', '--short')).toBe('A  mine.txt');
  });

  it('is ignored in a folder of a repository, whatever its name, and in a work tree', async () => {
    const folder = await repository();
    const part = join(folder, 'packages/a [b]');
    await mkdir(part, { recursive: true });
    await touch(part);
    expect(git(folder, 'status', '--short')).toBe('');
    git(folder, 'commit', '--quiet', '--allow-empty', '-m', 'First');
    const tree = join(temporaryFolder(), 'tree');
    git(folder, 'worktree', 'add', '--quiet', '-b', 'agent/other', tree);
    await touch(tree);
    expect(git(tree, 'status', '--short')).toBe('');
  });

  it('retains the mode of a replaced file', async () => {
    const folder = temporaryFolder();
    const { state } = openProject({ folder });
    const file = join(folder, 'x.txt');
    await writeFile(file, 'old');
    for (const mode of [0o600, 0o664]) {
      await chmod(file, mode);
      await state.exclusive(({ replace }) => replace(file, 'new'));
      expect((await stat(file)).mode & 0o777).toBe(mode);
    }
    await state.exclusive(({ replace }) => replace(file, 'new', { mode: 0o755 }));
    expect((await stat(file)).mode & 0o777).toBe(0o755);
  });

  it('rejects after lockTimeoutMs, also if the clock does not advance', async () => {
    const folder = temporaryFolder();
    const { state } = openProject({ folder });
    const free = await occupied(state);
    await expect(
      openProject({ folder, clock: () => 0, lockTimeoutMs: 30 }).state.exclusive(() => Promise.resolve()),
    ).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('30 ms') as unknown });
    free();
    expect(await openProject({ folder, clock: () => 0 }).state.exclusive(() => Promise.resolve('mine'))).toBe('mine');
    expect(await readdir(state.at('lock'))).toHaveLength(1);
  });

  it('rejects writes of a writer that was suspended past its lease', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'x.txt');
    await writeFile(file, 'old');
    const slow = openProject({ folder }).state;
    const late = slow.exclusive(async ({ replace }) => {
      // Another machine takes over.
      await rm(slow.at('lock/lock.1'), { recursive: true });
      await mkdir(slow.at('lock/lock.2/token'), { recursive: true });
      const owner = JSON.stringify({ host: 'elsewhere', pid: 1, leaseMs: 1 });
      await writeFile(slow.at('lock/lock.2/token/owner'), owner);
      await utimes(slow.at('lock/lock.2/token/owner'), 1, 1);
      await replace(file, 'late');
    });
    await expect(late).rejects.toMatchObject({
      code: 'locked',
      message: expect.stringContaining('taken over by process 1 on elsewhere') as unknown,
    });
    expect(await readFile(file, 'utf8')).toBe('old');
    await slow.exclusive(({ replace }) => replace(file, 'new'));
    expect(await readFile(file, 'utf8')).toBe('new');
  });

  it('works without a repository', async () => {
    const folder = temporaryFolder();
    await touch(folder);
    expect(await readFile(join(folder, '.agent-output/x.txt'), 'utf8')).toBe('x');
  });
});
