import { defineTool, toolOutput, ToolError, type Tool } from '@h/tools';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import { GitError } from './git-error.js';
import type { GitRepository } from './repository.js';

/** The name of the tool that {@link gitPushTool} makes, and that `git()` asks about. */
export const pushToolName = 'git_push';

/** Options of {@link gitPushTool}. */
export interface GitPushOptions {
  /**
   * Where to push to.
   *
   * @defaultValue `'origin'`
   */
  readonly remote?: string | undefined;
  /**
   * Whether a person has to approve each push, which `git({ requireApproval })` asks for. Without that operator in the pipe
   * nothing is pushed.
   *
   * @defaultValue `true`
   */
  readonly requireApproval?: boolean | undefined;
  /**
   * What the names of branches begin with that may be pushed.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
}

const optionsSchema = z.strictObject({
  remote: z
    .string()
    .regex(/^[^-\s][^\s]*$/, 'it has to be the name of a remote')
    .default('origin'),
  requireApproval: z.boolean().default(true),
  branchPrefix: z.string().min(1).default('agent/'),
});

/** Networks are slow, and people have to unlock keys. */
const pushMs = 300_000;

/**
 * The tool `git_push`: pushes the agent's branch under its own name, never by force and never another one.
 *
 * @throws WorkspaceOptionsError for an option that is unknown or wrong.
 */
export const gitPushTool = (repository: GitRepository, options: GitPushOptions = {}): Tool => {
  const { remote, requireApproval, branchPrefix } = parseOptions('gitPushTool', optionsSchema, options);
  return defineTool({
    name: pushToolName,
    description: `Pushes the commits of your branch to ${remote}.${requireApproval ? ' A person has to approve it.' : ''}`,
    input: z.object({}),
    effect: 'network',
    timeoutMs: pushMs,
    run: async (_input, { call, turn, signal }) => {
      const isApproved = repository.pushes.take(turn, call.id);
      if (requireApproval && !isApproved) {
        throw new ToolError(
          'Nothing was pushed: nobody approved it. The operator git() asks for approval; put it into the pipe.',
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
        `Only branches that begin with ${JSON.stringify(branchPrefix)} may be pushed; ${branch ?? 'no branch'} is checked out.`,
      );
    }
    if (commit === undefined) throw new GitError('git-nothing-to-push', `${branch} has no commit yet.`);
    const remotes = (await repository.git(['remote'])).split('\n');
    if (!remotes.includes(remote)) {
      throw new GitError(
        'git-no-remote',
        `There is no remote ${JSON.stringify(remote)}; add it with "git remote add".`,
      );
    }
    const reference = `refs/heads/${branch}`;
    await repository.git(['push', '--quiet', '--', remote, `${reference}:${reference}`], { signal, timeoutMs: pushMs });
    return { branch, commit };
  });
