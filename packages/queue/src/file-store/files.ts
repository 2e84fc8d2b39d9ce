import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Puts a file into place as a whole: after a crash there is all of it, or what was there before.
 *
 * @returns the file, to go on writing, and its size
 */
export const replaceFile = async (
  path: string,
  pieces: Iterable<string>,
): Promise<{ readonly handle: FileHandle; readonly size: number }> => {
  const draft = `${path}.new`;
  const handle = await open(draft, 'w', 0o600);
  try {
    for (const piece of pieces) await handle.appendFile(piece);
    await handle.sync();
    const { size } = await handle.stat();
    await rename(draft, path);
    await syncFolder(dirname(path));
    return { handle, size };
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
};

/** Makes sure that the names in a folder outlive a loss of power. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Not every system can, or has to.
  }
};

/** The number that a name holds in this place; 0 for another name. */
export const numberIn = (pattern: RegExp, name: string): number => Number(pattern.exec(name)?.[1] ?? 0);
