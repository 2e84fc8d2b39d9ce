import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { UsageError } from '../usage-error.js';

/** Resolved from the package folder, because the build bundles this file. */
const source = join(
  dirname(createRequire(import.meta.url).resolve('@h/coder/package.json')),
  'fixtures/sample-project',
);

/**
 * Copies the sample project, a small package with a failing test, into a git repository in a new temporary folder.
 *
 * @returns the folder
 */
export const createSampleProject = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'h-coder-')));
  try {
    await cp(source, folder, { recursive: true });
    await git(folder, 'init', '--quiet');
    await git(folder, 'add', '.');
    await git(folder, ...identity, 'commit', '--quiet', '--message', 'The sample project, with a failing test');
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};

/** Git settings that replace the user's name, signing key and hooks. */
const identity = [
  '-c',
  'user.name=h coder',
  '-c',
  'user.email=coder@example.invalid',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'core.hooksPath=/dev/null',
];

const git = async (cwd: string, ...words: readonly string[]): Promise<void> => {
  try {
    await promisify(execFile)('git', words, { cwd, env: environmentOfGit() });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new UsageError('The demo requires git. Install git and try again.', { cause: error });
    }
    throw error;
  }
};

/** The environment without the variables that point git to another repository. */
const environmentOfGit = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));
