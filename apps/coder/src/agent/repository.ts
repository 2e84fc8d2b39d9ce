import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createGitRepository, GitError, type GitRepository } from '@h/git';
import { UsageError } from '../usage-error.js';

/** The git repository of the workspace. */
export interface Repository {
  readonly repository: GitRepository;
  /**
   * `look` only reports what a turn changed; `branch` commits turns to a new branch; `plan` commits to the current
   * branch, which belongs to a plan.
   */
  readonly use: 'look' | 'branch' | 'plan';
}

/**
 * Opens the repository of the folder; `undefined` if the folder has none, or git cannot use it.
 *
 * @param warn receives why git cannot use a repository
 * @throws UsageError if `branch` is set and the folder has no repository
 */
export const openRepository = async (
  root: string,
  { branch, plan }: { readonly branch: boolean; readonly plan: boolean },
  warn: (text: string) => void,
): Promise<Repository | undefined> => {
  const repository = createGitRepository({ root });
  try {
    await repository.top();
    return { repository, use: branch ? 'branch' : plan ? 'plan' : 'look' };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (branch) throw new UsageError(`--branch: ${error.message}`, { cause: error });
    // Without git on the machine, only a folder with a repository needs the warning.
    const hasNone =
      error.code === 'git-no-repository' || (error.code === 'git-missing' && !existsSync(join(root, '.git')));
    if (!hasNone) warn(`! Changes are neither reported nor committed: ${error.message}`);
    return undefined;
  }
};
