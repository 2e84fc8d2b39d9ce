import { execFile } from 'node:child_process';
import { cp } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';

/** Copies the sample project into a temporary folder. */
export const sampleProject = async (): Promise<string> => {
  const folder = temporaryFolder();
  await cp(fileURLToPath(new URL('../fixtures/sample-project', import.meta.url)), folder, { recursive: true });
  return folder;
};

/** Runs a program in a folder with a minimal environment. */
export const inFolder = async (
  cwd: string,
  command: string,
  ...words: readonly string[]
): Promise<{ readonly code: number; readonly output: string }> => {
  const env = { PATH: process.env['PATH'] ?? '' };
  try {
    const { stdout } = await promisify(execFile)(command, words, { cwd, env });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout } = error as { readonly code: number; readonly stdout: string };
    return { code, output: stdout };
  }
};

/** Runs git in a folder and returns its output. */
export const git = async (folder: string, ...words: readonly string[]): Promise<string> =>
  (await inFolder(folder, 'git', ...words)).output.trimEnd();

/** Makes a folder a repository whose first commit contains all its files. */
export const commitFolder = async (folder: string): Promise<void> => {
  await git(folder, 'init', '--quiet', '--initial-branch', 'main');
  await git(folder, 'add', '.');
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.invalid'];
  await git(folder, ...author, 'commit', '--quiet', '--message', 'First');
};
