import { chmod, mkdir, readdir, readFile, rename, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, repository, temporaryFolder } from '../../test/folders.js';
import { openProject } from '../project.js';
import { withLock } from './lock.js';
import { thisProcess } from './process.js';
import type { StateFolder } from './state-folder.js';

const touch = async (folder: string): Promise<void> => {
  const { state } = openProject({ folder });
  await state.ensure();
  await writeFile(state.at('x.txt'), 'x');
};

/** Holds the lock until it is let go. */
const occupied = (state: StateFolder): Promise<() => void> =>
  new Promise((held, failed) => {
    state.exclusive(() => new Promise<void>((free) => held(free))).catch(failed);
  });

describe('the state folder', () => {
  it('is ignored by git, and the project’s own .gitignore stays as it is', async () => {
    const folder = await repository();
    await writeFile(join(folder, '.gitignore'), 'node_modules\n');
    await touch(folder);
    await touch(folder);
    expect(git(folder, 'status', '--short')).toBe('?? .gitignore');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n');
  });

  it('is ignored by a repository that is made later, and after a crash in making it', async () => {
    const folder = await temporaryFolder();
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
    const tree = join(await temporaryFolder(), 'tree');
    git(folder, 'worktree', 'add', '--quiet', '-b', 'agent/other', tree);
    await touch(tree);
    expect(git(tree, 'status', '--short')).toBe('');
  });

  it('is rid of what writers have left that died, and not of what others need', async () => {
    const { state } = openProject({ folder: await temporaryFolder() });
    await state.ensure();
    const leave = async (name: string, holder: object): Promise<string> => {
      await mkdir(state.at('lock', name));
      await writeFile(state.at('lock', name, 'holder'), JSON.stringify({ ...thisProcess(), token: name, ...holder }));
      return state.at('lock', name);
    };
    await leave('dead', { pid: 2 ** 22 + 1 });
    await leave('another-with-its-number', { start: '1' });
    await leave('alive', {});
    await leave('elsewhere', { machine: 'elsewhere' });
    const old = await leave('elsewhere-long-ago', { machine: 'elsewhere' });
    await utimes(old, new Date(0), new Date(0));
    await writeFile(state.at('mine.txt'), 'mine');
    await state.exclusive(() => Promise.resolve());
    expect((await readdir(state.at('lock'))).toSorted((one, other) => one.localeCompare(other))).toEqual([
      'alive',
      'elsewhere',
    ]);
    expect(await readFile(state.at('mine.txt'), 'utf8')).toBe('mine');
  });

  it('keeps the mode of what it replaces', async () => {
    const folder = await temporaryFolder();
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

  it('gives up after the time that the option says, also where the clock stands', async () => {
    const folder = await temporaryFolder();
    const { state } = openProject({ folder });
    const free = await occupied(state);
    await expect(
      openProject({ folder, clock: () => 0, lockTimeoutMs: 30 }).state.exclusive(() => Promise.resolve()),
    ).rejects.toMatchObject({ code: 'locked', message: expect.stringContaining('30 ms') as unknown });
    free();
    expect(await openProject({ folder, clock: () => 0 }).state.exclusive(() => Promise.resolve('mine'))).toBe('mine');
    expect(await readdir(state.at('lock'))).toEqual([]);
  });

  it('lets a writer that stood still for too long write nothing, wherever it stood', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'x.txt');
    await writeFile(file, 'old');
    const slow = openProject({ folder }).state;
    const other = openProject({ folder }).state;
    const late = slow.exclusive(async ({ replace }) => {
      await utimes(slow.at('lock/held/holder'), new Date(Date.now() - 31_000), new Date(Date.now() - 31_000));
      await other.exclusive((writer) => writer.replace(file, 'theirs'));
      await replace(file, 'late');
    });
    await expect(late).rejects.toMatchObject({ code: 'locked' });
    expect(await readFile(file, 'utf8')).toBe('theirs');

    // While another one holds it.
    const during = slow.exclusive(async ({ replace }) => {
      await utimes(slow.at('lock/held/holder'), new Date(0), new Date(0));
      const free = await occupied(other);
      await replace(file, 'late').finally(free);
    });
    await expect(during).rejects.toMatchObject({ code: 'locked' });
    expect(await readFile(file, 'utf8')).toBe('theirs');

    // Between its last look at the lock and the move into place.
    const folderOfLock = slow.at('lock');
    const moved = withLock({ folder: folderOfLock, token: 'slow', timeoutMs: 1_000 }, async ({ temporary, check }) => {
      await writeFile(temporary, 'late');
      await check();
      await utimes(join(folderOfLock, 'held/holder'), new Date(0), new Date(0));
      const free = await occupied(other);
      try {
        await rename(temporary, file);
      } finally {
        free();
      }
    });
    await expect(moved).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readFile(file, 'utf8')).toBe('theirs');
  });

  it('leaves the lock of whoever took it away', async () => {
    const { state } = openProject({ folder: await temporaryFolder() });
    const stolen = JSON.stringify({ machine: 'elsewhere', boot: '', pid: 1, start: '', token: 'theirs' });
    await state.exclusive(() => writeFile(state.at('lock/held/holder'), stolen));
    expect(await readFile(state.at('lock/held/holder'), 'utf8')).toBe(stolen);
  });

  it('takes a lock of another machine, and one whose content is lost, for abandoned after half a minute', async () => {
    const { state } = openProject({ folder: await temporaryFolder(), lockTimeoutMs: 1 });
    await state.ensure();
    for (const content of [
      JSON.stringify({ machine: 'elsewhere', boot: '', pid: 1, start: '', token: 'theirs' }),
      '',
    ]) {
      await mkdir(state.at('lock/held'));
      const holder = state.at('lock/held/holder');
      await writeFile(holder, content);
      await expect(state.exclusive(() => Promise.resolve())).rejects.toMatchObject({ code: 'locked' });
      await utimes(holder, new Date(Date.now() - 31_000), new Date(Date.now() - 31_000));
      expect(await openProject({ folder: dirname(state.path) }).state.exclusive(() => Promise.resolve('mine'))).toBe(
        'mine',
      );
    }
  });

  it('goes on after whoever took a dead lock away has died in doing so', async () => {
    const { state } = openProject({ folder: await temporaryFolder() });
    await state.ensure();
    for (const name of ['held', 'breaking']) {
      await mkdir(state.at('lock', name));
      await writeFile(state.at('lock', name, 'holder'), JSON.stringify({ ...thisProcess(), start: '1', token: name }));
    }
    expect(await state.exclusive(() => Promise.resolve('mine'))).toBe('mine');
    expect(await readdir(state.at('lock'))).toEqual([]);
  });

  it('works where there is no repository', async () => {
    const folder = await temporaryFolder();
    await touch(folder);
    expect(await readFile(join(folder, '.agent-output/x.txt'), 'utf8')).toBe('x');
  });
});
