import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { anyString, checkOptions, nonEmptyString, required } from '@h/options';
import { canonicalPath } from '@h/paths';
import { deleteUnusedBranch, freeName } from './begin-work.js';
import { GitError } from './git-error.js';
import { GitRepository } from './repository.js';

/** Options of {@link addWorkTree}. */
export interface WorkTreeOptions {
  /** The folder for work trees, outside the workspace. It is created if it does not exist. */
  readonly folder: string;
  /** The task of the agent, for the name of the branch. */
  readonly task: string;
  /**
   * The start of the branch name.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
  /**
   * The branch or commit to start from.
   *
   * @defaultValue `'HEAD'` of the repository's main work tree
   */
  readonly base?: string | undefined;
}

/** A work tree with its own branch: agents in different work trees do not see each other's files. */
export interface AgentWorkTree {
  /** The folder of the workspace in the new work tree: create the agent's tools with it. */
  readonly root: string;
  readonly branch: string;
  /** The repository as seen from the work tree, for the agent's `git()` and git tools. */
  readonly repository: GitRepository;
  /**
   * Removes the work tree. The branch stays, unless it has no commit.
   *
   * @param options.force removes uncommitted changes too
   * @throws GitError `git-worktree-dirty` if there are uncommitted changes
   */
  remove(options?: { readonly force?: boolean }): Promise<void>;
}

/**
 * Creates a work tree with its own branch, for one of several agents that work at the same time.
 *
 * @throws InvalidOptionError for an invalid option; GitError, for example `git-empty`
 *
 * @example
 * ```ts
 * const tree = await addWorkTree(repository, { folder: '/home/me/.agents', task: 'Write the docs' });
 * const workspace = createWorkspace({ root: tree.root });
 * const agent = harness({ model, tools }).pipe(git({ repository: tree.repository, autoCommit: true }));
 * ```
 */
export const addWorkTree = (repository: GitRepository, options: WorkTreeOptions): Promise<AgentWorkTree> => {
  checkOptions('addWorkTree()', options, {
    folder: required(nonEmptyString),
    task: required(anyString),
    branchPrefix: anyString,
    base: nonEmptyString,
  });
  const { folder, task, branchPrefix = 'agent/', base = 'HEAD' } = options;
  return repository.exclusive(async () => {
    const top = await repository.top();
    const commit = await repository.commitOf(base);
    if (commit === undefined) {
      const isEmpty = base === 'HEAD';
      throw new GitError(
        isEmpty ? 'git-empty' : 'git-failed',
        isEmpty
          ? 'The repository has no commit, so it cannot have a second work tree; commit first.'
          : `The commit ${JSON.stringify(base)} does not exist.`,
      );
    }
    const branch = await freeName(repository, { branchPrefix, task, at: now() });
    // Git creates the folder.
    const path = join(canonicalPath(resolve(folder), folder), branch.replaceAll('/', '-'));
    const root = join(path, relative(top, repository.root));
    // Two commands, each of which can be retried: `worktree add -b` leaves its branch behind when it fails.
    try {
      await repository.git(['branch', '--quiet', '--no-track', '--', branch, commit]);
      await repository.git(['worktree', 'add', '--quiet', '--', path, branch]);
      await mkdir(root, { recursive: true });
    } catch (error) {
      await repository.git(['worktree', 'remove', '--force', '--', path]).catch(() => undefined);
      await deleteUnusedBranch(repository, branch, commit).catch(() => undefined);
      throw error;
    }
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
    const problem = error instanceof GitError ? error.message : '';
    if (/modified or untracked files/.test(problem)) {
      const message = `${path} has uncommitted changes; commit them, or remove it with force.`;
      throw new GitError('git-worktree-dirty', message, error);
    }
    // Removed by an earlier call whose answer was lost.
    if (!/is not a working tree/.test(problem)) throw error;
  }
  await deleteUnusedBranch(repository, branch, commit);
};

/** Milliseconds since 1970, for a name that people read. */
const now = (): number =>
  // oxlint-disable-next-line h/no-clock -- called outside of turns, where no event has the time
  Date.now();
