import * as z from 'zod';
import { PathLocks } from './files/path-locks.js';
import { SeenFiles } from './files/seen-files.js';
import { parseOptions } from './options.js';
import { createWorkspacePaths, type WorkspacePaths, type WorkspacePathsOptions } from './paths/workspace-paths.js';

/** How much the file tools show and take in. */
export interface WorkspaceLimits {
  /** Lines that one `read` shows. @defaultValue `2000` */
  readonly maxReadLines?: number | undefined;
  /** Bytes of text that one `read`, `glob` or `grep` shows. @defaultValue `51200` (50 KB) */
  readonly maxOutputBytes?: number | undefined;
  /** Characters of one line that `read` shows; `column` shows the rest. @defaultValue `2000` */
  readonly maxLineChars?: number | undefined;
  /** Bytes of an image that is shown; larger ones are described. @defaultValue `3750000`, which base64 makes 5 MB, the least that the large providers take */
  readonly maxImageBytes?: number | undefined;
  /** Bytes of a file that is edited, searched or compared; `read` has no such limit. @defaultValue `16777216` (16 MiB) */
  readonly maxFileBytes?: number | undefined;
  /** Paths that one `glob` lists. @defaultValue `1000` */
  readonly maxGlobResults?: number | undefined;
  /** Matching lines that one `grep` shows. @defaultValue `200` */
  readonly maxGrepMatches?: number | undefined;
  /** Characters of one line that `grep` shows, around the match. @defaultValue `500` */
  readonly maxGrepLineChars?: number | undefined;
  /** Files and folders that one `glob` or `grep` looks at before it gives up. @defaultValue `200000` */
  readonly maxVisited?: number | undefined;
}

/** Options of {@link createWorkspace}. */
export interface WorkspaceOptions extends WorkspacePathsOptions {
  /** The folder to work in. */
  readonly root: string;
  readonly limits?: WorkspaceLimits | undefined;
  /**
   * When a file has to be read before it may be edited or overwritten: if it has changed since the session last read it, or
   * also if the session has never read it.
   *
   * @defaultValue `'changed'`
   */
  readonly requireRead?: 'changed' | 'always' | undefined;
  /**
   * Which ripgrep `grep` uses: the first `rg` on the PATH outside of the workspace, none, or the program at this absolute
   * path. Without one it searches by itself: same answers, more slowly.
   *
   * @defaultValue `'auto'`
   */
  readonly ripgrep?: string | undefined;
}

/** A folder to work in, and what its tools share: one object for all tools of one harness. */
export interface Workspace {
  readonly paths: WorkspacePaths;
  readonly limits: { readonly [Name in keyof WorkspaceLimits]-?: number };
  readonly requireRead: 'changed' | 'always';
  readonly ripgrep: string;
  /** Which versions of which files the sessions have read. */
  readonly seen: SeenFiles;
  /** One change of a file at a time. */
  readonly locks: PathLocks;
}

const limit = (standard: number) => z.int().positive().default(standard);

const limitsSchema = z.strictObject({
  maxReadLines: limit(2_000),
  maxOutputBytes: limit(50 * 1024),
  maxLineChars: limit(2_000),
  maxImageBytes: limit(3_750_000),
  maxFileBytes: limit(16 * 1024 * 1024),
  maxGlobResults: limit(1_000),
  maxGrepMatches: limit(200),
  maxGrepLineChars: limit(500),
  maxVisited: limit(200_000),
});

const optionsSchema = z.looseObject({
  root: z.string(),
  limits: limitsSchema.prefault({}),
  requireRead: z.enum(['changed', 'always']).default('changed'),
  ripgrep: z
    .string()
    .refine(
      (value) => value === 'auto' || value === 'never' || value.startsWith('/') || /^[A-Za-z]:[\\/]/u.test(value),
      'it is "auto", "never" or an absolute path',
    )
    .default('auto'),
});

/**
 * Opens a folder to work in, for {@link workspaceTools} or for single tools.
 *
 * @throws PathError if the folder is missing; WorkspaceOptionsError for an option that is unknown or wrong.
 */
export const createWorkspace = (options: WorkspaceOptions): Workspace => {
  const { root, limits, requireRead, ripgrep, ...rest } = parseOptions('createWorkspace', optionsSchema, options);
  // What is left are the options of the paths, which refuse the rest.
  const paths = createWorkspacePaths(root, rest);
  return { paths, limits, requireRead, ripgrep, seen: new SeenFiles(), locks: new PathLocks() };
};
