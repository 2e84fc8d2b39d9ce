import { randomBytes } from 'node:crypto';
import { branchName, GitError, type GitRepository } from '@h/git';
import { counted } from '../render/quantity.js';
import { UsageError } from '../usage-error.js';

const prefix = 'agent/';

/** The git setting that marks the branch of a plan. Git removes it with the branch. */
const markOf = (branch: string): string => `branch.${branch}.h-plan`;

/**
 * Switches a repository to the branch of a plan: stays on the current branch if it belongs to a plan, with its
 * uncommitted files, and creates a new branch otherwise.
 *
 * @returns its name
 * @throws UsageError if uncommitted files would become part of the plan
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
        `--plan: ${counted(entries.length, 'file is', 'files are')} not committed (${entries[0]?.path}). Commit or stash them first, because the plan commits all changes in the folder.`,
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
