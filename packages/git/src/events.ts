import type { ErrorInfo } from '@h/turn';
import type { LeftOut } from './commit-rules.js';
import type { ChangedFile } from './finish-work.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** The branch of the turn is checked out. `from` is the previous branch or commit. */
    'git.branch': {
      readonly branch: string;
      readonly created: boolean;
      readonly from: string | undefined;
      /** The number of files with uncommitted changes of the user, which are not committed. */
      readonly uncommitted: number;
    };
    /** Files that the turn changed, relative to the top of the work tree: at most 1,000, and their number. */
    'git.changes': {
      readonly files: readonly ChangedFile[];
      readonly count: number;
      /** Files that also have changes of the user: not committed, because the changes cannot be separated. */
      readonly mixed: readonly string[];
    };
    'git.commit': {
      readonly branch: string;
      readonly commit: string;
      readonly message: string;
      readonly files: readonly string[];
    };
    /** Files that were not committed, with reasons: secrets, artifacts, large files. */
    'git.left-out': { readonly files: readonly LeftOut[] };
    /** What is checked out after the turn, or why the branch of the agent was kept. */
    'git.restored': { readonly to: string; readonly branchDeleted: boolean } | { readonly kept: string };
    /** A git operation failed; the turn continues. */
    'git.failed': { readonly operation: 'branch' | 'commit' | 'finish'; readonly error: ErrorInfo };
  }
}
