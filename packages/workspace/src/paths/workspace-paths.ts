import { lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, parse, relative, resolve, sep } from 'node:path';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import { canonicalPath, isInside } from './canonical.js';
import { findDescriptorFolder, openVerified } from './descriptor.js';
import {
  filePermissionsSchema,
  permissionCheck,
  type FilePermissions,
  type PermissionCheck,
} from './file-permissions.js';
import { checkPathText } from './lexical.js';
import { openFolder, type OpenFolder } from './open-folder.js';
import { PathError } from './path-error.js';
import { printable } from './printable.js';

/** What a path is wanted for. */
export type PathAccess = 'read' | 'write';

/** A path outside of every root that somebody has to decide about. */
export interface ExternalAccess {
  /** The canonical path, links followed. */
  readonly path: string;
  readonly access: PathAccess;
}

/** Options of {@link createWorkspacePaths}. */
export interface WorkspacePathsOptions {
  /** More folders that may be read and never written, such as those of skills and artifacts. Absolute paths. */
  readonly readOnlyRoots?: readonly string[] | undefined;
  /**
   * What happens to paths outside of every root: refused, refused unless `ask` says yes, or used like those inside.
   *
   * @defaultValue `'deny'`
   */
  readonly externalDirectory?: 'deny' | 'ask' | 'allow' | undefined;
  /** Decides about one path outside; required with `externalDirectory: 'ask'`. An error counts as no. */
  readonly ask?: ((request: ExternalAccess) => boolean | Promise<boolean>) | undefined;
  /** Which paths inside may be read and written. */
  readonly permissions?: FilePermissions | undefined;
}

/** The paths of one workspace. */
export interface WorkspacePaths {
  /** The canonical path of the workspace's folder. */
  readonly root: string;
  /**
   * The canonical path that this path means: absolute, every link followed. Relative paths count from the root.
   *
   * @throws PathError if it leads out of the workspace, or its permissions refuse it.
   */
  resolve(path: string, options: { readonly for: PathAccess }): string;
  /** As `resolve`, but asks about a path outside where that is configured. */
  authorize(path: string, options: { readonly for: PathAccess }): Promise<string>;
  /**
   * Whether the permissions let this canonical path be used. It looks at patterns and roots only, not at the file system:
   * for lists of names that were found below a path that `resolve` returned.
   */
  permits(path: string, options: { readonly for: PathAccess }): boolean;
  /** How a canonical path is shown to people and models: from the root, with `/`, nothing unprintable. */
  display(path: string): string;
  /**
   * Opens a file that `resolve` returned for reading. A link that was put in its way since is not followed.
   *
   * @throws PathError with the code `changed`, or the system's own error (`ENOENT` …).
   */
  openFile(path: string): Promise<FileHandle>;
  /** Opens a folder that `resolve` returned, and makes it first if `create` is set. */
  openFolder(path: string, options?: { readonly create?: boolean }): Promise<OpenFolder>;
}

const optionsSchema = z
  .strictObject({
    readOnlyRoots: z
      .array(z.string().refine((path) => isAbsolute(path), 'it has to be an absolute path'))
      .readonly()
      .default([]),
    externalDirectory: z.enum(['deny', 'ask', 'allow']).default('deny'),
    ask: z
      .custom<NonNullable<WorkspacePathsOptions['ask']>>(
        (value) => typeof value === 'function',
        'it has to be a function',
      )
      .optional(),
    permissions: filePermissionsSchema.prefault({}),
  })
  .refine((options) => options.externalDirectory !== 'ask' || options.ask !== undefined, {
    path: ['ask'],
    message: 'externalDirectory "ask" needs a function that answers',
  });

interface Root {
  readonly path: string;
  readonly writable: boolean;
}

/** Where a path leads, and into which root. */
interface Place {
  readonly path: string;
  readonly root: Root | undefined;
}

/**
 * Confines paths to a folder.
 *
 * What comes back is the path that the system would really use, so that what was checked and what is opened are the same.
 * Hard links cannot be told from files, and a process that is run (a shell) is not bound by any of this: it needs a sandbox.
 *
 * @param root The workspace: a folder, or a link to one.
 * @throws PathError with the code `no-root`; WorkspaceOptionsError for an option that is unknown or wrong.
 *
 * @example
 * ```ts
 * const paths = createWorkspacePaths('/home/me/project');
 * paths.resolve('src/../README.md', { for: 'read' }); // '/home/me/project/README.md'
 * paths.resolve('../.ssh/id_rsa', { for: 'read' }); // throws PathError 'outside'
 * ```
 */
