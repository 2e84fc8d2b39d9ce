import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createGitRepository } from '@h/git';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { inFolder } from '../../test/folders.js';
import { UsageError } from '../usage-error.js';
import { enterPlanBranch } from './plan-branch.js';

const open = async () => {
  const folder = temporaryFolder();
  const git = async (...words: readonly string[]): Promise<string> =>
    (await inFolder(folder, 'git', ...words)).output.trim();
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('-c', 'user.name=Ada', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '--message', 'First');
  return {
    folder,
    git,
    enter: () => enterPlanBranch(createGitRepository({ root: folder }), { goal: 'Build a shop', at: 0 }),
  };
};

describe('enterPlanBranch', () => {
  it('creates a branch and stays on it with uncommitted files', async () => {
    const { folder, git, enter } = await open();
    const branch = await enter();
    expect(branch).toMatch(/^agent\/build-a-shop-19700101-000000-/);
    expect(await git('branch', '--show-current')).toBe(branch);
    await writeFile(join(folder, 'left.txt'), 'by a session whose process died');
    expect(await enter()).toBe(branch);
  });

  it.each(['main', 'agent/other-work'])('rejects uncommitted files on %s', async (branch) => {
    const { folder, git, enter } = await open();
    await git('switch', '--quiet', '-C', branch);
    await writeFile(join(folder, 'mine.txt'), 'mine');
    await expect(enter()).rejects.toThrow(UsageError);
    await expect(enter()).rejects.toThrow(/1 file is not committed \(mine\.txt\)/);
    expect(await git('branch', '--show-current')).toBe(branch);
  });

  it('creates a new branch on a branch that is not of a plan', async () => {
    const { git, enter } = await open();
    await git('switch', '--quiet', '--create', 'agent/other-work');
    expect(await enter()).not.toBe('agent/other-work');
  });
});
