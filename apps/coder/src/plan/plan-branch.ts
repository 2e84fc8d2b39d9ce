import { randomBytes } from 'node:crypto';
import { branchName, GitError, type GitRepository } from '@h/workspace';
import { counted } from '../render/quantity.js';
import { UsageError } from '../usage-error.js';

const prefix = 'agent/';

/**
 * Puts a repository on the branch of a plan: the one that is checked out if it is an agent's, so that a plan goes on where it
 * was, else a new one.
 *
 * @returns its name
 * @throws UsageError where files are not committed that would be taken for the plan's
 */
export const enterPlanBranch = async (repository: GitRepository, { goal, at }: { readonly goal: string; readonly at: number }): Promise<string> => {
  try {
    const { head, entries } = await repository.state();
    if (head.branch?.startsWith(prefix) === true) return head.branch;
    if (entries.length > 0) throw new UsageError(`--plan: ${counted(entries.length, 'file is', 'files are')} not committed (${entries[0]?.path}). Commit or stash them first: what is in the folder from now on counts as the plan's.`);
    const branch = branchName({ prefix, task: goal, at, id: randomBytes(3).toString('hex') });
    await repository.git(['switch', '--quiet', '--create', branch]);
    return branch;
  } catch (error) {
    throw error instanceof GitError ? new UsageError(`--plan: ${error.message}`, { cause: error }) : error;
  }
};
