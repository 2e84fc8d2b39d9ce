import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import { canonicalPath } from '../paths/canonical.js';
import { wallClock } from '../process/machine.js';
import { freeName } from './begin-work.js';
import { GitError } from './git-error.js';
import { GitRepository } from './repository.js';

/** Options of {@link addWorkTree}. */
export interface WorkTreeOptions {
  /** The folder for work trees, outside of the workspace. It is made if it is missing. */
  readonly folder: string;
  /** What the agent is to do. */
  readonly task: string;
  /**
   * What the branch's name begins with.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
  /**
   * The branch or commit to begin at.
   *
   * @defaultValue what is checked out in the repository's own work tree
   */
  readonly base?: string | undefined;
}

/** A work tree with a branch of its own: agents in different ones do not see each other's files. */
export interface AgentWorkTree {
  /** The workspace's folder in the new work tree: build the agent's tools on it. */
  readonly root: string;
  readonly branch: string;
  /** The repository as seen from there: give it to the agent's `git()` and git tools. */
  readonly repository: GitRepository;
  /**
   * Removes the work tree. The branch stays, unless nothing was committed to it.
   *
   * @param options.force Removes changes that are not committed, too.
   * @throws GitError `git-worktree-dirty` if there are such changes.
   */
  remove(options?: { readonly force?: boolean }): Promise<void>;
}

const optionsSchema = z.strictObject({
  folder: z.string().min(1),
  task: z.string(),
  branchPrefix: z.string().default('agent/'),
  base: z.string().min(1).default('HEAD'),
});

/**
 * Makes a work tree with a branch of its own, for one of several agents that work at the same time.
 *
 * @throws WorkspaceOptionsError for a wrong option; GitError, among others `git-empty`.
 *
 * @example
 * ```ts
 * const tree = await addWorkTree(repository, { folder: '/home/me/.agents', task: 'Write the docs' });
 * const workspace = createWorkspace({ root: tree.root });
 * const agent = harness({ model, tools }).pipe(git({ repository: tree.repository, autoCommit: true }));
 * ```
 */
export const addWorkTree = (repository: GitRepository, options: WorkTreeOptions): Promise<AgentWorkTree> => {
  const { folder, task, branchPrefix, base } = parseOptions('addWorkTree', optionsSchema, options);
  return repository.exclusive(async () => {
    const top = await repository.top();
    const commit = await repository.commitOf(base);
    if (commit === undefined) {
      const isEmpty = base === 'HEAD';
      throw new GitError(
        isEmpty ? 'git-empty' : 'git-failed',
        isEmpty
          ? 'The repository has no commit yet, so there is nothing to make a work tree of; commit something first.'
          : `There is no commit ${JSON.stringify(base)}.`,
      );
    }
    const branch = await freeName(repository, { branchPrefix, task, at: wallClock() });
    await mkdir(folder, { recursive: true });
    const path = join(canonicalPath(resolve(folder), folder), branch.replaceAll('/', '-'));
    await repository.git(['worktree', 'add', '--quiet', '-b', branch, '--', path, commit]);
    const root = join(path, relative(top, repository.root));
    await mkdir(root, { recursive: true });
    return {
      root,
      branch,
      repository: new GitRepository(root, repository.access, branch),
      remove: ({ force = false } = {}) =>
        repository.exclusive(() => removeWorkTree(repository, { path, branch, commit, force })),
    };
  });
};

interface Removal {
  readonly path: string;
  readonly branch: string;
  readonly commit: string;
  readonly force: boolean;
}

const removeWorkTree = async (repository: GitRepository, { path, branch, commit, force }: Removal): Promise<void> => {
  try {
    await repository.git(['worktree', 'remove', ...(force ? ['--force'] : []), '--', path]);
  } catch (error) {
    const isDirty = error instanceof GitError && /modified or untracked files/.test(error.message);
    throw isDirty
      ? new GitError(
          'git-worktree-dirty',
          `${path} has changes that are not committed; commit them, or remove it with force.`,
          error,
        )
      : error;
  }
  if ((await repository.commitOf(`refs/heads/${branch}`)) === commit) {
    await repository.git(['branch', '--quiet', '-D', '--', branch]);
  }
};
