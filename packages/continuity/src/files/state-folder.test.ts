import { mkdir, readFile, writeFile } from 'node:fs/promises';
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

  it('works where there is no repository', async () => {
    const folder = await temporaryFolder();
    await touch(folder);
    expect(await readFile(join(folder, '.agent-output/x.txt'), 'utf8')).toBe('x');
  });
});
