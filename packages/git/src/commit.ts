import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contentProblem, tooLarge, type CommitRules, type LeftOut } from './commit-rules.js';
import { GitError } from './git-error.js';
import type { GitRunOptions } from './runner.js';

/** Runs git at the top of the work tree; rejects if git fails. */
export type Git = (args: readonly string[], options?: GitRunOptions) => Promise<string>;

/** A commit to create. */
export interface CommitRequest {
  /** Files relative to the top of the work tree; a file that does not exist is committed as deleted. */
  readonly paths: readonly string[];
  /** The branch that is checked out. */
  readonly branch: string;
  /** The commit that is checked out; `undefined` in an empty repository. */
  readonly parent: string | undefined;
  readonly rules: Pick<CommitRules, 'maxFileBytes' | 'redact'>;
  /** Called when the list of committed files is final. */
  readonly message: (files: readonly string[]) => Promise<string>;
  /** Author and committer, as environment variables. */
  readonly identity: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** A created commit. */
export interface CommitResult {
  /** `undefined` if no file was left to commit. */
  readonly commit: string | undefined;
  readonly message: string;
  readonly files: readonly string[];
  readonly leftOut: readonly LeftOut[];
}

/** One file of an index: in the last commit and in the next. */
interface Staged {
  readonly path: string;
  readonly oldMode: string;
  readonly oldBlob: string;
  readonly newMode: string;
  readonly newBlob: string;
  readonly state: string;
}

/**
 * Commits the given files and no others.
 *
 * They are staged in a temporary index, and the staged content is checked, so a file that changes meanwhile cannot
 * bypass the check. Changes that the user has staged stay staged.
 */
export const commitFiles = async (git: Git, request: CommitRequest): Promise<CommitResult> => {
  const folder = await mkdtemp(join(tmpdir(), 'h-index-'));
  const environment = { GIT_INDEX_FILE: join(folder, 'index') };
  const staging = within(git, request.timeoutMs);
  try {
    const { staged, unstaged } = await stage(staging, request, environment);
    const problems = await findProblems(staging, staged, request.rules);
    const leftOut = [...unstaged, ...problems];
    const refused = new Set(problems.map(({ path }) => path));
    const excluded = staged.filter(({ path }) => refused.has(path));
    await setIndex(staging, excluded, 'old', environment);
    const included = staged.filter(({ path }) => !refused.has(path));
    const files = included.map(({ path }) => path);
    if (files.length === 0) return { commit: undefined, message: '', files, leftOut };
    const message = await request.message(files);
    const commit = await commitStaged(git, included, message, { ...request, environment });
    return { commit, message, files, leftOut };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** Limits the time of all commands together: filters run while files are staged, and a work tree may be large. */
const within = (git: Git, timeoutMs: number): Git => {
  const signal = AbortSignal.timeout(timeoutMs);
  return async (args, options) => {
    try {
      return await git(args, { ...options, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new GitError(
        'git-failed',
        `The files were not staged within ${timeoutMs} ms. Raise "commitTimeoutMs", and "closeGraceMs" of harness() above it.`,
        error,
      );
    }
  };
};

/**
 * Commits the temporary index.
 *
 * The files are staged in the user's index first: if it still had their old versions after a failure, the next commit of
 * the user would undo this one.
 */
const commitStaged = async (
  git: Git,
  files: readonly Staged[],
  message: string,
  { branch, parent, identity, timeoutMs, environment }: CommitRequest & Environment,
): Promise<string> => {
  await setIndex(git, files, 'new');
  try {
    await git(['commit', '--quiet', '--cleanup=verbatim', '--file=-'], {
      input: message,
      environment: { ...environment, ...identity },
      timeoutMs,
    });
  } catch (error) {
    // The commit is complete if git was ended after it.
    const head = await tipOf(git, branch).catch(() => undefined);
    if (head === parent) await setIndex(git, files, 'old').catch(() => undefined);
    if (head === parent || head === undefined) throw error;
  }
  const paths = files.map(({ path }) => path);
  // Hooks may have changed the files, and committed others.
  const others = parent === undefined ? [] : await committedByHooks(git, paths, { branch, parent }).catch(() => []);
  const input = [...paths, ...others].join('\0');
  await git(['reset', '--quiet', '--pathspec-from-file=-', '--pathspec-file-nul'], { input }).catch(() => undefined);
  return tipOf(git, branch);
};

/** Returns the other files of the latest commit of a branch, without those of which the user has staged a change. */
const committedByHooks = async (
  git: Git,
  paths: readonly string[],
  { branch, parent }: { readonly branch: string; readonly parent: string },
): Promise<readonly string[]> => {
  const tip = await tipOf(git, branch);
  const committed = namesIn(await git(['diff-tree', '-r', '--no-commit-id', '--name-only', '-z', tip]));
  const known = new Set(paths);
  const others = committed.filter((path) => !known.has(path));
  if (others.length === 0) return [];
  const staged = new Set(namesIn(await git(['diff-index', '--cached', '--name-only', '-z', parent])));
  return others.filter((path) => !staged.has(path));
};

const namesIn = (output: string): readonly string[] => output.split('\0').filter(Boolean);

/** Returns the latest commit of a branch. A hook may have checked out another branch. */
const tipOf = async (git: Git, branch: string): Promise<string> =>
  (await git(['rev-parse', '--quiet', '--verify', `refs/heads/${branch}`])).trim();

interface Environment {
  readonly environment: Readonly<Record<string, string>>;
}

const stage = async (
  git: Git,
  { paths, parent }: CommitRequest,
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly staged: readonly Staged[]; readonly unstaged: readonly LeftOut[] }> => {
  if (parent !== undefined) await git(['read-tree', parent], { environment });
  const failed = await addFiles(git, paths, environment);
  const staged =
    parent === undefined
      ? parseIndex(await git(['ls-files', '--stage', '-z'], { environment }))
      : parseRaw(
          await git(['diff-index', '--cached', '--raw', '--no-renames', '--no-abbrev', '-z', parent], { environment }),
        );
  // A file whose folder was replaced by a link fails, but the link has replaced it.
  const known = new Set(staged.map(({ path }) => path));
  return { staged, unstaged: failed.filter(({ path }) => !known.has(path)) };
};

/** With more files that git cannot stage, the cause is elsewhere, such as a full disk. */
const maxUnstaged = 20;

/** Puts files into the index. @returns those that git cannot stage, for example because they cannot be read */
const addFiles = async (
  git: Git,
  paths: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly LeftOut[]> => {
  const failed: LeftOut[] = [];
  // Git stages all files of a command or none.
  const add = async (some: readonly string[]): Promise<void> => {
    try {
      const input = some.map((path) => `${path}\0`).join('');
      await git(['update-index', '--add', '--remove', '--replace', '-z', '--stdin'], { environment, input });
    } catch (error) {
      const [, problem] = stagingProblem.exec(error instanceof GitError ? error.message : '') ?? [];
      const [path = ''] = some;
      if (some.length === 1) failed.push({ path, reason: `git cannot stage it: ${problem}` });
      if (problem === undefined || failed.length > maxUnstaged || failed.length === paths.length) throw error;
      if (some.length === 1) return;
      const half = Math.ceil(some.length / 2);
      await add(some.slice(0, half));
      await add(some.slice(half));
    }
  };
  await add(paths);
  return failed;
};

/** The first problem that git printed. */
const stagingProblem = /failed \(exit code 128\): [^]*?(?:error|fatal): (.*)/;

/** `mode blob stage\tpath\0` … */
const parseIndex = (listed: string): readonly Staged[] =>
  listed.split('\0').flatMap((line) => {
    const [, newMode, newBlob, path] = /^(\d+) ([0-9a-f]+) \d\t([^]*)$/.exec(line) ?? [];
    if (newMode === undefined || newBlob === undefined || path === undefined) return [];
    return [{ path, oldMode: '0', oldBlob: newBlob, newMode, newBlob, state: 'A' }];
  });

/** `:oldmode newmode oldblob newblob state\0path\0` … */
const parseRaw = (raw: string): readonly Staged[] => {
  const fields = raw.split('\0');
  const staged: Staged[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', state = ''] = (fields[index] ?? '')
      .slice(1)
      .split(' ');
    staged.push({ path: fields[index + 1] ?? '', oldMode, oldBlob, newMode, newBlob, state });
  }
  return staged;
};

/** The mode of a nested repository in an index. */
const submoduleMode = '160000';

/** Content is read in batches of this size, in bytes. */
const batchBytes = 8 * 1024 ** 2;

const findProblems = async (
  git: Git,
  staged: readonly Staged[],
  { maxFileBytes, redact }: CommitRequest['rules'],
): Promise<readonly LeftOut[]> => {
  const leftOut: LeftOut[] = [];
  const present = staged.filter(({ state }) => state !== 'D');
  const blobs = present.filter(({ newMode }) => newMode !== submoduleMode);
  for (const { path, newMode } of present) {
    if (newMode === submoduleMode) leftOut.push({ path, reason: 'it is a separate repository' });
  }
  const sizes = await sizesOf(git, blobs);
  const small: (Staged & { readonly size: number })[] = [];
  for (const [index, file] of blobs.entries()) {
    const size = sizes[index] ?? Number.POSITIVE_INFINITY;
    if (size > maxFileBytes) leftOut.push({ path: file.path, reason: tooLarge(maxFileBytes) });
    else small.push({ ...file, size });
  }
  for (const batch of batches(small)) {
    const contents = await contentsOf(git, batch);
    for (const [index, { path }] of batch.entries()) {
      const reason = contentProblem(contents[index] ?? Buffer.alloc(0), redact);
      if (reason !== undefined) leftOut.push({ path, reason });
    }
  }
  return leftOut;
};

const sizesOf = async (git: Git, files: readonly Staged[]): Promise<readonly number[]> => {
  if (files.length === 0) return [];
  const output = await git(['cat-file', '--batch-check=%(objectsize)'], {
    input: files.map(({ newBlob }) => `${newBlob}\n`).join(''),
  });
  return output.trimEnd().split('\n').map(Number);
};

const batches = <File extends { readonly size: number }>(files: readonly File[]): readonly (readonly File[])[] => {
  const result: File[][] = [];
  let room = 0;
  for (const file of files) {
    if (file.size > room || result.length === 0) {
      result.push([]);
      room = batchBytes;
    }
    result.at(-1)?.push(file);
    room -= file.size;
  }
  return result;
};

/** Returns the contents of blobs, in order. Git prints each after a line that ends with its size. */
const contentsOf = async (git: Git, files: readonly Staged[]): Promise<readonly Buffer[]> => {
  const chunks: Uint8Array[] = [];
  await git(['cat-file', '--batch'], {
    input: files.map(({ newBlob }) => `${newBlob}\n`).join(''),
    onOutput: (chunk) => void chunks.push(chunk),
  });
  const output = Buffer.concat(chunks);
  const contents: Buffer[] = [];
  for (let offset = 0; offset < output.length;) {
    const end = output.indexOf(10, offset);
    const size = Number(output.toString('latin1', offset, end).split(' ')[2]);
    if (end < 0 || !Number.isSafeInteger(size)) {
      throw new GitError('git-failed', 'git cat-file printed an unknown format.');
    }
    contents.push(output.subarray(end + 1, end + 1 + size));
    offset = end + size + 2;
  }
  return contents;
};

/** Puts files into an index as they are in the last commit, or as they are in the next. */
const setIndex = async (
  git: Git,
  files: readonly Staged[],
  version: 'old' | 'new',
  environment?: Readonly<Record<string, string>>,
): Promise<void> => {
  if (files.length === 0) return;
  const input = files
    .map(({ path, oldMode, oldBlob, newMode, newBlob }) => {
      const [mode, blob] = version === 'old' ? [oldMode, oldBlob] : [newMode, newBlob];
      return `${Number(mode) === 0 ? '0' : mode} ${blob}\t${path}\0`;
    })
    .join('');
  await git(['update-index', '-z', '--index-info'], { environment, input });
};
