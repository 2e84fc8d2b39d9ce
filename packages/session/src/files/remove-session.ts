import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ifExists, isLockName, type FileLock } from '@h/files';
import { TurnError } from '@h/turn';
import type { SessionFolder } from './folder.js';
import { emptyHead, encodeHead, readHead } from './head.js';
import { lockSession, SessionHeldError } from './session-lock.js';

/**
 * Deletes a session.
 *
 * It is deleted in one step: its head is replaced by one that says so. Then its files are removed, each on the condition that
 * the lock is still held. A process that was suspended past its lease removes nothing that was written since.
 *
 * @throws SessionHeldError while the session is open
 */
export const removeSession = async (folder: SessionFolder, leaseMs: number): Promise<void> => {
  const lock = await ifExists(lockSession(folder, { leaseMs, create: false }));
  if (!lock) return;
  try {
    await lock.replaceFile(folder.head, encodeHead({ ...emptyHead(folder.session), isDeleted: true }));
    await completeDeletion(folder, lock);
  } finally {
    await lock.release().catch(() => undefined);
  }
};

/** Removes what is left of deleted sessions, and folders of sessions that were never written. */
export const sweepDeleted = async (folder: SessionFolder, leaseMs: number): Promise<void> => {
  if (!(await isLeftover(folder))) return;
  try {
    const lock = await ifExists(lockSession(folder, { leaseMs, create: false }));
    if (lock && (await isLeftover(folder))) await completeDeletion(folder, lock);
    await lock?.release().catch(() => undefined);
  } catch (error) {
    if (!(error instanceof SessionHeldError)) throw error;
  }
};

const isLeftover = async (folder: SessionFolder): Promise<boolean> => {
  const head = await readHead(folder).catch(() => 'damaged' as const);
  if (head !== undefined) return head !== 'damaged' && head.isDeleted === true;
  const names = (await ifExists(readdir(folder.path))) ?? [];
  return names.every((name) => isLockName(name));
};

const completeDeletion = async (folder: SessionFolder, lock: FileLock): Promise<void> => {
  try {
    await emptySession(folder, lock);
    await lock.removeFolder();
  } catch (error) {
    // The process that took over completes the deletion when it opens the session.
    if (!(error instanceof TurnError && error.code === 'session-taken')) throw error;
  }
};

/** Removes the files of a session. The head, which tells that it was deleted, goes last. */
export const emptySession = async (folder: SessionFolder, lock: FileLock): Promise<void> => {
  for (const name of await readdir(folder.path)) {
    const path = join(folder.path, name);
    if (path !== folder.head && !isLockName(name)) await lock.removeFile(path);
  }
  await lock.removeFile(folder.head);
};
