import { readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { thisProcess } from '@h/process';
import { candidatePrefix, makeCandidate } from './candidate.js';
import {
  generationOf,
  highestIn,
  isHeld,
  isUnsettled,
  lockIn,
  lookInto,
  ownerIn,
  unsettledIn,
  type Holder,
  type Look,
} from './holders.js';
import { SessionHeldError } from './session-held-error.js';

/** The right to write a session, held by this process. */
export interface SessionLock {
  /** Which holder of the session this is, counted over all processes; it only grows. */
  readonly generation: number;
  /** A holder before it may live and not know yet that it has lost the session: its lease had run out. */
  readonly isBroken: boolean;
  /** What that holder still does reaches nobody any more. Until it is called, the next holder's lock is broken, too. */
  settle(): Promise<void>;
  /** @throws TurnError `session-taken` when somebody else has taken the session over */
  check(): Promise<void>;
  /**
   * As `check`, and that it was not deleted and begun anew, where holders are counted from 1 again. For what goes by a path: a
   * file that is open is gone with the session that it was of.
   *
   * @throws TurnError `session-taken`
   */
  verify(): Promise<void>;
  release(): Promise<void>;
  /** Lets nobody in, but keeps no file open: for a folder that is about to be moved. */
  leave(): Promise<void>;
}

export interface LockOptions {
  readonly folder: string;
  readonly session: string;
  /** How long the lock is good for without being renewed, for those who cannot see whether the owner lives. */
  readonly leaseMs: number;
}

/**
 * Takes the lock of a session.
 *
 * Holders are numbered: each is a folder `lock.<generation>` with a file that names the owner, and the highest number
 * is the one that counts. A folder is moved into place complete, which succeeds for one process alone, so nobody ever
 * sees half a lock or removes one that was just taken. A file that is empty says that the lock was released.
 *
 * No look at a lock can help a process that falls asleep right after it. One that sleeps over its lease there, and of which nobody
 * can see whether it lives, must find nothing that it could harm when it wakes up. So who breaks a lock
 * - goes on in a copy of the journal: what the sleeper writes to the file that it has open, or cuts off there, is read by nobody;
 * - removes the files that the sleeper was about to put in the place of others: it has nothing to rename;
 * - does both before anything else, or leaves it to the next holder, see `settle`.
 *
 * A session that was deleted and begun anew meanwhile is told from the one before it by `verify`. Only the folder of a session
 * cannot be kept from a sleeper that deletes it: it goes, with what was written since, and who has written it is told so
 * (`session-taken`).
 *
 * @throws SessionHeldError when the owner lives, or is on another machine and has renewed its lease
 */
export const lockSession = async (options: LockOptions): Promise<SessionLock> => {
  const { folder, session, leaseMs } = options;
  const holder: Holder = { ...thisProcess(), leaseMs };
  for (;;) {
    const highest = await highestIn(folder);
    const candidate = await makeCandidate(folder, holder);
    let isBroken = false;
    try {
      const look = await lookAtHighest(folder, highest);
      if (look && isHeld(look, candidate.now)) {
        throw new SessionHeldError(session, { pid: look.holder.pid, host: look.holder.host, since: look.since });
      }
      isBroken = look?.sight === 'unknown' || (await isUnsettled(lockIn(folder, highest)));
    } catch (error) {
      await candidate.discard();
      throw error;
    }
    const handle = await candidate.moveTo(highest + 1, isBroken);
    if (!handle) continue;
    const lock = held(options, { generation: highest + 1, isBroken, handle, holder });
    if (await isInForce(lock, folder)) return lock;
  }
};

/** Whether somebody holds the lock of this session. */
export const isLocked = async (folder: string): Promise<boolean> => {
  const highest = await highestIn(folder);
  const look = await lookAtHighest(folder, highest);
  if (look?.sight !== 'unknown') return look?.sight === 'alive';
  try {
    const candidate = await makeCandidate(folder, { ...thisProcess(), leaseMs: 0 });
    await candidate.discard();
    return isHeld(look, candidate.now);
  } catch {
    // Where nothing can be written nobody can tell the time, or take the lock.
    return true;
  }
};

const lookAtHighest = async (folder: string, highest: number): Promise<Look | undefined> =>
  highest > 0 ? lookInto(lockIn(folder, highest)) : undefined;

interface Taken {
  readonly generation: number;
  readonly isBroken: boolean;
  readonly handle: FileHandle;
  readonly holder: Holder;
}

/** A lock that is in place, renewed from now on. */
const held = (
  { folder, session, leaseMs }: LockOptions,
  { generation, isBroken, handle, holder }: Taken,
): SessionLock => {
  const text = JSON.stringify(holder);
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = (): void => {
    // A failing renewal shows when the lock is checked.
    renewing = handle.write(text, 0).catch(() => undefined);
  };
  const timer = setInterval(renew, leaseMs / 3);
  timer.unref();
  const leave = async (empty: () => Promise<unknown>): Promise<void> => {
    clearInterval(timer);
    await renewing;
    try {
      await empty();
    } finally {
      await handle.close();
    }
  };
  const own = lockIn(folder, generation);
  const check = async (): Promise<void> => {
    const highest = await highestIn(folder).catch(noneIfGone);
    if (highest !== generation) throw await takenOver(session, lockIn(folder, highest));
  };
  return {
    generation,
    isBroken,
    settle: () => rm(unsettledIn(own), { force: true }),
    check,
    verify: async () => {
      await check();
      const [held, there] = await Promise.all([handle.stat(), stat(ownerIn(own)).catch(noFileIfGone)]);
      if (held.ino !== there?.ino) throw await takenOver(session, own);
    },
    release: () => leave(() => handle.truncate(0)),
    leave: () => leave(() => Promise.resolve()),
  };
};

const noneIfGone = (error: unknown): number => noFileIfGone(error) ?? 0;

const noFileIfGone = (error: unknown): undefined => {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
};

const takenOver = async (session: string, lock: string): Promise<TurnError> => {
  const look = await lookInto(lock).catch(() => undefined);
  const by = look
    ? `by process ${look.holder.pid} on ${look.holder.host} at ${new Date(look.since).toISOString()}`
    : 'by another process, or deleted';
  return new TurnError(
    'session-taken',
    `The session ${JSON.stringify(session)} was taken over ${by}; nothing more is written.`,
  );
};

/** Whether a lock that was put in place is the one that counts. If that cannot be seen it is given back. */
const isInForce = async (lock: SessionLock, folder: string): Promise<boolean> => {
  try {
    if ((await highestIn(folder)) === lock.generation) {
      await removeOthers(folder, lock.generation);
      return true;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
  await lock.leave();
  return false;
};

/** How old something is that a process has left which died while it made it; nobody takes so long. */
const surelyLeftMs = 600_000;

/**
 * Removes the locks of earlier holders, and what processes have left that died while they asked. Nobody can take a lower
 * number in earnest any more: whoever gets one finds the higher one afterwards.
 */
const removeOthers = async (folder: string, generation: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    const isEarlier = (generationOf(name) ?? generation) < generation;
    const isLeft =
      name.startsWith(candidatePrefix) && (await isLeftOver(join(folder, name), lockIn(folder, generation)));
    // What cannot be removed is in nobody's way.
    if (isEarlier || isLeft) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
};

const isLeftOver = async (candidate: string, lock: string): Promise<boolean> => {
  const look = await lookInto(candidate);
  if (look && look.sight !== 'unknown') return look.sight === 'dead';
  const [made, now] = await Promise.all([timeOf(candidate), timeOf(ownerIn(lock))]);
  return now - made > surelyLeftMs;
};

const timeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
