import { createHash, randomUUID } from 'node:crypto'; // oxlint-disable-line h/no-clock -- names of branches must be unique; no decision depends on them
import { branchName } from './branch-name.js';
import { GitError } from './git-error.js';
import type { GitRepository } from './repository.js';
import type { GitHead, StatusEntry } from './status.js';
import type { WorkTreeClaim } from './work-tree-claims.js';

/** What a session stores about its branch. */
export interface SavedBranch {
  readonly turn: string;
  readonly workflow: string;
  readonly branch: string;
  readonly original: GitHead | undefined;
  readonly base: string | undefined;
  /**
   * Files with uncommitted changes of the user; `undefined` if they were too many to store: then all uncommitted files
   * count as theirs.
   */
  readonly dirty: readonly string[] | undefined;
}

/** A turn that starts to work in a repository. */
export interface WorkRequest {
  readonly turn: string;
  readonly session: string;
  /** Turns of the same workflow share a branch. */
  readonly workflow: string;
  readonly task: string;
  /** Start of the turn, in milliseconds since 1970. */
  readonly at: number;
  readonly autoBranch: boolean;
  /** Whether uncommitted changes belong to the turn, and not to the user. */
  readonly adoptUncommitted: boolean;
  readonly branchPrefix: string;
  readonly saved: SavedBranch | undefined;
}

/** The branch of a turn. */
export interface BegunWork {
  readonly claim: WorkTreeClaim;
  /** Whether the branch was created. */
  readonly created: boolean;
}

/**
 * Switches the work tree to the branch of the turn's workflow, and creates the branch if it does not exist.
 *
 * Uncommitted changes are carried over and stay uncommitted. Call it from `repository.exclusive`.
 *
 * @throws GitError
 */
export const beginWork = async (repository: GitRepository, request: WorkRequest): Promise<BegunWork> => {
  await repository.top();
  const { claims } = repository;
  const { current } = claims;
  const work =
    current === undefined
      ? await claimAlone(repository, request)
      : { claim: await joined(repository, current, request), created: false };
  claims.enter(request.turn, work.claim);
  return work;
};

const joined = async (
  repository: GitRepository,
  current: WorkTreeClaim,
  { workflow, session }: WorkRequest,
): Promise<WorkTreeClaim> => {
  if (current.isAgentBranch && current.workflow !== workflow) {
    const [holder, own, branch] = [current.session, session, current.branch ?? ''].map((name) => JSON.stringify(name));
    throw new GitError(
      'git-work-tree-in-use',
      `Session ${holder} is using this work tree on branch ${branch}. Give session ${own} a separate work tree (addWorkTree), or the same workflow.`,
    );
  }
  const { branch } = (await repository.state()).head;
  if (branch === current.branch) return current;
  throw branchChanged(current.branch, branch);
};

/** The error for a branch that was switched by another program. */
export const branchChanged = (expected: string | undefined, actual: string | undefined): GitError =>
  new GitError(
    'git-branch-changed',
    `The work tree was switched from ${expected ?? 'a detached head'} to ${actual ?? 'a detached head'}, so git() left it unchanged.`,
  );

const claimAlone = async (repository: GitRepository, request: WorkRequest): Promise<BegunWork> => {
  await repository.checkIdle();
  const { head, entries } = await repository.state();
  const { saved, session, workflow } = request;
  const known = saved?.turn === request.turn ? saved.dirty : undefined;
  const found = uncommitted(entries);
  const dirty = new Set(request.adoptUncommitted ? [] : (known ?? found));
  const { ownBranch } = repository.claims;
  if (!request.autoBranch || (ownBranch !== undefined && ownBranch === head.branch)) {
    const isAgentBranch = ownBranch !== undefined;
    return {
      claim: { session, workflow, branch: head.branch, isAgentBranch, original: undefined, base: head.commit, dirty },
      created: false,
    };
  }
  const { branch, base, original, created } = await agentBranch(repository, request, head);
  repository.claims.remember(workflow, { branch, base });
  return { claim: { session, workflow, branch, isAgentBranch: true, original, base, dirty }, created };
};

interface AgentBranch {
  readonly branch: string;
  readonly base: string | undefined;
  readonly original: GitHead | undefined;
  readonly created: boolean;
}

