import { createGitRepository, GitError, type GitRepository } from '@h/workspace';
import { UsageError } from './usage-error.js';

/** The git repository that the agent works in. */
export interface Repository {
  readonly repository: GitRepository;
  /** Whether turns get a branch of their own, and what they change is committed there. */
  readonly isBranched: boolean;
}

/**
 * The repository of the folder; `undefined` if it has none, unless a branch is asked for.
 *
 * @throws UsageError where a branch is asked for and there is no repository for it
 */
export const openRepository = async (root: string, { branch: isBranched }: { readonly branch: boolean }): Promise<Repository | undefined> => {
  const repository = createGitRepository({ root });
  try {
    await repository.top();
    return { repository, isBranched };
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (isBranched) throw new UsageError(`--branch: ${error.message}`, { cause: error });
    return undefined;
  }
};
