import { defineTool, toolOutput, ToolError, type Tool } from '@h/tools';
import { anyBoolean, checkOptions, checkValue, instanceOf, nonEmptyString, type OptionCheck } from '@h/options';
import { GitError } from './git-error.js';
import { GitRepository } from './repository.js';

/** The name of the tool of {@link gitPushTool}, whose calls `git()` holds for approval. */
export const pushToolName = 'git_push';

/** Options of {@link gitPushTool}. */
export interface GitPushOptions {
  /**
   * The name of the remote.
   *
   * @defaultValue `'origin'`
   */
  readonly remote?: string | undefined;
  /**
   * Whether each push needs an approval, which `git({ requireApproval })` requests. Without that operator in the
   * pipeline, every push is refused.
   *
   * @defaultValue `true`
   */
  readonly requireApproval?: boolean | undefined;
  /**
   * The start of the names of branches that may be pushed.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
}

const aRepository = instanceOf(GitRepository, 'a repository that createGitRepository() returned');

const remoteName: OptionCheck = {
  expected: 'the name of a remote',
  accepts: (value) => typeof value === 'string' && /^[^-\s][^\s]*$/.test(value),
};

/** Allows for slow networks, and for a person who unlocks a key. */
const pushMs = 300_000;

/**
 * Creates the tool `git_push`, which pushes the branch of the agent under the same name, never by force and no other
 * branch.
 *
 * @throws InvalidOptionError for an invalid option
 */
export const gitPushTool = (repository: GitRepository, options: GitPushOptions = {}): Tool => {
  checkValue('gitPushTool()', 'repository', repository, aRepository);
  checkOptions('gitPushTool()', options, {
    remote: remoteName,
    requireApproval: anyBoolean,
    branchPrefix: nonEmptyString,
  });
  const { remote = 'origin', requireApproval = true, branchPrefix = 'agent/' } = options;
  return defineTool({
    name: pushToolName,
    description: `Pushes the commits of your branch to ${remote}.${requireApproval ? ' A person must approve it.' : ''}`,
    input: { type: 'object', properties: {} },
    effect: 'network',
    timeoutMs: pushMs,
    run: async (_input, { call, turn, signal }) => {
      const isApproved = repository.pushes.take(turn, call.id);
      if (requireApproval && !isApproved) {
        throw new ToolError(
          'The push was refused because it was not approved. Add the operator git() to the pipeline; it requests approvals.',
          { code: 'git-push-not-approved' },
        );
      }
      const { branch, commit } = await push(repository, remote, branchPrefix, signal);
      return toolOutput({
        output: `Pushed ${branch} to ${remote}.`,
        details: { kind: 'git-push', remote, branch, commit },
      });
    },
  });
};

const push = (
  repository: GitRepository,
  remote: string,
  branchPrefix: string,
  signal: AbortSignal,
): Promise<{ readonly branch: string; readonly commit: string }> =>
  repository.exclusive(async () => {
    await repository.top();
    const { branch, commit } = (await repository.state()).head;
    if (branch === undefined || !branch.startsWith(branchPrefix)) {
      throw new GitError(
        'git-nothing-to-push',
        `Only branches that start with ${JSON.stringify(branchPrefix)} may be pushed; ${branch ?? 'no branch'} is checked out.`,
      );
    }
    if (commit === undefined) throw new GitError('git-nothing-to-push', `${branch} has no commit yet; commit first.`);
    const remotes = (await repository.git(['remote'])).split('\n');
    if (!remotes.includes(remote)) {
      throw new GitError(
        'git-no-remote',
        `The remote ${JSON.stringify(remote)} does not exist; add it with "git remote add".`,
      );
    }
    const reference = `refs/heads/${branch}`;
    await repository.git(['push', '--quiet', '--', remote, `${reference}:${reference}`], { signal, timeoutMs: pushMs });
    return { branch, commit };
  });