export const createWorkspacePaths = (root: string, options: WorkspacePathsOptions = {}): WorkspacePaths => {
  const { readOnlyRoots, externalDirectory, ask, permissions } = parseOptions(
    'createWorkspacePaths',
    optionsSchema,
    options,
  );
  const main: Root = { path: findRoot(root), writable: true };
  const roots = [
    main,
    ...readOnlyRoots.map((path): Root => ({ path: canonicalPath(resolve(path), path), writable: false })),
  ];
  const permitted = permissionCheck(permissions);
  const descriptors = findDescriptorFolder();

  const check = (given: string, access: PathAccess, external: 'deny' | 'ask' | 'allow'): string => {
    const place = locate(checkPathText(given), [resolve(root), main.path], roots, externalDirectory !== 'deny');
    if (place.root === undefined) refuseExternal(given, external);
    if (access === 'write' && place.root?.writable === false) {
      throw new PathError('read-only', given, 'lies in a folder that may only be read.');
    }
    checkPermissions(permitted, given, place, access);
    return place.path;
  };

  return {
    root: main.path,
    resolve: (path, { for: access }) => check(path, access, externalDirectory),
    authorize: async (path, { for: access }) => {
      if (externalDirectory !== 'ask') return check(path, access, externalDirectory);
      const real = check(path, access, 'allow');
      if (rootOf(real, roots) === undefined && !(await approves(ask, { path: real, access }))) {
        throw new PathError('not-approved', path, 'lies outside of the workspace, and its use was not approved.');
      }
      return real;
    },
    permits: (path, { for: access }) => {
      const found = rootOf(path, roots);
      return (
        !(access === 'write' && found?.writable === false) &&
        permitted(path, access, found?.path ?? parse(path).root) === undefined
      );
    },
    display: (path) =>
      printable((isInside(main.path, path) ? relative(main.path, path) || '.' : path).replaceAll(sep, '/')),
    openFile: (path) => openVerified(path, 'file', descriptors),
    openFolder: (path, { create = false } = {}) =>
      openFolder(path, { descriptors, create, roots: roots.map((one) => one.path) }),
  };
};

const findRoot = (root: string): string => {
  try {
    const real = canonicalPath(resolve(checkPathText(root)), root);
    if (lstatSync(real).isDirectory()) return real;
  } catch (error) {
    throw new PathError('no-root', root, 'is no folder that can be a workspace.', { cause: error });
  }
  throw new PathError('no-root', root, 'is a file; a workspace is a folder.');
};

/** Follows a path. Of one that leads outside by its text, nothing is told but that. */
const locate = (given: string, names: readonly [string, string], roots: readonly Root[], tellAll: boolean): Place => {
  const absolute = resolve(names[1], given);
  const looksInside = names.some((name) => isInside(name, absolute)) || rootOf(absolute, roots) !== undefined;
  try {
    const path = canonicalPath(absolute, given);
    const root = rootOf(path, roots);
    if (root === undefined && looksInside && !tellAll) {
      throw new PathError('link-outside', given, 'goes through a link that leads out of the workspace.');
    }
    return { path, root };
  } catch (error) {
    if (looksInside || tellAll) throw error;
    return { path: absolute, root: undefined };
  }
};

/** The innermost root decides; of two at one place, the one that may only be read. */
const rootOf = (path: string, roots: readonly Root[]): Root | undefined => {
  let found: Root | undefined;
  for (const root of roots) {
    if (isInside(root.path, path) && root.path.length >= (found?.path.length ?? 0)) found = root;
  }
  return found;
};

const refuseExternal = (given: string, external: 'deny' | 'ask' | 'allow'): void => {
  if (external === 'deny') throw new PathError('outside', given, 'leads out of the workspace; use a path inside it.');
  if (external === 'ask') {
    throw new PathError('approval-required', given, 'lies outside of the workspace and needs approval.');
  }
};

/** Patterns judge where a path leads, not what the links on its way are called. */
const checkPermissions = (permitted: PermissionCheck, given: string, place: Place, access: PathAccess): void => {
  const refusal = permitted(place.path, access, place.root?.path ?? parse(place.path).root);
  if (refusal !== undefined) throw new PathError(refusal.code, given, refusal.reason);
};

const approves = async (ask: WorkspacePathsOptions['ask'], request: ExternalAccess): Promise<boolean> => {
  try {
    return (await ask?.(request)) === true;
  } catch {
    return false;
  }
};
