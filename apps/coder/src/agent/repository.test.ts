import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { git } from '../../test/folders.js';
import { openRepository } from './repository.js';

const look = { branch: false, plan: false };

it('says why git cannot use the repository of a folder', async () => {
  const folder = temporaryFolder();
  await git(folder, 'init', '--quiet');
  await writeFile(join(folder, '.git', 'config'), '[');
  const warnings: string[] = [];
  expect(await openRepository(folder, look, (text) => warnings.push(text))).toBeUndefined();
  expect(warnings).toEqual([expect.stringMatching(/^! Changes are neither reported nor committed: .*bad config/s)]);
});

it('says nothing about a folder without a repository', async () => {
  const warnings: string[] = [];
  expect(await openRepository(temporaryFolder(), look, (text) => warnings.push(text))).toBeUndefined();
  expect(warnings).toEqual([]);
});
