import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  anyBoolean,
  anyFunction,
  checkOptions,
  nonEmptyString,
  objectOf,
  required,
  type OptionCheck,
} from '@h/options';
import { canonicalPath, isInside } from '@h/paths';
import { ApprovedPushes } from './approved-pushes.js';
import { GitError, type GitErrorCode } from './git-error.js';
import { identityVariables, type GitIdentity } from './identity.js';
import { createGitRunner, type GitResult, type GitRunner, type GitRunOptions } from './runner.js';
import { parseHead, parseStatus, statusArguments, type GitHead, type StatusEntry } from './status.js';
import { WorkTreeClaims } from './work-tree-claims.js';

/** Options of {@link createGitRepository}. */
export interface GitRepositoryOptions {
  /**
   * The workspace: the top of a work tree, or a folder in it. Files outside the folder are neither read nor committed.
   */
  readonly root: string;
  /**
   * Whether git runs programs that are configured by the repository, the user or the system: hooks, filters (Git LFS),
   * signing, credential helpers. Only for folders in which every file is trusted, including files that an agent writes.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
  /**
   * Author and committer.
   *
   * @defaultValue the identity that the user has configured, or else `agent <agent@localhost>`
   */
  readonly identity?: GitIdentity | undefined;
  /**
   * Runs git in `root`.
   *
   * @defaultValue runs the program `git`
   */
  readonly run?: GitRunner | undefined;
}

/** The branch of a work tree and its uncommitted changes. */
export interface WorkTreeState {
  readonly head: GitHead;
  /** Uncommitted changes in the workspace. */
  readonly entries: readonly StatusEntry[];
}

const name: OptionCheck = {
  expected: 'a name without "<", ">" and line breaks',
  accepts: (value) => typeof value === 'string' && /^[^<>\n\0]*[^<>\s\0][^<>\n\0]*$/.test(value),
};

const email: OptionCheck = {
  expected: 'an address without "<", ">" and line breaks',
  accepts: (value) => typeof value === 'string' && /^[^<>\n\0]+$/.test(value),
};

const checks = {
  root: required(nonEmptyString),
  trusted: anyBoolean,
  identity: objectOf({ name: required(name), email: required(email) }),
  run: anyFunction,
};

/**
 * Opens a repository for agents. All changes to it go through one queue, so that turns do not interfere.
 *
 * The repository is first accessed when it is needed: the folder may become a repository later.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const repository = createGitRepository({ root: '/home/me/project' });
 * harness({ model, tools }).pipe(git({ repository, autoCommit: true }));
 * ```
 */
export const createGitRepository = (options: GitRepositoryOptions): GitRepository => {
  checkOptions('createGitRepository()', options, checks);
  const { root, trusted = false, identity, run } = options;
  const folder = canonicalPath(resolve(root), root);
  return new GitRepository(folder, {
    trusted,
    runnerFor: (place) => run ?? createGitRunner({ root: place, trusted }),
    // The user's settings are read for the identity, even in an untrusted repository.
    identity: () => identityVariables(run ?? createGitRunner({ root: folder, trusted: true }), identity),
  });
};

/** How a repository runs git. */
export interface GitAccess {
  /** Whether programs that the repository configures are run. */
  readonly trusted: boolean;
  /** Returns a function that runs git in a folder. */
  runnerFor(root: string): GitRunner;
  /** Returns author and committer, as environment variables. */
  identity(): Promise<Readonly<Record<string, string>>>;
}

/** A repository as seen from one work tree. Created by {@link createGitRepository}. */
export class GitRepository {
  /** The folder of the workspace. */
  readonly root: string;
  /** Runs git in the folder of the workspace. */
  readonly run: GitRunner;
  readonly access: GitAccess;
  /** The turns that use the work tree, and their branch. */
  readonly claims: WorkTreeClaims;
  readonly pushes = new ApprovedPushes();
  #last: Promise<unknown> = Promise.resolve();

  /** @param ownBranch the branch that the work tree was created for, if it was created for one agent */
  constructor(root: string, access: GitAccess, ownBranch?: string) {
    this.root = root;
    this.access = access;
    this.run = access.runnerFor(root);
    this.claims = new WorkTreeClaims(ownBranch);
  }

  /** Runs work that changes the repository, after all earlier work has ended. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits until all work has ended, including that of aborted turns. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /**
   * Runs git and returns its output.
   *
   * @throws GitError if git fails
   */
  async git(args: readonly string[], options?: GitRunOptions): Promise<string> {
    const result = await this.#retried(args, options);
    if (result.exitCode === 0) return result.stdout.toString();
    throw failure(args, result);
  }

