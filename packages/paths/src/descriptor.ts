import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type BigIntStats,
} from 'node:fs';
import { lstat, open, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { canonicalPath, errorCodeOf, isInside } from './canonical.js';
import { PathError } from './path-error.js';
import { printable } from './printable.js';

/**
 * Returns the folder of this process's descriptors, or `undefined` if the system has none.
 *
 * On Linux, `/proc/self/fd/7/name` is looked up in the folder that descriptor 7 has open, wherever that folder is now:
 * the equivalent of `openat` in C. macOS and Windows have no equivalent.
 */
export const findDescriptorFolder = (): string | undefined =>
  process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

// On Windows these are undefined and count as 0. Without O_NONBLOCK, opening a named pipe waits for a writer.
const { O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, O_RDONLY } = constants;

/** What is opened: a file to read, or a folder to work in. */
export type OpenKind = 'file' | 'folder';

/**
 * Opens a canonical path and verifies that the descriptor belongs to that path: that neither it nor a folder above it
 * was replaced by a link since it was checked.
 *
 * @param name what to pass to the system: the path itself, or a name below a verified descriptor
 * @throws PathError `changed`
 */
export const openVerified = async (
  path: string,
  kind: OpenKind,
  descriptors: string | undefined,
  name: string = path,
): Promise<FileHandle> => {
  const flags = O_RDONLY | O_NOFOLLOW | (kind === 'folder' ? O_DIRECTORY : O_NONBLOCK);
  for (let attempt = 1; ; attempt += 1) {
    const handle = await open(name, flags).catch((error: unknown) => {
      throw errorCodeOf(error) === 'ELOOP' ? changed(path, { cause: error }) : error;
    });
    const genuine = await isGenuine(handle, path, descriptors).catch(() => false);
    if (genuine) return handle;
    await handle.close();
    // An atomic save by rename looks the same for a moment; a retry tells them apart.
    if (attempt === maxAttempts) throw changed(path);
  }
};

const maxAttempts = 3;

const changed = (path: string, options?: ErrorOptions): PathError =>
  new PathError('changed', path, 'was replaced while it was being opened.', options);

const isGenuine = async (handle: FileHandle, path: string, descriptors: string | undefined): Promise<boolean> => {
  if (descriptors !== undefined) return (await readlink(`${descriptors}/${handle.fd}`)) === path;
  const [opened, named, real] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(path, { bigint: true }),
    realpath(path),
  ]);
  return isSameFile(opened, named) && real === path;
};

const isSameFile = (left: BigIntStats, right: BigIntStats): boolean => left.ino === right.ino && left.dev === right.dev;

/** An open regular file inside a folder. */
export interface FileInside {
  /** Close it after use. */
  readonly handle: FileHandle;
  /** The canonical path. */
  readonly path: string;
  readonly stats: BigIntStats;
}

/**
 * Opens a regular file for reading if it is inside a folder, wherever links lead and whatever is replaced meanwhile.
 *
 * The descriptor is verified after opening, so a folder that is swapped for a link during the call cannot redirect it.
 * Named pipes and devices are refused without waiting for them.
 *
 * @param root a canonical path
 * @param path an absolute path; links are followed inside `root`
 * @throws PathError `link-outside`, `changed`, `not-a-file` …, or the system's error, such as `ENOENT`
 *
 * @example
 * ```ts
 * const { handle } = await openInside(root, join(root, 'AGENTS.md'));
 * try {
 *   return await handle.readFile('utf8');
 * } finally {
 *   await handle.close();
 * }
 * ```
 */
export const openInside = async (root: string, path: string): Promise<FileInside> => {
  const target = canonicalPath(path, path);
  if (!isInside(root, target)) {
    throw new PathError('link-outside', path, `leads out of ${JSON.stringify(printable(root))}; it is not followed.`);
  }
  const handle = await openVerified(target, 'file', findDescriptorFolder());
  try {
    const stats = await handle.stat({ bigint: true });
    if (stats.isFile()) return { handle, path: target, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new PathError('not-a-file', path, 'is not a regular file.');
};

/**
 * Opens a canonical path for reading, synchronously, as {@link openVerified} does. Returns a plain descriptor to close.
 */
export const openVerifiedSync = (path: string, descriptors = findDescriptorFolder()): number => {
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (isGenuineSync(descriptor, path, descriptors)) return descriptor;
  } catch {
    // It was removed again, which counts as replaced.
  }
  closeSync(descriptor);
  throw changed(path);
};

const isGenuineSync = (descriptor: number, path: string, descriptors: string | undefined): boolean =>
  descriptors === undefined
    ? isSameFile(fstatSync(descriptor, { bigint: true }), lstatSync(path, { bigint: true })) &&
      realpathSync.native(path) === path
    : readlinkSync(`${descriptors}/${descriptor}`) === path;
