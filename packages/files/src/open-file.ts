import { constants, type Stats } from 'node:fs';
import { open, stat, type FileHandle } from 'node:fs/promises';
import { UnsafeFileError } from './errors.js';

/** The result of {@link readRegularFile}. */
export interface FileContent {
  readonly text: string;
  readonly stats: Stats;
}

/**
 * Opens a regular file. A link is not followed, and a pipe or device does not block.
 *
 * Only the last part of the path is protected: a folder on the way may be a link.
 *
 * @param flags - numeric flags of `node:fs` such as `constants.O_RDONLY`
 * @throws UnsafeFileError for anything but a regular file
 */
export const openRegularFile = async (path: string, flags: number, mode?: number): Promise<FileHandle> =>
  (await openChecked(path, flags, mode)).handle;

const openChecked = async (
  path: string,
  flags: number,
  mode = 0o600,
): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> => {
  let handle: FileHandle;
  try {
    // Both flags are absent on Windows.
    handle = await open(path, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), mode);
  } catch (error) {
    // Linux and macOS report a link as ELOOP, FreeBSD as EMLINK; a pipe without a reader and a socket give ENXIO.
    const isUnsafe = ['ELOOP', 'EMLINK', 'ENXIO'].includes(errorCode(error) ?? '');
    throw isUnsafe ? new UnsafeFileError(path, { cause: error }) : error;
  }
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new UnsafeFileError(path);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** Reads a text file; `undefined` if it does not exist. @throws UnsafeFileError as {@link openRegularFile} */
export const readRegularFile = async (path: string): Promise<FileContent | undefined> => {
  const opened = await ifExists(openChecked(path, constants.O_RDONLY));
  if (!opened) return undefined;
  const { handle, stats } = opened;
  try {
    return { text: await handle.readFile('utf8'), stats };
  } finally {
    await handle.close();
  }
};

/** The result of a file operation; `undefined` if the file or folder does not exist (`ENOENT`). */
export const ifExists = async <Result>(operation: Promise<Result>): Promise<Result | undefined> => {
  try {
    return await operation;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Size of a file in bytes; `0` if it does not exist. */
export const fileSize = async (path: string): Promise<number> => (await ifExists(stat(path)))?.size ?? 0;

/** The `code` of a system error; `undefined` for other values. */
export const errorCode = (error: unknown): string | undefined => {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
};
