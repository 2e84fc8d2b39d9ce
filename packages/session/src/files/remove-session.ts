import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lockIn } from '../lock/holders.js';
import { lockSession, type SessionLock } from '../lock/session-lock.js';
import { namesIn } from './find-sessions.js';
import type { SessionFolder } from './folder.js';

/** Not the name of a session's folder, so that nobody takes it for one. */
const deletedPrefix = '.deleted-';

/**
 * Takes a session out of sight before it is removed, so that nobody finds half of it.
 *
 * @throws SessionHeldError while a turn runs in it
 */
export const removeSession = async (folder: SessionFolder, leaseMs: number): Promise<void> => {
  const directory = dirname(folder.path);
  const lock = await lockIfThere(folder, leaseMs);
  if (lock) {
    await lock.leave();
    try {
      // oxlint-disable-next-line h/no-clock -- a session of the same name may have been deleted before
      await rename(folder.path, join(directory, `${deletedPrefix}${crypto.randomUUID()}`));
    } catch (error) {
      await rm(lockIn(folder.path, lock.generation), { recursive: true, force: true });
      throw error;
    }
  }
  await removeDeleted(directory);
};

/** Locks a session, unless it is not there, or somebody else deletes it at the same time. */
const lockIfThere = async ({ path, session }: SessionFolder, leaseMs: number): Promise<SessionLock | undefined> => {
  try {
    return await lockSession({ folder: path, session, leaseMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Goes on with what a process has left that died while it removed a session. */
export const removeDeleted = async (directory: string): Promise<void> => {
  for (const name of await namesIn(directory)) {
    // Somebody who was about to open it may put something into it meanwhile.
    if (name.startsWith(deletedPrefix)) {
      await rm(join(directory, name), { recursive: true, force: true, maxRetries: 5 });
    }
  }
};
