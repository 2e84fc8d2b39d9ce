import { TurnError } from '@h/turn';

/**
 * What stands in the way of git.
 *
 * | code | meaning |
 * |---|---|
 * | `git-missing` | git is not installed |
 * | `git-no-repository` | the folder is in no repository, or in one whose files are elsewhere |
 * | `git-empty` | the repository has no commit yet |
 * | `git-bare` | the repository has no work tree |
 * | `git-owner` | the repository belongs to another user, so git refuses it |
 * | `git-in-progress` | a merge, rebase, cherry-pick, revert or bisect is not finished, or files are in conflict |
 * | `git-branch-name` | the prefix gives no valid name of a branch, or a branch of that name is in the way |
 * | `git-work-tree-in-use` | another session has its branch checked out in this work tree |
 * | `git-branch-changed` | somebody switched to another branch meanwhile |
 * | `git-no-remote` | there is no such remote |
 * | `git-nothing-to-push` | no branch of an agent is checked out, or it has no commit |
 * | `git-push-not-approved` | nobody approved the push |
 * | `git-worktree-dirty` | a work tree has changes that would be lost |
 * | `git-config` | the repository is set to run programs where this cannot be switched off |
 * | `git-failed` | git said no for another reason, which is in the message |
 */
export type GitErrorCode =
  | 'git-missing'
  | 'git-no-repository'
  | 'git-empty'
  | 'git-bare'
  | 'git-owner'
  | 'git-in-progress'
  | 'git-branch-name'
  | 'git-work-tree-in-use'
  | 'git-branch-changed'
  | 'git-no-remote'
  | 'git-nothing-to-push'
  | 'git-push-not-approved'
  | 'git-worktree-dirty'
  | 'git-config'
  | 'git-failed';

/** Git could not do what was asked. `code` says why, the message what to do. */
export class GitError extends TurnError {
  declare readonly code: GitErrorCode;

  constructor(code: GitErrorCode, message: string, cause?: unknown) {
    super(code, message, cause === undefined ? undefined : { cause });
  }
}
