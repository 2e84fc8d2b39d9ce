import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { git, repository, temporaryFolder } from '../../test/folders.js';
import { openProject } from '../project.js';

const touch = async (folder: string): Promise<void> => {
  const { state } = openProject({ folder });
  await state.ensure();
  await writeFile(state.at('x.txt'), 'x');
};

describe('the state folder', () => {
  it('is ignored by git, and the project’s own .gitignore stays as it is', async () => {
    const folder = await repository();
    await writeFile(join(folder, '.gitignore'), 'node_modules\n');
    await touch(folder);
    await touch(folder);
    expect(git(folder, 'status', '--short')).toBe('?? .gitignore');
    expect(await readFile(join(folder, '.gitignore'), 'utf8')).toBe('node_modules\n');
    const exclude = await readFile(join(folder, '.git/info/exclude'), 'utf8');
    expect(exclude.match(/agent-output/g)).toHaveLength(1);
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
    const stale = state.at('lock.00000000-0000-4000-8000-000000000000');
    for (const file of [state.at('write-1234'), stale, state.at('lock.00000000-0000-4000-8000-000000000001'), state.at('mine.txt')]) await writeFile(file, '{}');
    await utimes(stale, new Date(0), new Date(0));
    await state.exclusive(() => Promise.resolve());
    expect((await readdir(state.path)).toSorted((one, other) => one.localeCompare(other))).toEqual(['lock.00000000-0000-4000-8000-000000000001', 'mine.txt']);
  });

  it('writes nothing once the lock was taken away, and leaves the new holder’s', async () => {
    const folder = await temporaryFolder();
    const { state } = openProject({ folder });
    const file = join(folder, 'x.txt');
    await writeFile(file, 'old');
    const stolen = JSON.stringify({ pid: process.pid, host: 'elsewhere', token: 'theirs' });
    const work = state.exclusive(async ({ replace }) => {
      await writeFile(state.at('lock'), stolen);
      await replace(file, 'new');
    });
    await expect(work).rejects.toMatchObject({ code: 'locked' });
    expect(await readFile(file, 'utf8')).toBe('old');
    expect(await readFile(state.at('lock'), 'utf8')).toBe(stolen);
    expect((await readdir(state.path)).filter((name) => name.startsWith('write-'))).toEqual([]);
  });

  it('takes a lock of another machine for abandoned after half a minute', async () => {
    const folder = await temporaryFolder();
    const held = openProject({ folder, lockTimeoutMs: 1 }).state;
    await held.ensure();
    await writeFile(held.at('lock'), JSON.stringify({ pid: 1, host: 'elsewhere', token: 'theirs' }));
    await expect(held.exclusive(() => Promise.resolve())).rejects.toMatchObject({ code: 'locked' });
    const later = openProject({ folder, clock: () => Date.now() + 31_000 }).state;
    expect(await later.exclusive(() => Promise.resolve('mine'))).toBe('mine');
  });

  it('works where there is no repository', async () => {
    const folder = await temporaryFolder();
    await touch(folder);
    expect(await readFile(join(folder, '.agent-output/x.txt'), 'utf8')).toBe('x');
  });
});
