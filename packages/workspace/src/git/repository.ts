import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import { canonicalPath, isInside } from '../paths/canonical.js';
import { ApprovedPushes } from './approved-pushes.js';
import { GitError, type GitErrorCode } from './git-error.js';
import { identityVariables, type GitIdentity } from './identity.js';
import { createGitRunner, type GitResult, type GitRunner, type GitRunOptions } from './runner.js';
import { parseHead, parseStatus, statusArguments, type GitHead, type StatusEntry } from './status.js';
import { WorkTreeClaims } from './work-tree-claims.js';

/** Options of {@link createGitRepository}. */
export interface GitRepositoryOptions {
  /** The workspace: the top of a work tree, or a folder in it. Only what lies in it is looked at and committed. */
  readonly root: string;
  /**
   * Whether settings of the repository, the user and the system are used that run programs: hooks, filters (Git LFS), signing,
   * credential helpers. Say yes only for folders whose every file you trust, those that an agent writes included.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
  /**
   * Who commits.
   *
   * @defaultValue what the user has configured, else `agent <agent@localhost>`
   */
  readonly identity?: GitIdentity | undefined;
  /**
   * What runs git, in `root`.
   *
   * @defaultValue the program `git`
   */
  readonly run?: GitRunner | undefined;
}

/** Where the work tree stands and what is not committed. */
export interface WorkTreeState {
  readonly head: GitHead;
  /** What is not committed, in the workspace. */
  readonly entries: readonly StatusEntry[];
}

const optionsSchema = z.strictObject({
  root: z.string().min(1),
  trusted: z.boolean().default(false),
  identity: z
    .strictObject({
      name: z.string().regex(/^[^<>\n\0]*[^<>\s\0][^<>\n\0]*$/),
      email: z.string().regex(/^[^<>\n\0]+$/),
    })
    .optional(),
  run: z.custom<GitRunner>((value) => typeof value === 'function', 'it has to be a function').optional(),
});

/**
 * A repository that agents work in. All that changes it goes through one queue, so that turns do not get in each other's way.
 *
 * Nothing is looked at before it is needed: the folder may become a repository later.
 *
 * @throws WorkspaceOptionsError for an option that is unknown or wrong.
 *
 * @example
 * ```ts
 * const repository = createGitRepository({ root: '/home/me/project' });
 * harness({ model, tools }).pipe(git({ repository, autoCommit: true }));
 * ```
 */
export const createGitRepository = (options: GitRepositoryOptions): GitRepository => {
  const { root, trusted, identity, run } = parseOptions('createGitRepository', optionsSchema, options);
  const folder = canonicalPath(resolve(root), root);
  return new GitRepository(folder, {
    trusted,
    runnerFor: (place) => run ?? createGitRunner({ root: place, trusted }),
    // Names are read from the user's settings even where nothing else is.
    identity: () => identityVariables(run ?? createGitRunner({ root: folder, trusted: true }), identity),
  });
};

/** How a repository gets at git. */
export interface GitAccess {
  /** Whether programs that the repository names are run. */
  readonly trusted: boolean;
  /** What runs git in a folder. */
  runnerFor(root: string): GitRunner;
  /** Author and committer, as variables. */
  identity(): Promise<Readonly<Record<string, string>>>;
}

/** A repository, seen from one work tree. Made by {@link createGitRepository}. */
export class GitRepository {
  /** The workspace's folder. */
  readonly root: string;
  /** Runs git in the workspace's folder. */
  readonly run: GitRunner;
  readonly access: GitAccess;
  /** Which turns work in its work tree, and on which branch. */
  readonly claims: WorkTreeClaims;
  readonly pushes = new ApprovedPushes();
  #last: Promise<unknown> = Promise.resolve();

  /** @param ownBranch The branch that the work tree was made for, if it was made for one agent. */
  constructor(root: string, access: GitAccess, ownBranch?: string) {
    this.root = root;
    this.access = access;
    this.run = access.runnerFor(root);
    this.claims = new WorkTreeClaims(ownBranch);
  }

  /** Does something that changes the repository, when everything before is done. */
  exclusive<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Waits until everything that was begun is done, also what turns do that were abandoned. */
  async settled(): Promise<void> {
    await this.#last;
  }

