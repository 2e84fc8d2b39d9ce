import type { Stats } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ifThere } from './errors.js';

/** How a file is replaced. */
export interface ReplaceOptions {
  /** Where the new content is written before it moves; on the same file system as the file. Nobody else may use it. */
  readonly temporary: string;
  /** @defaultValue that of the file which is replaced, or `0o644` */
  readonly mode?: number | undefined;
  /** Asked when the new content is safe on the disk, and when something has failed: it throws if the right to write was lost. */
  readonly isAllowed: () => Promise<void>;
  /** Asked just before it takes effect; what it throws leaves the old file. */
  readonly confirm?: (() => Promise<void>) | undefined;
}

/** Puts a new content in the place of a file, so that a crash at any point leaves the old one or the new one, whole. */
export const replaceFile = async (
  path: string,
  text: string,
  { temporary, mode, isAllowed, confirm }: ReplaceOptions,
): Promise<void> => {
  try {
    const kept = mode ?? modeOf(await ifThere(stat(path)));
    const file = await open(temporary, 'wx', kept ?? 0o644);
    try {
      // What was allowed before is allowed now, whatever the process's own mask says.
      if (kept !== undefined) await file.chmod(kept);
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await isAllowed();
    await confirm?.();
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    // What failed because the right to write was lost says so.
    await isAllowed();
    throw error;
  }
};

const modeOf = (found: Stats | undefined): number | undefined => (found === undefined ? undefined : found.mode & 0o777);

/** A rename is only safe from a power cut once its folder is. Not all systems can open folders. */
const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(join(folder), 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
};