/** Checks out the branch of the workflow, or a new one. */
const agentBranch = async (repository: GitRepository, request: WorkRequest, head: GitHead): Promise<AgentBranch> => {
  const saved = request.saved?.workflow === request.workflow ? request.saved : undefined;
  const known = repository.claims.branchOf(request.workflow) ?? saved;
  if (known === undefined && head.branch !== undefined) {
    const original = await headBeforeKill(repository, request, head);
    if (original !== undefined) return { branch: head.branch, base: head.commit, original, created: false };
  }
  if (known !== undefined && known.branch === head.branch) {
    // The previous turn left it checked out, because some changes were not committed.
    return {
      branch: known.branch,
      base: known.base,
      original: saved?.branch === known.branch ? saved.original : undefined,
      created: false,
    };
  }
  if (known !== undefined && (await repository.commitOf(`refs/heads/${known.branch}`)) !== undefined) {
    await switchTo(repository, { branch: known.branch, commit: undefined });
    return { branch: known.branch, base: known.base, original: head, created: false };
  }
  return { branch: await createBranch(repository, request, head), base: head.commit, original: head, created: true };
};

/**
 * Returns what was checked out before an empty branch of this workflow: a process that was killed after the switch could
 * not store it.
 */
const headBeforeKill = async (
  repository: GitRepository,
  { branchPrefix, workflow }: WorkRequest,
  { branch = '', commit }: GitHead,
): Promise<GitHead | undefined> => {
  const isOwn = branch.startsWith(branchPrefix) && branch.endsWith(`-${idOf(workflow)}`);
  if (!isOwn || commit === undefined || (await repository.commitOf('@{-1}')) !== commit) return undefined;
  const name = (await repository.git(['rev-parse', '--symbolic-full-name', '@{-1}'])).trim();
  const prefix = 'refs/heads/';
  return name.startsWith(prefix) ? { branch: name.slice(prefix.length), commit } : { branch: undefined, commit };
};

/** Returns the files with uncommitted changes. */
const uncommitted = (entries: readonly StatusEntry[]): readonly string[] => {
  const conflict = entries.find(({ change }) => change === 'conflict');
  if (conflict !== undefined) {
    throw new GitError('git-in-progress', `${conflict.path} has merge conflicts; resolve them first.`);
  }
  return entries.map(({ path }) => path);
};

/** Creates a branch at the commit that is checked out, and checks it out. */
const createBranch = async (repository: GitRepository, request: WorkRequest, { commit }: GitHead): Promise<string> => {
  const branch = await freeName(repository, request);
  if (commit === undefined) {
    await repository.git(['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
    return branch;
  }
  // Two commands, each of which can be retried: `switch --create` leaves its branch behind when it fails.
  try {
    await repository.git(['branch', '--quiet', '--no-track', '--', branch, commit]);
    await switchTo(repository, { branch, commit });
  } catch (error) {
    await deleteUnusedBranch(repository, branch, commit).catch(() => undefined);
    throw error;
  }
  return branch;
};

/**
 * Checks out a branch, or a commit without a branch. Git also fails after it has switched: because of the hook
 * `post-checkout`, or at the time limit.
 */
export const switchTo = async (repository: GitRepository, target: GitHead): Promise<void> => {
  const { branch, commit } = target;
  try {
    await repository.git([
      'switch',
      '--quiet',
      ...(branch === undefined ? ['--detach', commit] : ['--no-guess', '--', branch]),
    ]);
  } catch (error) {
    const { head } = await repository.state().catch(() => ({ head: undefined }));
    if (head?.branch !== branch || (branch === undefined && head?.commit !== commit)) throw error;
  }
};

/** Deletes a branch that still points to the commit at which it was created. */
export const deleteUnusedBranch = async (repository: GitRepository, branch: string, commit: string): Promise<void> => {
  if ((await repository.commitOf(`refs/heads/${branch}`)) === commit) {
    await repository.git(['branch', '--quiet', '-D', '--', branch]);
  }
};

/** Returns a valid and unused branch name: with the id of the workflow, if it is unused. */
export const freeName = async (
  repository: GitRepository,
  {
    branchPrefix: prefix,
    task,
    at,
    workflow,
  }: Pick<WorkRequest, 'branchPrefix' | 'task' | 'at'> & { workflow?: string },
): Promise<string> => {
  const unique = branchName({ prefix, task, at, id: randomUUID().slice(0, 8) });
  const own = workflow === undefined ? unique : branchName({ prefix, task, at, id: idOf(workflow) });
  const name = own === unique || (await repository.commitOf(`refs/heads/${own}`)) === undefined ? own : unique;
  const { exitCode } = await repository.run(['check-ref-format', '--branch', name]);
  if (exitCode === 0) return name;
  throw new GitError('git-branch-name', `${JSON.stringify(name)} is not a valid branch name; change branchPrefix.`);
};

/** Identifies a workflow in the names of its branches. */
const idOf = (workflow: string): string => createHash('sha256').update(workflow).digest('hex').slice(0, 8);
