import { lstatSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isAbsolute, parse, relative, resolve, sep } from 'node:path';
import { anyFunction, arrayOf, checkOptions, InvalidOptionError, oneOf, type OptionCheck } from '@h/options';
import { canonicalPath, isInside } from './canonical.js';
import { findDescriptorFolder, openVerified } from './descriptor.js';
import { filePermissions, permissionCheck, type FilePermissions, type PermissionCheck } from './file-permissions.js';
import { checkPathText } from './lexical.js';
import { openFolder, type OpenFolder } from './open-folder.js';
import { PathError } from './path-error.js';
import { printable } from './printable.js';

/** What a path is used for. */
export type PathAccess = 'read' | 'write';

/** A path outside every root whose use must be approved. */
export interface ExternalAccess {
  /** The canonical path, links followed. */
  readonly path: string;
  readonly access: PathAccess;
}

/** Options of {@link createWorkspacePaths}. */
export interface WorkspacePathsOptions {
  /** Absolute paths of further folders that may be read but not written, such as skills and artifacts. */
  readonly readOnlyRoots?: readonly string[] | undefined;
  /**
   * What happens to paths outside every root: they are refused, refused unless `ask` approves, or permitted.
   *
   * @defaultValue `'deny'`
   */
  readonly externalDirectory?: 'deny' | 'ask' | 'allow' | undefined;
  /** Approves a path outside; required with `externalDirectory: 'ask'`. An error counts as a refusal. */
  readonly ask?: ((request: ExternalAccess) => boolean | Promise<boolean>) | undefined;
  /** Which paths inside may be read and written. */
  readonly permissions?: FilePermissions | undefined;
}

/** Resolves and opens the paths of one workspace. */
export interface WorkspacePaths {
  /** The canonical path of the workspace's folder. */
  readonly root: string;
  /**
   * Returns the canonical path: absolute, with all links resolved. Relative paths start at the root.
   *
   * @throws PathError if it leads out of the workspace or the permissions refuse it
   */
  resolve(path: string, options: { readonly for: PathAccess }): string;
  /** Like `resolve`, but asks for approval of a path outside if that is configured. */
  authorize(path: string, options: { readonly for: PathAccess }): Promise<string>;
  /**
   * Returns whether the permissions permit a canonical path. Checks patterns and roots without accessing the file system:
   * for names found below a path that `resolve` returned.
   */
  permits(path: string, options: { readonly for: PathAccess }): boolean;
  /** Formats a canonical path for users and models: relative to the root, with `/`, without unprintable characters. */
  display(path: string): string;
  /**
   * Opens a file that `resolve` returned, for reading. A link that has replaced a part of its path is not followed.
   *
   * @throws PathError `changed`, or the system's error, such as `ENOENT`
   */
  openFile(path: string): Promise<FileHandle>;
  /** Opens a folder that `resolve` returned, and creates it first if `create` is set. */
  openFolder(path: string, options?: { readonly create?: boolean }): Promise<OpenFolder>;
}

const absolutePath: OptionCheck = {
  expected: 'an absolute path',
  accepts: (value) => typeof value === 'string' && isAbsolute(value),
};

const checks = {
  readOnlyRoots: arrayOf(absolutePath),
  externalDirectory: oneOf('deny', 'ask', 'allow'),
  ask: anyFunction,
  permissions: filePermissions,
};

interface Root {
  readonly path: string;
  readonly writable: boolean;
}

/** A canonical path and the root that contains it. */
interface Place {
  readonly path: string;
  readonly root: Root | undefined;
}

/**
 * Confines paths to a folder.
 *
 * The result is the path that the system really uses, so that the checked file is the opened one. Hard links cannot be
 * told from files, and a child process such as a shell is not confined: it needs a sandbox.
 *
 * @param root the workspace: a folder, or a link to one
 * @throws PathError `no-root`; InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const paths = createWorkspacePaths('/home/me/project');
 * paths.resolve('src/../README.md', { for: 'read' }); // '/home/me/project/README.md'
 * paths.resolve('../.ssh/id_rsa', { for: 'read' }); // throws PathError 'outside'
 * ```
 */
export const createWorkspacePaths = (root: string, options: WorkspacePathsOptions = {}): WorkspacePaths => {
  checkOptions('createWorkspacePaths()', options, checks);
  const { readOnlyRoots = [], externalDirectory = 'deny', ask, permissions = {} } = options;
  if (externalDirectory === 'ask' && ask === undefined) {
    const message = 'createWorkspacePaths(): "ask" is required with externalDirectory: "ask"; it must be a function.';
    throw new InvalidOptionError({ owner: 'createWorkspacePaths()', option: 'ask', message });
  }
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
      throw new PathError('read-only', given, 'is in a read-only folder.');
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
        throw new PathError('not-approved', path, 'is outside the workspace, and its use was not approved.');
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
    throw new PathError('no-root', root, 'is not a folder that this process can enter.', { cause: error });
  }
  throw new PathError('no-root', root, 'is a file; a workspace must be a folder.');
};

/** Resolves a path. For a path whose text leads outside, nothing but that is disclosed. */
const locate = (given: string, names: readonly [string, string], roots: readonly Root[], disclose: boolean): Place => {
  const absolute = resolve(names[1], given);
  const looksInside = names.some((name) => isInside(name, absolute)) || rootOf(absolute, roots) !== undefined;
  try {
    const path = canonicalPath(absolute, given);
    const root = rootOf(path, roots);
    if (root === undefined && looksInside && !disclose) {
      throw new PathError('link-outside', given, 'contains a link that leads out of the workspace.');
    }
    return { path, root };
  } catch (error) {
    if (looksInside || disclose) throw error;
    return { path: absolute, root: undefined };
  }
};

/** Returns the innermost root; of two with the same path, the read-only one. */
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
    throw new PathError('approval-required', given, 'is outside the workspace and needs approval.');
  }
};

/** Patterns apply to the canonical path, not to the names of links. */
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
