import type { ErrorInfo } from '@h/turn';
import type { LeftOut } from './commit-rules.js';
import type { ChangedFile } from './finish-work.js';

declare module '@h/turn' {
  interface TurnEvents {
    /** The work tree is on the branch of the turn. `from` is what was checked out before. */
    'git.branch': {
      readonly branch: string;
      readonly created: boolean;
      readonly from: string | undefined;
      /** How many files were not committed before: they are left alone. */
      readonly uncommitted: number;
    };
    /** Files that the turn changed, from the top of the work tree: at most 1,000, and how many there are. */
    'git.changes': {
      readonly files: readonly ChangedFile[];
      readonly count: number;
      /** Those that had changes of the user before: they are not committed, because the two cannot be told apart. */
      readonly mixed: readonly string[];
    };
    'git.commit': {
      readonly branch: string;
      readonly commit: string;
      readonly message: string;
      readonly files: readonly string[];
    };
    /** Changes that were not committed, with the reasons: secrets, artifacts, files that are too large. */
    'git.left-out': { readonly files: readonly LeftOut[] };
    /** What is checked out after the turn, and why it is still the agent's branch, if it is. */
    'git.restored': { readonly to: string; readonly branchDeleted: boolean } | { readonly kept: string };
    /** Git could not do something; the turn goes on. */
    'git.failed': { readonly operation: 'branch' | 'commit' | 'finish'; readonly error: ErrorInfo };
  }
}
