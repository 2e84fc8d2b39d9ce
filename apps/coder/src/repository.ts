import { createGitRepository, GitError, type GitRepository } from '@h/git';
import { UsageError } from './usage-error.js';

/** The git repository that the agent works in. */
export interface Repository {
  readonly repository: GitRepository;
  /**
   * What is done with it: nothing but telling what a turn has changed; a branch for the turns, on which they commit; or commits
   * where it is, on the branch of a plan.
   */
  readonly use: 'look' | 'branch' | 'plan';
}

/**
 * The repository of the folder; `undefined` if it has none, unless a branch is asked for.
 *
 * @throws UsageError where a branch is asked for and there is no repository for it
 */
export const openRepository = async (
  root: string,
  { branch, plan }: { readonly branch: boolean; readonly plan: boolean },
): Promise<Repository | undefined> => {
  const repository = createGitRepository({ root });
  try {
    await repository.top();
    return { repository, use: branch ? 'branch' : plan ? 'plan' : 'look' };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (branch) throw new UsageError(`--branch: ${error.message}`, { cause: error });
    return undefined;
  }
};
