import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A git repository in a temporary folder. */
export interface Repository {
  readonly folder: string;
  readonly git: (...args: readonly string[]) => string;
  readonly write: (path: string, content: string) => void;
  readonly remove: () => void;
}

/** Creates a repository with one commit on this branch. */
export const makeRepository = (branch = 'main'): Repository => {
  const folder = mkdtempSync(join(tmpdir(), 'h-hooks-'));
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      env,
      encoding: 'utf8',
      stdio: 'pipe',
    }).trim();
  git('init', '-q', '-b', branch);
  git('commit', '-q', '--allow-empty', '-m', 'begin');
  return {
    folder,
    git,
    write: (path, content) => writeFileSync(join(folder, path), content),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
