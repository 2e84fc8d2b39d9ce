import { execFile } from 'node:child_process';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

/** Creates an empty folder and removes it after the test. */
export const temporaryFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'coder-test-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** Copies the sample project into a temporary folder. */
export const sampleProject = async (): Promise<string> => {
  const folder = await temporaryFolder();
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
