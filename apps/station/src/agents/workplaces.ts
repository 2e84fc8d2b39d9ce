import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ensureFolder } from '@h/files';
import { addWorkTree, createGitRepository, GitError, type GitRepository } from '@h/git';
import type { StationConfig } from '../config/schema.js';

/** A folder that an agent works in. */
export interface Workplace {
  readonly root: string;
  /** The repository that contains the folder, if it is in one. */
  readonly repository: GitRepository | undefined;
  /** Whether the folder is a work tree with its own branch. */
  readonly hasOwnBranch: boolean;
}

/**
 * Opens the folder of a session or of a workflow run, as `harness.workspace.mode` says: the workspace itself, or a
 * separate work tree or folder below the folder of the database. A separate one is found again after a restart.
 *
 * @param key the session or run
 */
export const openWorkplace = async (config: StationConfig, key: string): Promise<Workplace> => {
  const { workspace, git } = config.harness;
  await ensureFolder(workspace.path, 0o777);
  const repository = await repositoryAt(workspace.path);
  if (workspace.mode === 'host') return { root: workspace.path, repository, hasOwnBranch: false };
  const folder = join(config.database.folder, 'workplaces', nameOf(key));
  await ensureFolder(folder);
  if (repository === undefined) return { root: folder, repository: undefined, hasOwnBranch: false };
  const [existing] = await readdir(folder);
  if (existing !== undefined) {
    const root = join(folder, existing, relative(await repository.top(), repository.root));
    return { root, repository: createGitRepository({ root }), hasOwnBranch: true };
  }
  const tree = await addWorkTree(repository, { folder, task: key, branchPrefix: git.branch_prefix });
  return { root: tree.root, repository: createGitRepository({ root: tree.root }), hasOwnBranch: true };
};

/**
 * An unknown failure is thrown: without its repository, the agent would work in an empty folder or without a branch.
 */
const repositoryAt = async (root: string): Promise<GitRepository | undefined> => {
  const repository = createGitRepository({ root });
  try {
    await repository.top();
    return repository;
  } catch (error) {
    if (error instanceof GitError && error.code !== 'git-failed') return undefined;
    throw error;
  }
};

const nameOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 24);