  /**
   * Returns the top of the work tree.
   *
   * @throws GitError if no work tree contains the workspace
   */
  async top(): Promise<string> {
    const output = await this.git(['rev-parse', '--is-bare-repository', '--show-toplevel']);
    if (output.startsWith('true')) throw bareError();
    // The path may contain line breaks and end with spaces.
    const top = output.slice(output.indexOf('\n') + 1).replace(/\n$/, '');
    if (isInside(top, this.root)) return top;
    throw new GitError(
      'git-no-repository',
      `The files of the repository are in ${JSON.stringify(top)}, not in ${JSON.stringify(this.root)}.`,
    );
  }

  /** Reads the state of the work tree. */
  async state(): Promise<WorkTreeState> {
    const output = await this.git([...statusArguments, '--', '.']);
    const head = parseHead(output);
    if (head === undefined) throw new GitError('git-failed', 'The work tree has no branch and no commit checked out.');
    return { head, entries: parseStatus(output) };
  }

  /** Returns the commit that a name refers to, if it exists. */
  async commitOf(name: string): Promise<string | undefined> {
    const args = ['rev-parse', '--quiet', '--verify', '--end-of-options', `${name}^{commit}`];
    const result = await this.run(args);
    // Git exits with 1 if the name does not exist, and with another code if it could not find out.
    if (result.exitCode > 1) throw failure(args, result);
    return result.exitCode === 0 ? result.stdout.toString().trim() : undefined;
  }

  /**
   * Throws if a merge, rebase or similar is in progress.
   *
   * @throws GitError `git-in-progress`
   */
  async checkIdle(): Promise<void> {
    const folder = (await this.git(['rev-parse', '--absolute-git-dir'])).replace(/\n$/, '');
    const found = Object.entries(unfinished).find(([file]) => existsSync(join(folder, file)));
    if (found === undefined) return;
    throw new GitError('git-in-progress', `A ${found[1]} is in progress; finish or abort it first.`);
  }

  /** Retries while another git process holds a lock, or is creating or removing a work tree. */
  async #retried(args: readonly string[], options?: GitRunOptions): Promise<GitResult> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.run(args, options);
      if (attempt === maxAttempts || result.exitCode === 0 || !temporaryFailure.test(result.stderr)) {
        return result;
      }
      await new Promise((done) => setTimeout(done, retryMs * attempt));
    }
  }
}

/** What git reports if a lock file exists. */
const lockFile = /Unable to create '(.*\.lock)': File exists/;

/**
 * What git reports while another process changes the same files: it holds a lock file, or it is writing or deleting the
 * entry of a work tree. Git reads the entries of all work trees without a lock, and removes their folder with the last
 * entry.
 */
const temporaryFailure =
  /\.lock': File exists|(?:failed to read|could not create directory of) [^\n]*worktrees\/|Invalid path '[^\n]*worktrees\/[^\n]*': No such file/;
const maxAttempts = 8;
const retryMs = 100;

/** Files in git's folder while an operation is in progress. */
const unfinished: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  BISECT_LOG: 'bisect',
};

const bareError = (): GitError =>
  new GitError('git-bare', 'The repository is bare and has no files. Clone it, and use the clone.');

const known: readonly (readonly [pattern: RegExp, code: GitErrorCode, message: string])[] = [
  [
    /not a git repository/i,
    'git-no-repository',
    'The workspace is not in a git repository; create one with "git init", or do not use git.',
  ],
  [/must be run in a work tree/i, 'git-bare', bareError().message],
  [
    /dubious ownership/i,
    'git-owner',
    'The repository belongs to another user, so git refuses it; change its owner, or add it to safe.directory and trust it.',
  ],
  [
    /exists; cannot create|unable to create.*refs.*directory|is not a valid branch name/i,
    'git-branch-name',
    'The branch cannot be created',
  ],
];

const failure = (args: readonly string[], { exitCode, stderr }: GitResult): GitError => {
  const problem = stderr.trim().slice(-1_000);
  const lock = lockFile.exec(problem)?.[1];
  if (lock !== undefined) {
    return new GitError(
      'git-locked',
      `${lock} exists: another git process is changing the repository, or one that was killed left the file. If no git process is running, delete the file.`,
    );
  }
  const [, code, message] = known.find(([pattern]) => pattern.test(problem)) ?? [];
  if (code !== undefined && message !== undefined) {
    return new GitError(code, code === 'git-branch-name' ? `${message}: ${problem}` : message);
  }
  return new GitError(
    'git-failed',
    `git ${args.find((word) => /^[a-z]/.test(word)) ?? ''} failed (exit code ${exitCode}): ${problem}`,
  );
};
