import { constants } from 'node:fs';
import { copyFile, open, rm, writeFile } from 'node:fs/promises';
import { errorCode } from '@h/files';

const maxBackups = 10_000;

/** Copies a file to an unused name. @returns the name, once the copy is on the disk */
export const backUp = (path: string, reason: string): Promise<string> =>
  toNewName(path, reason, (backup) => copyFile(path, backup, constants.COPYFILE_EXCL));

/** Stores bytes that are about to be removed from a file. @returns the path of the backup */
export const backUpBytes = (path: string, reason: string, bytes: Uint8Array): Promise<string> =>
  toNewName(path, reason, (backup) => writeFile(backup, bytes, { flag: 'wx', mode: 0o600 }));

const toNewName = async (path: string, reason: string, write: (backup: string) => Promise<void>): Promise<string> => {
  for (let number = 1; number <= maxBackups; number += 1) {
    const backup = `${path}.${reason}-${number}`;
    try {
      await write(backup);
      const handle = await open(backup, 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
      return backup;
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      // Each attempt to open a session on a full disk would leave one that is incomplete.
      await rm(backup, { force: true }).catch(() => undefined);
      throw error;
    }
  }
  throw new Error(`${path} has ${maxBackups} backups. Find the cause of the damage, then delete the backups.`);
};
