import { TurnError } from '@h/turn';

/**
 * Why a git operation failed.
 *
 * | code | meaning |
 * |---|---|
 * | `git-missing` | git is not installed |
 * | `git-no-repository` | the folder is not in a repository, or the files of the repository are elsewhere |
 * | `git-empty` | the repository has no commit |
 * | `git-bare` | the repository has no work tree |
 * | `git-owner` | the repository belongs to another user, so git refuses it |
 * | `git-in-progress` | a merge, rebase, cherry-pick, revert or bisect is in progress, or files have conflicts |
 * | `git-locked` | another git process is changing the repository, or one that was killed left its lock file |
 * | `git-branch-name` | the prefix is not valid in a branch name, or another branch has the same name |
 * | `git-work-tree-in-use` | a turn of another workflow uses the work tree |
 * | `git-branch-changed` | another program switched branches |
 * | `git-no-remote` | the remote does not exist |
 * | `git-nothing-to-push` | the branch that is checked out does not belong to an agent, or has no commit |
 * | `git-push-not-approved` | the push was not approved |
 * | `git-worktree-dirty` | the work tree has uncommitted changes |
 * | `git-config` | the repository configures a program that cannot be disabled |
 * | `git-late` | a commit was created after the turn had ended, so it has no event |
 * | `git-failed` | git failed for another reason, which is in the message |
 */
export type GitErrorCode =
  | 'git-missing'
  | 'git-no-repository'
  | 'git-empty'
  | 'git-bare'
  | 'git-owner'
  | 'git-in-progress'
  | 'git-locked'
  | 'git-branch-name'
  | 'git-work-tree-in-use'
  | 'git-branch-changed'
  | 'git-no-remote'
  | 'git-nothing-to-push'
  | 'git-push-not-approved'
  | 'git-worktree-dirty'
  | 'git-config'
  | 'git-late'
  | 'git-failed';

/** A git operation failed. `code` is the reason; the message contains the fix. */
export class GitError extends TurnError {
  declare readonly code: GitErrorCode;

  constructor(code: GitErrorCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? undefined : { cause });
  }
}
