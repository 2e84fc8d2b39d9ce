import {
  intercept,
  keep,
  notice,
  stop,
  textOf,
  toErrorInfo,
  type Envelope,
  type Handlers,
  type Interceptor,
  type NewEvent,
  type OperatorContext,
  type TurnEventOf,
} from '@h/turn';
import './events.js';
import { beginWork, type BegunWork, type SavedBranch } from './begin-work.js';
import { finishWork, type FinishedWork } from './finish-work.js';
import { GitError } from './git-error.js';
import { checkGitOptions, type CheckedGitOptions, type GitOptions } from './options.js';
import { pushApprovals } from './push-approvals.js';
import { pushToolName } from './push.js';
import type { GitHead } from './status.js';
import { decodeBranch, encodeBranch } from './saved-branch.js';

/** The operator's name, and its key in the session state. */
const name = 'git';

/** A turn's work in the repository. */
interface Work {
  session: string;
  workflow: string;
  task: string;
  saved: SavedBranch | undefined;
  state: 'none' | 'beginning' | 'begun' | 'finished';
  readonly touched: Set<string>;
}

/**
 * Switches to the branch of the turn before its first model call, commits at its end, and switches back.
 *
 * - Uncommitted changes of the user are carried over, never committed and never lost. If the agent writes to such a
 *   file, it stays uncommitted for the user to sort out (`git.changes`, `mixed`).
 * - Files that contain secrets, artifacts, ignored files and large files are not committed (`git.left-out`). The work
 *   tree then stays on the branch of the agent, because switching back would mix them with the files of the user.
 * - A turn without its branch ends as `blocked`, with the reason; see `required`.
 * - A call of `git_push` waits for a person (`approval.request`), and is denied without an approval.
 * - An aborted turn commits nothing. Its changes stay in the work tree.
 *
 * Place it after `queue()`: a turn that is not admitted must not switch branches.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const repository = createGitRepository({ root: '/home/me/project' });
 * harness({ model, tools }).pipe(queue(lanes), git({ repository, autoCommit: true }));
 * ```
 */
export const git = (options: GitOptions): Interceptor => {
  const checked = checkGitOptions(options);
  const setup = (context: OperatorContext): Handlers => {
    const work: Work = { session: '', workflow: '', task: '', saved: undefined, state: 'none', touched: new Set() };
    const approvals = pushApprovals(checked, context);
    let turn = '';
    return {
      observe: {
        'turn.start': (event) => {
          turn = event.turn;
          const task = event.input.map(textOf).join('\n');
          work.task = checked.redact?.(task) ?? task;
          const { session, trigger, metadata = {} } = event;
          work.workflow = checked.workflow({ session, trigger, metadata });
        },
        'session.loaded': (event) => {
          work.session = event.session;
          work.saved = decodeBranch(event.state[name]);
        },
        'session.state': (event) => {
          if (event.key === name) work.saved = decodeBranch(event.value);
        },
        'tool.result': (event) => {
          const path = writtenPath(event);
          if (path !== undefined) work.touched.add(path);
        },
        'approval.answer': (event) => approvals.answered(event, work.session),
      },
      decide: {
        'model.request': (event) => (work.state === 'none' ? begin(checked, work, event) : undefined),
        'tool.call': (event) => (event.call.name === pushToolName ? approvals.ask(event, work.session) : undefined),
        'turn.end': (event, { signal }) => (hasBegun(work, event) ? finish(checked, work, event, signal) : undefined),
      },
      finalize: () => {
        checked.repository.pushes.forget(turn);
        if (work.state === 'begun' || work.state === 'beginning') abandon(checked, work, turn);
      },
    };
  };
  // A turn that is not admitted must not switch branches.
  return intercept(name, setup, { after: ['queue'] });
};

/** Returns the file that a file tool wrote, relative to the folder of the workspace. */
const writtenPath = ({ status, details }: TurnEventOf<'tool.result'>): string | undefined => {
  if ((status !== 'ok' && status !== 'stored') || typeof details !== 'object' || details === null) return undefined;
  const { kind, path } = details as { readonly kind?: unknown; readonly path?: unknown };
  return (kind === 'write' || kind === 'edit') && typeof path === 'string' ? path : undefined;
};

/** Whether the turn has a branch: in this process, or before it was resumed. */
const hasBegun = ({ state, saved }: Work, { turn }: TurnEventOf<'turn.end'>): boolean =>
  state === 'begun' || (state === 'none' && saved?.turn === turn);