  /**
   * Runs git and returns what it says.
   *
   * @throws GitError if git fails.
   */
  async git(args: readonly string[], options?: GitRunOptions): Promise<string> {
    const result = await this.#retried(args, options);
    if (result.exitCode === 0) return result.stdout.toString();
    throw failure(args, result);
  }

  /**
   * The top of the work tree.
   *
   * @throws GitError if there is none that holds the workspace.
   */
  async top(): Promise<string> {
    const [bare, top = ''] = (await this.git(['rev-parse', '--is-bare-repository', '--show-toplevel']))
      .trimEnd()
      .split('\n');
    if (bare === 'true') throw bareError();
    if (isInside(top, this.root)) return top;
    throw new GitError(
      'git-no-repository',
      `The files of the repository are in ${JSON.stringify(top)}, not in ${JSON.stringify(this.root)}.`,
    );
  }

  /** Looks at the work tree. */
  async state(): Promise<WorkTreeState> {
    const output = await this.git([...statusArguments, '--', '.']);
    const head = parseHead(output);
    if (head === undefined) throw new GitError('git-failed', 'The work tree is on no branch and on no commit.');
    return { head, entries: parseStatus(output) };
  }

  /** The commit that a name means, if there is one. */
  async commitOf(name: string): Promise<string | undefined> {
    const { exitCode, stdout } = await this.run([
      'rev-parse',
      '--quiet',
      '--verify',
      '--end-of-options',
      `${name}^{commit}`,
    ]);
    return exitCode === 0 ? stdout.toString().trim() : undefined;
  }

  /**
   * Makes sure that nothing is half done.
   *
   * @throws GitError `git-in-progress`
   */
  async checkIdle(): Promise<void> {
    const folder = (await this.git(['rev-parse', '--absolute-git-dir'])).trimEnd();
    const found = Object.entries(unfinished).find(([file]) => existsSync(join(folder, file)));
    if (found === undefined) return;
    throw new GitError('git-in-progress', `A ${found[1]} is not finished; finish or abort it first.`);
  }

  /** Another git may be at work for a moment. */
  async #retried(args: readonly string[], options?: GitRunOptions): Promise<GitResult> {
    for (let attempt = 1; ; attempt += 1) {
      const result = await this.run(args, options);
      if (attempt === maxAttempts || result.exitCode === 0 || !/\.lock': File exists/.test(result.stderr)) {
        return result;
      }
      await new Promise((done) => setTimeout(done, retryMs * attempt));
    }
  }
}

const maxAttempts = 6;
const retryMs = 100;

/** What git leaves in its folder while something is under way. */
const unfinished: Readonly<Record<string, string>> = {
  MERGE_HEAD: 'merge',
  'rebase-merge': 'rebase',
  'rebase-apply': 'rebase',
  CHERRY_PICK_HEAD: 'cherry-pick',
  REVERT_HEAD: 'revert',
  BISECT_LOG: 'bisect',
};

const bareError = (): GitError =>
  new GitError('git-bare', 'The repository is bare: it has no files to work on. Clone it, and work there.');

const known: readonly (readonly [pattern: RegExp, code: GitErrorCode, message: string])[] = [
  [
    /not a git repository/i,
    'git-no-repository',
    'The workspace is in no git repository; make one with "git init", or leave git out.',
  ],
  [/must be run in a work tree/i, 'git-bare', bareError().message],
  [
    /dubious ownership/i,
    'git-owner',
    'The repository belongs to another user, so git does not touch it; change its owner, or add it to safe.directory and trust it.',
  ],
  [
    /cannot lock ref|unable to create.*refs.*(?:exists|directory)|is not a valid branch name/i,
    'git-branch-name',
    'No branch of this name can be made',
  ],
];

const failure = (args: readonly string[], { exitCode, stderr }: GitResult): GitError => {
  const said = stderr.trim().slice(-1_000);
  const [, code, message] = known.find(([pattern]) => pattern.test(said)) ?? [];
  if (code !== undefined && message !== undefined) {
    return new GitError(code, code === 'git-branch-name' ? `${message}: ${said}` : message);
  }
  return new GitError(
    'git-failed',
    `git ${args.find((word) => /^[a-z]/.test(word)) ?? ''} failed (${exitCode}): ${said}`,
  );
};
