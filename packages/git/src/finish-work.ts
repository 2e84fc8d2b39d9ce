import { lstat } from 'node:fs/promises';
import { join, posix, relative, sep } from 'node:path';
import { toErrorInfo, type MaybePromise } from '@h/turn';
import pTimeout from 'p-timeout';
import { branchChanged, switchTo } from './begin-work.js';
import { commitFiles, type CommitResult, type Git } from './commit.js';
import { defaultMessage, tidyMessage, type CommitSummary } from './commit-message.js';
import { pathCheck, tooLarge, type CommitRules, type LeftOut } from './commit-rules.js';
import { GitError } from './git-error.js';
import type { GitRepository } from './repository.js';
import type { FileChange, GitHead, StatusEntry } from './status.js';
import type { WorkTreeClaim } from './work-tree-claims.js';

/** How to commit at the end of a turn. */
export interface CommitPlan extends CommitRules {
  readonly task: string;
  readonly isComplete: boolean;
  /** Writes the message. If it fails or exceeds `timeoutMs`, the message is made of task and files. */
  readonly message?: ((summary: CommitSummary) => MaybePromise<string>) | undefined;
  readonly timeoutMs: number;
}

/** A file that a turn changed. */
export interface ChangedFile {
  /** From the top of the work tree. */
  readonly path: string;
  readonly change: FileChange;
}

/** A turn that ends. */
export interface WorkEnd {
  readonly turn: string;
  /** Files that its file tools wrote, relative to the folder of the workspace. */
  readonly touched: ReadonlySet<string>;
  readonly commit: CommitPlan | undefined;
}

/** What was committed and restored. */
export interface FinishedWork {
  readonly claim: WorkTreeClaim;
  /** The changes of the turn before the commit. */
  readonly changed: readonly ChangedFile[];
  /** Files with uncommitted changes of the user that the turn also wrote to. */
  readonly mixed: readonly string[];
  readonly commit: CommitResult | undefined;
  readonly commitError: GitError | undefined;
  /** What was checked out, or why the branch was kept. `undefined` if there was nothing to restore. */
  readonly restored: { readonly to: GitHead; readonly branchDeleted: boolean } | { readonly kept: string } | undefined;
}

/**
 * Ends the work of a turn: commits its changes if configured, and restores the original branch if nothing is left
 * uncommitted. Call it from `repository.exclusive`.
 *
 * @throws GitError `git-branch-changed` if another program switched branches; then nothing is done
 */
export const finishWork = async (
  repository: GitRepository,
  { turn, commit, ...end }: WorkEnd,
): Promise<FinishedWork | undefined> => {
  const { claims } = repository;
  const claim = claims.current;
  if (claim === undefined) return undefined;
  try {
    const top = await repository.top();
    const prefix = relative(top, repository.root);
    const touched = new Set([...end.touched].map((path) => posix.join(prefix.replaceAll(sep, '/'), path)));
    const { head, entries } = await repository.state();
    if (head.branch !== claim.branch) throw branchChanged(claim.branch, head.branch);
    const changes = changesOf(entries, claim);
    // While other turns use the work tree, only files that this turn's tools wrote belong to it.
    const own = claims.count > 1 ? changes.filter(({ path }) => touched.has(path)) : changes;
    const committed = commit === undefined ? {} : await tryCommit(repository, { top, head, changes: own }, commit);
    const isLast = claims.leave(turn);
    return {
      claim,
      changed: own.map(({ path, change }) => ({ path, change })),
      mixed: [...touched].filter((path) => claim.dirty.has(path)),
      commit: committed.commit,
      commitError: committed.commitError,
      restored:
        isLast && claim.original !== undefined
          ? await restore(
              repository,
              claim,
              claim.original,
              committed.commit === undefined ? changes : undefined,
            ).catch((error: unknown) => ({ kept: toErrorInfo(error).message }))
          : undefined,
    };
  } finally {
    claims.leave(turn);
  }
};

const changesOf = (entries: readonly StatusEntry[], { dirty }: WorkTreeClaim): readonly StatusEntry[] =>
  entries.filter(({ path }) => !dirty.has(path));

interface Uncommitted {
  readonly top: string;
  readonly head: GitHead;
  readonly changes: readonly StatusEntry[];
}

const tryCommit = async (
  repository: GitRepository,
  uncommitted: Uncommitted,
  plan: CommitPlan,
): Promise<{ readonly commit?: CommitResult; readonly commitError?: GitError }> => {
  if (uncommitted.changes.length === 0) return {};
  const { branch } = uncommitted.head;
  if (branch === undefined) {
    return {
      commitError: new GitError(
        'git-failed',
        'Nothing was committed: a commit on a detached head would be lost. Switch to a branch, or use autoBranch.',
      ),
    };
  }
  try {
    return { commit: await commitChanges(repository, { ...uncommitted, branch }, plan) };
  } catch (error) {
    return {
      commitError: error instanceof GitError ? error : new GitError('git-failed', toErrorInfo(error).message, error),
    };
  }
};

