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
import { errorCodeOf } from './canonical.js';
import { PathError } from './path-error.js';

/**
 * The folder in which this process finds its own open files by number, or `undefined`.
 *
 * On Linux a name below `/proc/self/fd/7/` is looked up in the very folder that descriptor 7 has open, whatever its path
 * has become: what `openat` gives to C. macOS and Windows have nothing like it.
 */
export const findDescriptorFolder = (): string | undefined =>
  process.platform === 'linux' && existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

// Windows knows none of these: there they are undefined, and count as 0 in the sums below.
// Without O_NONBLOCK, opening a named pipe would wait for a writer.
const { O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, O_RDONLY } = constants;

/** How a descriptor is opened: a file to read, or a folder to work in. */
export type OpenKind = 'file' | 'folder';

/**
 * Opens a canonical path and makes sure that it got that very path: that nobody put a link, in its place or in the place
 * of a folder above it, between the check and now.
 *
 * @param name What to hand to the system: the path itself, or a name below a verified descriptor.
 * @throws PathError with the code `changed`.
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
    // Saving a file by renaming another over it looks the same for a moment; a second look tells them apart.
    if (attempt === maxAttempts) throw changed(path);
  }
};

const maxAttempts = 3;

const changed = (path: string, options?: ErrorOptions): PathError =>
  new PathError('changed', path, 'was replaced by something else while it was being opened.', options);

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

/** As {@link openVerified} for a file to read, at once and with a bare descriptor. */
export const openVerifiedSync = (path: string, descriptors = findDescriptorFolder()): number => {
  const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    if (isGenuineSync(descriptor, path, descriptors)) return descriptor;
  } catch {
    // It is gone again: as good as replaced.
  }
  closeSync(descriptor);
  throw changed(path);
};

const isGenuineSync = (descriptor: number, path: string, descriptors: string | undefined): boolean =>
  descriptors === undefined
    ? isSameFile(fstatSync(descriptor, { bigint: true }), lstatSync(path, { bigint: true })) &&
      realpathSync.native(path) === path
    : readlinkSync(`${descriptors}/${descriptor}`) === path;
