import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';

/** A real repository in a temporary folder. */
export interface GitBench {
  readonly root: string;
  /** Runs git as a person would, and returns what it says. */
  git(...args: string[]): string;
  put(path: string, content: string | Buffer): void;
  content(path: string): string;
  at(path: string): string;
  /** Files that are not committed, as `git status --short` shows them. */
  status(): string[];
  branch(): string;
  branches(): string[];
}

/** A person's git: nothing from this machine's settings, but a name. */
const person = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A Person',
  GIT_AUTHOR_EMAIL: 'person@example.org',
  GIT_COMMITTER_NAME: 'A Person',
  GIT_COMMITTER_EMAIL: 'person@example.org',
};

/** A view on a work tree. */
export const gitBenchAt = (root: string): GitBench => {
  const at = (path: string): string => join(root, path);
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: root,
      env: person,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trimEnd();
  return {
    root,
    git,
    at,
    put: (path, content) => {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
    },
    content: (path) => readFileSync(at(path), 'utf8'),
    status: () =>
      git('-c', 'core.quotePath=false', 'status', '--short', '--untracked-files=all').split('\n').filter(Boolean),
    branch: () => git('symbolic-ref', '--short', 'HEAD'),
    branches: () => git('branch', '--format=%(refname:short)').split('\n').filter(Boolean),
  };
};

type Files = Readonly<Record<string, string>>;

/** Repositories by their files: a copy takes a fraction of the time of three git processes. */
const templates = new Map<string, string>();

const templateOf = (files: Files): string => {
  const key = JSON.stringify(files);
  const known = templates.get(key);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(inject('gitTemplates'), 'template-'));
  const bench = gitBenchAt(folder);
  bench.git('init', '--quiet', '--initial-branch=main', '--template=');
  mkdirSync(bench.at('.git/hooks'), { recursive: true });
  mkdirSync(bench.at('.git/info'), { recursive: true });
  for (const [path, content] of Object.entries(files)) bench.put(path, content);
  if (Object.keys(files).length > 0) {
    bench.git('add', '--all');
    bench.git('commit', '--quiet', '--message=first');
  }
  templates.set(key, folder);
  return folder;
};

/** A repository on the branch `main`, with these files in its first commit; without a commit if it has no files. */
export const gitBench = (files: Files = { 'a.txt': 'one\n' }): GitBench => {
  const folder = oddlyNamedFolder();
  cpSync(templateOf(files), folder, { recursive: true });
  return gitBenchAt(folder);
};