/** Switches the work tree to the branch of the turn. */
const claim = async (options: CheckedGitOptions, work: Work, { turn, at }: Envelope): Promise<BegunWork> => {
  const { repository, autoBranch, adoptUncommitted, branchPrefix } = options;
  const { session, workflow, task, saved } = work;
  work.state = 'beginning';
  const begun = await repository.exclusive(() =>
    beginWork(repository, { turn, session, workflow, task, at, autoBranch, adoptUncommitted, branchPrefix, saved }),
  );
  work.state = 'begun';
  return begun;
};

const begin = async (
  options: CheckedGitOptions,
  work: Work,
  event: TurnEventOf<'model.request'>,
): Promise<readonly NewEvent[] | NewEvent | undefined> => {
  try {
    const begun = await claim(options, work, event);
    const { branch, original, dirty, isAgentBranch } = begun.claim;
    if (!isAgentBranch || branch === undefined) return undefined;
    const from = original === undefined ? undefined : nameOf(original);
    const state = keep(name, encodeBranch(event.turn, begun.claim));
    return [state, notice('git.branch', { branch, created: begun.created, from, uncommitted: dirty.size }), event];
  } catch (error) {
    work.state = 'finished';
    const info = toErrorInfo(error);
    if (options.required) return stop('blocked', info.message, info);
    return [notice('git.failed', { operation: 'branch', error: info }), event];
  }
};

const finish = async (
  options: CheckedGitOptions,
  work: Work,
  event: TurnEventOf<'turn.end'>,
  signal: AbortSignal,
): Promise<readonly NewEvent[]> => {
  const isComplete = event.outcome === 'completed' || event.outcome === 'replied';
  const { repository, autoCommit, message, redact, exclude, maxFileBytes, commitTimeoutMs: timeoutMs } = options;
  const commit = autoCommit
    ? { task: work.task, isComplete, message, redact, exclude, maxFileBytes, timeoutMs }
    : undefined;
  try {
    if (work.state === 'none') await claim(options, work, event);
    work.state = 'finished';
    const finished = await repository.exclusive(() =>
      finishWork(repository, { turn: event.turn, touched: work.touched, commit }),
    );
    const late = signal.aborted && finished ? (finished.commitError ?? lateCommit(finished)) : undefined;
    if (late) options.onError?.(late);
    return [...(finished === undefined ? [] : noticesOf(finished)), event];
  } catch (error) {
    if (signal.aborted) options.onError?.(error);
    return [notice('git.failed', { operation: 'finish', error: toErrorInfo(error) }), event];
  }
};

/** A commit whose event is lost, because the turn has ended. */
const lateCommit = ({ claim, commit }: FinishedWork): GitError | undefined =>
  commit?.commit === undefined
    ? undefined
    : new GitError(
        'git-late',
        `The commit ${commit.commit} on the branch ${JSON.stringify(claim.branch)} was created after the turn had ended, so it has no event. Raise "closeGraceMs" of harness().`,
      );

/** Maximum number of files in a notice. */
const maxFiles = 1_000;

const noticesOf = ({ claim, changed, mixed, commit, commitError, restored }: FinishedWork): readonly NewEvent[] => {
  const events: NewEvent[] = [];
  if (changed.length > 0 || mixed.length > 0) {
    events.push(
      notice('git.changes', {
        files: changed.slice(0, maxFiles),
        count: changed.length,
        mixed: mixed.slice(0, maxFiles),
      }),
    );
  }
  if (commit?.commit !== undefined && claim.branch !== undefined) {
    const { message, files } = commit;
    events.push(
      notice('git.commit', { branch: claim.branch, commit: commit.commit, message, files: files.slice(0, maxFiles) }),
    );
  }
  if (commit !== undefined && commit.leftOut.length > 0) {
    events.push(notice('git.left-out', { files: commit.leftOut.slice(0, maxFiles) }));
  }
  if (commitError !== undefined) {
    events.push(notice('git.failed', { operation: 'commit', error: toErrorInfo(commitError) }));
  }
  if (restored !== undefined) {
    events.push(notice('git.restored', 'kept' in restored ? restored : { ...restored, to: nameOf(restored.to) }));
  }
  return events;
};

const nameOf = ({ branch, commit }: GitHead): string => branch ?? commit ?? 'HEAD';

/** Restores the work tree after an abort, without a commit. */
const abandon = ({ repository, onError }: CheckedGitOptions, work: Work, turn: string): void => {
  work.state = 'finished';
  repository
    .exclusive(() => finishWork(repository, { turn, touched: work.touched, commit: undefined }))
    .catch((error: unknown) => onError?.(error));
};
