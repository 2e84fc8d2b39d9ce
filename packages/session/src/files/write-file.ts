import { copyFile, open, rename, rm } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname } from 'node:path';

/** Writes a file so that there is the old one or the new one and never half of it. Only the holder of the session may. */
export const replaceFile = async (path: string, content: string | Iterable<string>, isSynced: boolean): Promise<void> => {
  const temporary = `${path}.new`;
  try {
    const handle = await open(temporary, 'w', 0o600);
    try {
      for (const piece of typeof content === 'string' ? [content] : content) await handle.appendFile(piece);
      if (isSynced) await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    if (isSynced) await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** Makes sure that a loss of power does not undo what files a folder has. Some systems do that by themselves and refuse. */
export const syncFolder = async (path: string): Promise<void> => {
  try {
    const handle = await open(path, 'r');
    await handle.sync().finally(() => handle.close());
  } catch {
    // Windows has no such thing.
  }
};

const maxBackups = 10_000;

/** Copies a file to a name that nobody has used, and hands that back once the copy is safe. */
export const backUp = (path: string, reason: string): Promise<string> => toNewName(path, reason, (backup) => copyFile(path, backup, constants.COPYFILE_EXCL));

/** Keeps a piece that is about to be taken out of a file. */
export const keepPiece = (path: string, reason: string, piece: Uint8Array): Promise<string> =>
  toNewName(path, reason, async (backup) => {
    const handle = await open(backup, 'wx', 0o600);
    await handle.writeFile(piece).finally(() => handle.close());
  });

const toNewName = async (path: string, reason: string, write: (backup: string) => Promise<void>): Promise<string> => {
  for (let number = 1; number < maxBackups; number += 1) {
    const backup = `${path}.${reason}-${number}`;
    try {
      await write(backup);
      const handle = await open(backup, 'r+');
      await handle.sync().finally(() => handle.close());
      return backup;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`There are ${maxBackups} backups of ${path} already; look into what breaks it.`);
};
