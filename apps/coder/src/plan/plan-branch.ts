import { randomBytes } from 'node:crypto';
import { branchName, GitError, type GitRepository } from '@h/git';
import { counted } from '../render/quantity.js';
import { UsageError } from '../usage-error.js';

const prefix = 'agent/';

/** Marks the branch of a plan in the settings of the repository. It goes with the branch. */
const markOf = (branch: string): string => `branch.${branch}.h-plan`;

/**
 * Puts a repository on the branch of a plan: the one that is checked out if it is a plan's, so that this one goes on where it
 * was, with all that a session has left there; else a new one.
 *
 * @returns its name
 * @throws UsageError where files are not committed that would be taken for the plan's
 */
export const enterPlanBranch = async (
  repository: GitRepository,
  { goal, at }: { readonly goal: string; readonly at: number },
): Promise<string> => {
  try {
    const { head, entries } = await repository.state();
    if (head.branch !== undefined && (await repository.run(['config', '--get', markOf(head.branch)])).exitCode === 0) {
      return head.branch;
    }
    if (entries.length > 0) {
      throw new UsageError(
        `--plan: ${counted(entries.length, 'file is', 'files are')} not committed (${entries[0]?.path}). Commit or stash them first: what is in the folder from now on counts as the plan's.`,
      );
    }
    const branch = branchName({ prefix, task: goal, at, id: randomBytes(3).toString('hex') });
    await repository.git(['switch', '--quiet', '--create', branch]);
    await repository.git(['config', markOf(branch), 'true']);
    return branch;
  } catch (error) {
    throw error instanceof GitError ? new UsageError(`--plan: ${error.message}`, { cause: error }) : error;
  }
};
