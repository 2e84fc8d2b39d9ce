import { freshId } from '../process/machine.js';
import { branchName } from './branch-name.js';
import { GitError } from './git-error.js';
import type { GitRepository } from './repository.js';
import type { GitHead, StatusEntry } from './status.js';
import type { WorkTreeClaim } from './work-tree-claims.js';

/** What a session remembers of its branch from turn to turn. */
export interface SavedBranch {
  readonly turn: string;
  readonly branch: string;
  readonly original: GitHead | undefined;
  readonly base: string | undefined;
  /** `undefined` if they were too many to remember: then all that is uncommitted counts as the user's. */
  readonly dirty: readonly string[] | undefined;
}

/** A turn that wants to work in a repository. */
export interface WorkRequest {
  readonly turn: string;
  readonly session: string;
  readonly task: string;
  /** When it began, as milliseconds since 1970. */
  readonly at: number;
  readonly autoBranch: boolean;
  /** Whether what is uncommitted is the turn's, and not the user's. */
  readonly adoptUncommitted: boolean;
  readonly branchPrefix: string;
  readonly strategy: 'shared' | 'per-agent';
  readonly saved: SavedBranch | undefined;
}

/** What came of it. */
export interface BegunWork {
  readonly claim: WorkTreeClaim;
  /** Whether the branch is new. */
  readonly created: boolean;
}

/** How often another id is tried for a name that is taken. */
const maxNames = 5;

/**
 * Puts the work tree on the branch of a turn: the session's, the one that all share, or a new one.
 *
 * What is uncommitted goes along and stays uncommitted. Call it from `repository.exclusive`.
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
  { strategy, session }: WorkRequest,
): Promise<WorkTreeClaim> => {
  if (strategy === 'per-agent' && current.isAgentBranch) {
    throw new GitError(
      'git-work-tree-in-use',
      `The session ${JSON.stringify(current.session)} works in this work tree on ${String(current.branch)}; give ${JSON.stringify(session)} a work tree of its own (addWorktree), or share the branch.`,
    );
  }
  const { branch } = (await repository.state()).head;
  if (branch === current.branch) return current;
  throw branchChanged(current.branch, branch);
};

/** Somebody else is at the work tree's helm. */
export const branchChanged = (expected: string | undefined, actual: string | undefined): GitError =>
  new GitError(
    'git-branch-changed',
    `The work tree was switched from ${expected ?? 'a detached head'} to ${actual ?? 'a detached head'}; what is there now is left alone.`,
  );

const claimAlone = async (repository: GitRepository, request: WorkRequest): Promise<BegunWork> => {
  await repository.checkIdle();
  const { head, entries } = await repository.state();
  const { saved, session } = request;
  const known = saved?.turn === request.turn ? saved.dirty : undefined;
  const found = uncommitted(entries);
  const dirty = new Set(request.adoptUncommitted ? [] : (known ?? found));
  const { ownBranch } = repository.claims;
  if (!request.autoBranch || (ownBranch !== undefined && ownBranch === head.branch)) {
    const isAgentBranch = ownBranch !== undefined;
    return {
      claim: { session, branch: head.branch, isAgentBranch, original: undefined, base: head.commit, dirty },
      created: false,
    };
  }
  const { branch, base, original, created } = await agentBranch(repository, request, head);
  if (request.strategy === 'shared') repository.claims.shared = { branch, base };
  return { claim: { session, branch, isAgentBranch: true, original, base, dirty }, created };
};

interface AgentBranch {
  readonly branch: string;
  readonly base: string | undefined;
  readonly original: GitHead | undefined;
  readonly created: boolean;
}

/** Checks out the branch that the turn goes on with, or a new one. */
const agentBranch = async (repository: GitRepository, request: WorkRequest, head: GitHead): Promise<AgentBranch> => {
  const { saved, strategy } = request;
  const known = (strategy === 'shared' ? repository.claims.shared : undefined) ?? saved;
  if (known !== undefined && known.branch === head.branch) {
    // Left checked out last time, because something was not committed.
    return {
      branch: known.branch,
      base: known.base,
      original: saved?.branch === known.branch ? saved.original : undefined,
      created: false,
    };
  }
  if (known !== undefined && (await repository.commitOf(`refs/heads/${known.branch}`)) !== undefined) {
    await repository.git(['switch', '--quiet', '--no-guess', known.branch]);
    return { branch: known.branch, base: known.base, original: head, created: false };
  }
  return { branch: await createBranch(repository, request), base: head.commit, original: head, created: true };
};

/** Files that are not committed. */
const uncommitted = (entries: readonly StatusEntry[]): readonly string[] => {
  const conflict = entries.find(({ change }) => change === 'conflict');
  if (conflict !== undefined) {
    throw new GitError('git-in-progress', `${conflict.path} is in conflict; resolve it first.`);
  }
  return entries.map(({ path }) => path);
};

/** Makes a branch with a name that nobody has, and checks it out. */
export const createBranch = async (
  repository: GitRepository,
  { branchPrefix, task, at }: Pick<WorkRequest, 'branchPrefix' | 'task' | 'at'>,
): Promise<string> => {
  for (let attempt = 1; ; attempt += 1) {
    const name = await freeName(repository, { branchPrefix, task, at });
    try {
      await repository.git(['switch', '--quiet', '--create', name]);
      return name;
    } catch (error) {
      const isTaken = error instanceof GitError && /already exists/.test(error.message);
      if (!isTaken || attempt === maxNames) throw error;
    }
  }
};

/** A valid name for a branch, with an id that makes it unique. */
export const freeName = async (
  repository: GitRepository,
  { branchPrefix, task, at }: Pick<WorkRequest, 'branchPrefix' | 'task' | 'at'>,
): Promise<string> => {
  const name = branchName({ prefix: branchPrefix, task, at, id: freshId().slice(0, 8) });
  const { exitCode } = await repository.run(['check-ref-format', '--branch', name]);
  if (exitCode === 0) return name;
  throw new GitError(
    'git-branch-name',
    `${JSON.stringify(name)} is no valid name of a branch; choose another branchPrefix.`,
  );
};
