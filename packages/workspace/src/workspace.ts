import { isAbsolute } from 'node:path';
import {
  anyFunction,
  anyObject,
  anyValue,
  checkOptions,
  integerFrom,
  objectOf,
  oneOf,
  required,
  nonEmptyString,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import { createWorkspacePaths, type WorkspacePaths, type WorkspacePathsOptions } from '@h/paths';
import { PathLocks } from './files/path-locks.js';
import { SeenFiles } from './files/seen-files.js';

/** Limits of the file tools. */
export interface WorkspaceLimits {
  /** Lines in one result of `read`. @defaultValue `2000`, as in pi and opencode */
  readonly maxReadLines?: number | undefined;
  /** Bytes of text in one result of `read`, `glob` or `grep`. @defaultValue `51200` (50 KB), as in pi and opencode */
  readonly maxOutputBytes?: number | undefined;
  /** Characters of one line in a result of `read`; `column` shows the rest. @defaultValue `2000`, as in opencode */
  readonly maxLineChars?: number | undefined;
  /**
   * Bytes of an image that is shown; larger ones are described.
   *
   * @defaultValue `3750000`: 5 MB in base64, a limit of providers
   */
  readonly maxImageBytes?: number | undefined;
  /**
   * Bytes of a file that is edited, searched or compared; `read` has no limit.
   *
   * @defaultValue `16777216` (16 MiB), far more than source files have
   */
  readonly maxFileBytes?: number | undefined;
  /** Paths in one result of `glob`. @defaultValue `1000`, as in pi */
  readonly maxGlobResults?: number | undefined;
  /**
   * Matching lines in one result of `grep`.
   *
   * @defaultValue `200`, twice as many as in pi; the limit in bytes holds as well
   */
  readonly maxGrepMatches?: number | undefined;
  /** Characters of one line in a result of `grep`, around the match. @defaultValue `500`, as in pi */
  readonly maxGrepLineChars?: number | undefined;
  /**
   * Files and folders that one `glob` or `grep` visits before it stops.
   *
   * @defaultValue `200000`, more than most repositories have, without `node_modules`
   */
  readonly maxVisited?: number | undefined;
}

/** Options of {@link createWorkspace}. */
export interface WorkspaceOptions extends WorkspacePathsOptions {
  /** The folder of the workspace. */
  readonly root: string;
  /** Sizes of results and files. */
  readonly limits?: WorkspaceLimits | undefined;
  /**
   * When a session must read a file before it changes it: if the file has changed since the session read it, or also if
   * the session has never read it.
   *
   * @defaultValue `'changed'`
   */
  readonly requireRead?: 'changed' | 'always' | undefined;
  /**
   * The ripgrep of the tool `grep`: `'auto'` for the first `rg` on the PATH outside the workspace, `'never'`, or an
   * absolute path. Without ripgrep, the built-in search gives the same results more slowly.
   *
   * @defaultValue `'auto'`
   */
  readonly ripgrep?: string | undefined;
}

/** A folder and the state that its tools share: one object for all tools of a harness. */
export interface Workspace {
  readonly paths: WorkspacePaths;
  readonly limits: { readonly [Name in keyof WorkspaceLimits]-?: number };
  readonly requireRead: 'changed' | 'always';
  readonly ripgrep: string;
  /** The file versions that each session has read. */
  readonly seen: SeenFiles;
  /** Serializes changes of the same file. */
  readonly locks: PathLocks;
}

const defaultLimits: Workspace['limits'] = {
  maxReadLines: 2_000,
  maxOutputBytes: 50 * 1024,
  maxLineChars: 2_000,
  maxImageBytes: 3_750_000,
  maxFileBytes: 16 * 1024 * 1024,
  maxGlobResults: 1_000,
  maxGrepMatches: 200,
  maxGrepLineChars: 500,
  maxVisited: 200_000,
};

const ripgrepProgram: OptionCheck = {
  expected: '"auto", "never" or an absolute path',
  accepts: (value) => typeof value === 'string' && (value === 'auto' || value === 'never' || isAbsolute(value)),
};

const checks: OptionChecks<WorkspaceOptions> = {
  root: required(nonEmptyString),
  limits: objectOf(Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, integerFrom(1)]))),
  requireRead: oneOf('changed', 'always'),
  ripgrep: ripgrepProgram,
  // Checked by createWorkspacePaths().
  readOnlyRoots: anyValue,
  externalDirectory: anyValue,
  ask: anyFunction,
  permissions: anyObject,
};

/**
 * Opens a folder for {@link workspaceTools} or single tools.
 *
 * @throws PathError if the folder does not exist; InvalidOptionError for an invalid option
 */
export const createWorkspace = (options: WorkspaceOptions): Workspace => {
  checkOptions('createWorkspace()', options, checks);
  const { root, limits, requireRead = 'changed', ripgrep = 'auto', ...rest } = options;
  return {
    paths: createWorkspacePaths(root, rest),
    limits: { ...defaultLimits, ...defined(limits ?? {}) },
    requireRead,
    ripgrep,
    seen: new SeenFiles(),
    locks: new PathLocks(),
  };
};

const defined = (limits: WorkspaceLimits): Partial<Workspace['limits']> =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
