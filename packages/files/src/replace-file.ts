import { constants } from 'node:fs';
import { copyFile, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifExists } from './open-file.js';
import { temporaryName } from './temporary-files.js';

/** New content of a file: one piece, several pieces that are written one after the other, or a copy of another file. */
export type FileSource = string | Uint8Array | Iterable<string> | { readonly copyOf: string };

/** Options of {@link replaceFile}. */
export interface ReplaceOptions {
  /**
   * Whether the content and the folder entry are forced onto the disk, so that a power failure does not undo a replacement
   * that was reported as done.
   *
   * @defaultValue `true`
   */
  readonly sync?: boolean | undefined;
  /**
   * Permissions of the file. `'keep'` keeps those of the file that is replaced; a new file gets `0o644` less the umask.
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
 * The content is written to a temporary file beside it, which is then renamed. Use it for files with one writer or where the
 * last writer wins; {@link FileLock.replaceFile} refuses a writer that has lost its lock.
 *
 * @example
 * ```ts
 * await replaceFile('settings.json', JSON.stringify(settings));
 * ```
 */
export const replaceFile = (path: string, content: FileSource, options: ReplaceOptions = {}): Promise<void> =>
  replaceBy(path, join(dirname(path), temporaryName()), content, options);

/** Replaces `path` by way of `temporary`, which must be on the same file system. */
export const replaceBy = async (
  path: string,
  temporary: string,
  content: FileSource,
  { sync = true, mode, confirm }: ReplaceOptions,
): Promise<void> => {
  try {
    const kept = mode === 'keep' ? await modeOf(path) : mode;
    await writeNew(temporary, content, sync, kept, mode === 'keep' ? 0o644 : 0o600);
    await confirm?.();
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
  if (sync) await syncFolder(dirname(path));
};

const modeOf = async (path: string): Promise<number | undefined> => {
  const stats = await ifExists(stat(path));
  return stats && stats.mode & 0o777;
};

const writeNew = async (
  path: string,
  content: FileSource,
  sync: boolean,
  mode: number | undefined,
  defaultMode = 0o600,
): Promise<void> => {
  const isCopy = typeof content === 'object' && 'copyOf' in content;
  if (isCopy) await copyFile(content.copyOf, path, constants.COPYFILE_EXCL);
  const handle = await open(path, isCopy ? 'r+' : 'wx', mode ?? defaultMode);
  try {
    // The umask applies to a new file, and a copy has the permissions of its original.
    if (mode !== undefined) await handle.chmod(mode);
    if (!isCopy) {
      const pieces = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
      for (const piece of pieces) await handle.appendFile(piece);
    }
    if (sync) await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Creates a folder with files so that a crash at any moment leaves all of it or nothing.
 *
 * The folder is only for its owner. An existing folder with content is not replaced: the error is `ENOTEMPTY` or `EEXIST`.
 *
 * @param files - contents by name
 */
export const createFolder = async (
  path: string,
  files: Readonly<Record<string, FileSource>>,
  { sync = true }: Pick<ReplaceOptions, 'sync'> = {},
): Promise<void> => {
  const temporary = join(dirname(path), temporaryName());
  try {
    await mkdir(temporary, { mode: 0o700 });
    for (const [name, content] of Object.entries(files)) {
      await writeNew(join(temporary, name), content, sync, undefined);
    }
    if (sync) await syncFolder(temporary);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
  if (sync) await syncFolder(dirname(path));
};

/** Forces the entries of a folder onto the disk. Does nothing on systems that cannot open or sync a folder. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Windows cannot open folders.
  }
};