const commitChanges = async (
  repository: GitRepository,
  { top, head, branch, changes }: Uncommitted & { readonly branch: string },
  plan: CommitPlan,
): Promise<CommitResult> => {
  const check = pathCheck(plan);
  const leftOut: LeftOut[] = [];
  const paths: string[] = [];
  for (const { path, change, isSubmodule } of changes) {
    const reason = isSubmodule && change !== 'deleted' ? 'it is a separate repository' : check(path);
    if (reason === undefined) paths.push(path);
    else leftOut.push({ path, reason });
  }
  const git: Git = (args, options) => repository.git(['-C', top, ...args], options);
  const { trusted } = repository.access;
  // Git would read and store a large file before its size is checked. What a filter stores may be smaller.
  const large = new Set(await largerThan(plan.maxFileBytes, top, paths));
  const filters = await filtersOf(git, trusted ? [...large] : paths);
  const plain: string[] = [];
  for (const path of paths) {
    const filter = filters.get(path);
    if (filter !== undefined && !trusted) leftOut.push({ path, reason: needsFilter(filter) });
    else if (filter === undefined && large.has(path)) leftOut.push({ path, reason: tooLarge(plan.maxFileBytes) });
    else plain.push(path);
  }
  if (plain.length === 0) return { commit: undefined, message: '', files: [], leftOut };
  const result = await commitFiles(git, {
    paths: plain,
    branch,
    parent: head.commit,
    rules: plan,
    message: (files) => messageFor({ task: plan.task, files, isComplete: plan.isComplete }, plan),
    identity: await repository.access.identity(),
    timeoutMs: plan.timeoutMs,
  });
  return { ...result, leftOut: [...leftOut, ...result.leftOut] };
};

const largerThan = async (bytes: number, top: string, paths: readonly string[]): Promise<readonly string[]> => {
  const large: string[] = [];
  for (const path of paths) {
    // Git reports what cannot be read. A folder has replaced the file of its name, which is deleted.
    const stats = await lstat(join(top, path)).catch(() => undefined);
    if (stats?.isFile() === true && stats.size > bytes) large.push(path);
  }
  return large;
};

const needsFilter = (filter: string): string =>
  `it needs the git filter ${JSON.stringify(filter)}, which only runs in a trusted repository`;

/** Returns the git filter of each file that has one. Without the filter, Git LFS would commit the file itself. */
const filtersOf = async (git: Git, paths: readonly string[]): Promise<ReadonlyMap<string, string>> => {
  if (paths.length === 0) return new Map();
  const fields = (
    await git(['check-attr', '-z', '--stdin', 'filter'], { input: paths.map((path) => `${path}\0`).join('') })
  ).split('\0');
  const filters = new Map<string, string>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const [path = '', , filter = ''] = fields.slice(index, index + 3);
    if (filter !== 'unspecified' && filter !== 'unset') filters.set(path, filter);
  }
  return filters;
};

const messageFor = async (summary: CommitSummary, { message, redact, timeoutMs }: CommitPlan): Promise<string> => {
  const written = message === undefined ? '' : await writtenBy(message, summary, timeoutMs);
  const tidy = (text: string): string => tidyMessage(redact === undefined ? text : redact(text));
  return tidy(written) || tidy(defaultMessage(summary)) || 'Changes';
};

/** Returns an empty string if the message fails or is late: other turns wait for the repository meanwhile. */
const writtenBy = (
  message: NonNullable<CommitPlan['message']>,
  summary: CommitSummary,
  timeoutMs: number,
): Promise<string> => {
  const written = Promise.resolve(summary)
    .then(message)
    .catch(() => '');
  return pTimeout(written, { milliseconds: timeoutMs, fallback: () => '' });
};

/** @param known the uncommitted changes, if they are known already */
const restore = async (
  repository: GitRepository,
  claim: WorkTreeClaim,
  original: GitHead,
  known: readonly StatusEntry[] | undefined,
): Promise<FinishedWork['restored']> => {
  const { branch, base } = claim;
  if (branch === undefined) return undefined;
  const left = known ?? changesOf((await repository.state()).entries, claim);
  if (left.length > 0) {
    return { kept: `${left.length} changed ${left.length === 1 ? 'file is' : 'files are'} not committed` };
  }
  const tip = await repository.commitOf(`refs/heads/${branch}`);
  if (original.branch !== undefined && original.commit === undefined) {
    if (tip !== undefined) return { kept: `${original.branch} has no commit yet` };
    await repository.git(['symbolic-ref', 'HEAD', `refs/heads/${original.branch}`]);
    repository.claims.forget(branch);
    return { to: original, branchDeleted: true };
  }
  await switchTo(repository, original);
  const isEmpty = tip !== undefined && tip === base;
  if (isEmpty) {
    await repository.git(['branch', '--quiet', '-D', '--', branch]);
    repository.claims.forget(branch);
  }
  return { to: original, branchDeleted: isEmpty };
};
