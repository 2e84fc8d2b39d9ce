import { execFileSync } from 'node:child_process';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';

/** Runs git in a folder, without the user's configuration. */
export const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
  }).trimEnd();

/** A git repository on the branch of an agent. */
export const repository = async (): Promise<string> => {
  const folder = temporaryFolder();
  git(folder, 'init', '--quiet', '--initial-branch=agent/work');
  return folder;
};
