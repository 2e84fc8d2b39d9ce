import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';

/** What the system knows of a file; `undefined` when it is not there. */
export const statIfThere = async (path: string): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** How long a file is, in bytes; one that is not there is empty. */
export const sizeOf = async (path: string): Promise<number> => (await statIfThere(path))?.size ?? 0;
