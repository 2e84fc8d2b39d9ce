import { rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lockIn } from '../lock/holders.js';
import { lockSession } from '../lock/session-lock.js';
import { namesIn } from './find-sessions.js';
import type { SessionFolder } from './folder.js';

/** Not the name of a session's folder, so that nobody takes it for one. */
const deletedPrefix = '.deleted-';

/**
 * Takes a session out of sight before it is removed, so that nobody finds half of it.
 *
 * @throws SessionHeldError while a turn runs in it
 */
export const removeSession = async ({ path, session }: SessionFolder, leaseMs: number): Promise<void> => {
  const directory = dirname(path);
  const isThere = await stat(path).then(() => true, () => false);
  if (isThere) {
    const lock = await lockSession({ folder: path, session, leaseMs });
    await lock.leave();
    try {
      // oxlint-disable-next-line h/no-clock -- a session of the same name may have been deleted before
      await rename(path, join(directory, `${deletedPrefix}${crypto.randomUUID()}`));
    } catch (error) {
      await rm(lockIn(path, lock.generation), { recursive: true, force: true });
      throw error;
    }
  }
  await removeDeleted(directory);
};

/** Goes on with what a process has left that died while it removed a session. */
export const removeDeleted = async (directory: string): Promise<void> => {
  for (const name of await namesIn(directory)) {
    if (name.startsWith(deletedPrefix)) await rm(join(directory, name), { recursive: true, force: true });
  }
};
