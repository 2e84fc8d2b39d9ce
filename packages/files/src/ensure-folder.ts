import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './open-file.js';

/** Attempts at a folder whose parent another process keeps removing. */
const maxAttempts = 3;

/**
 * Creates a folder and its parents, unless they exist.
 *
 * Unlike `mkdir` with `recursive`, it fails where nothing can be created: that call of Node never returns for a path
 * such as `/proc/x`, whose parent exists and in which the system reports a missing parent.
 *
 * @param mode - permissions of the folders that are created; those that exist keep theirs
 * @returns the outermost folder that was created, `undefined` if all exist
 * @throws the error of the system
 */
export const ensureFolder = async (path: string, mode = 0o700): Promise<string | undefined> => {
  let made: string | undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mkdir(path, { mode });
      return made ?? path;
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') {
        if (await isFolder(path)) return made;
        throw error;
      }
      const parent = dirname(path);
      if (parent === path || attempt === maxAttempts) throw error;
      made ??= await ensureFolder(parent, mode);
    }
  }
};

const isFolder = async (path: string): Promise<boolean> => {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
};
