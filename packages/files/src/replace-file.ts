import { constants, type BigIntStats } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { anyBoolean, anyFunction, anyOf, checkOptions, integerFrom, oneOf } from '@h/options';
import { errorCode, ifExists } from './open-file.js';
import { temporaryName } from './temporary-files.js';

/** The new content of a file: one chunk, several chunks in sequence, or a copy of another file. */
export type FileSource = string | Uint8Array | Iterable<string> | { readonly copyOf: string };

/** Options of {@link replaceFile}. */
export interface ReplaceOptions {
  /**
   * Whether the content and the folder entry are flushed to the disk, so that a power failure does not undo a
   * replacement that was reported as complete.
   *
   * @defaultValue `true`
   */
  readonly sync?: boolean | undefined;
  /**
   * Permissions of the file. `'keep'` keeps the mode of the file that is replaced, and its owner if the system permits
   * it; a new file gets `0o666` less the umask.
   *
   * @defaultValue `0o600`
   */
  readonly mode?: number | 'keep' | undefined;
  /** Runs when the new content is complete, immediately before it replaces the old one. An error keeps the old file. */
  readonly confirm?: (() => Promise<void>) | undefined;
}

/**
 * Replaces a file so that a crash at any moment leaves the old content or the new content, never a part.
 *
 * The content is written to a temporary file beside it, which is then renamed. If flushing the folder fails, the file is
 * replaced, and a power failure may undo it. Use it for files with one writer, or if
 * the last writer wins. {@link FileLock.replaceFile} also rejects a writer that has lost its lock. Extended attributes
 * and other hard links of the old file are not kept.
 *
 * @returns the state of the new file
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * await replaceFile('settings.json', JSON.stringify(settings));
 * ```
 */
export const replaceFile = (path: string, content: FileSource, options: ReplaceOptions = {}): Promise<BigIntStats> =>
  replaceBy(path, join(dirname(path), temporaryName()), content, options, (handle) => handle.stat({ bigint: true }));

/**
 * Replaces `path` through `temporary`, which must be on the same file system.
 *
 * @param lookAt - reads from the new file what the caller needs to know
 */
export const replaceBy = async <Known>(
  path: string,
  temporary: string,
  content: FileSource,
  options: ReplaceOptions,
  lookAt: (handle: FileHandle) => Promise<Known>,
): Promise<Known> => {
  checkOptions('replaceFile()', options, {
    sync: anyBoolean,
    mode: anyOf(oneOf('keep'), integerFrom(0)),
    confirm: anyFunction,
  });
  const { sync = true, mode, confirm } = options;
  let known: Known;
  try {
    const replaced = mode === 'keep' ? await ifExists(stat(path)) : undefined;
    const defaultMode = mode === 'keep' && replaced === undefined ? 0o666 : 0o600;
    const attributes = replaced ?? (mode === 'keep' ? {} : { mode });
    known = await writeNew(temporary, content, sync, lookAt, attributes, defaultMode);
    await confirm?.();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (sync) await syncFolder(dirname(path));
  return known;
};

/** Owner and mode of a new file; without a mode, the default one less the umask. */
interface Attributes {
  readonly uid?: number;
  readonly gid?: number;
  readonly mode?: number | undefined;
}

const writeNew = async <Known>(
  path: string,
  content: FileSource,
  sync: boolean,
  lookAt: (handle: FileHandle) => Promise<Known>,
  attributes: Attributes = {},
  defaultMode = 0o600,
): Promise<Known> => {
  const isCopy = typeof content === 'object' && 'copyOf' in content;
  if (isCopy) await copyFile(content.copyOf, path, constants.COPYFILE_EXCL);
  const handle = await open(path, isCopy ? 'r+' : 'wx', defaultMode);
  try {
    if (!isCopy) {
      const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const piece of pieces) await handle.appendFile(piece);
    }
    await setAttributes(handle, attributes);
    if (sync) await handle.sync();
    return await lookAt(handle);
  } finally {
    await handle.close();
  }
};

/** For callers that need to know nothing about a new file. */
export const nothing = async (): Promise<void> => undefined;

const permissionBits = 0o7777;

const setAttributes = async (handle: FileHandle, { uid, gid, mode }: Attributes): Promise<void> => {
  // Only root may change the owner of a file. Changing it clears the setuid bit, so the mode comes last.
  if (uid !== undefined && gid !== undefined) await handle.chown(uid, gid).catch(() => undefined);
  // The umask applies to a new file, and a copy has the permissions of its original.
  if (mode !== undefined) await handle.chmod(mode & permissionBits);
};

/**
 * Creates a folder with files so that a crash at any moment leaves all of it or nothing.
 *
 * Only the owner can access the folder. If the folder exists and is not empty, the error is `ENOTEMPTY` or `EEXIST`.
 *
 * @param files - contents of the files by name
 */
export const createFolder = async (
  path: string,
  files: Readonly<Record<string, FileSource>>,
  options: Pick<ReplaceOptions, 'sync'> = {},
): Promise<void> => {
  checkOptions('createFolder()', options, { sync: anyBoolean });
  const { sync = true } = options;
  const temporary = join(dirname(path), temporaryName());
  try {
    await mkdir(temporary, { mode: 0o700 });
    for (const [name, content] of Object.entries(files)) {
      await writeNew(join(temporary, name), content, sync, nothing);
    }
    if (sync) await syncFolder(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  if (sync) await syncFolder(dirname(path));
};

/** The codes with which systems refuse to open or to sync a folder: Windows, and file systems without the operation. */
const unsupported: ReadonlySet<string | undefined> = new Set([
  'EACCES',
  'EBADF',
  'EINVAL',
  'EISDIR',
  'ENOTSUP',
  'EPERM',
]);

/**
 * Flushes the entries of a folder to the disk. Does nothing if the system cannot open or sync a folder, or if the folder
 * does not exist any more.
 */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ENOENT' && !unsupported.has(code)) throw error;
  }
};
