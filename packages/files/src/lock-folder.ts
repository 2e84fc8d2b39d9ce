import { mkdir, readdir, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { processState, thisProcess, type ProcessMark } from '@h/process';
import type { LockOwner } from './errors.js';
import { ensureFolder } from './ensure-folder.js';
import { errorCode, ifExists, readRegularFile } from './open-file.js';
import { isTemporaryFile, temporaryName } from './temporary-files.js';

/**
 * The layout of a locked folder. The lock keeps nothing else in it:
 *
 *     lock.<generation>/<token>/owner     the holder as JSON, renewed by its modification time; removed at the release
 *     lock.<generation>/<token>/takeover  exists while an earlier holder may still be running
 *     lock.<generation>/<token>/<uuid>    a file that is about to replace another one, or was removed
 *     .tmp-<…>/                           a lock that is being prepared
 *
 * The highest generation counts. The holder changes files only through a path with its token. That path becomes invalid
 * when the lock is taken over or the folder is deleted, so a holder that resumes later cannot touch the files of
 * another holder.
 */
export const lockIn = (folder: string, generation: number): string => join(folder, `lock.${generation}`);
export const ownerIn = (holding: string): string => join(holding, 'owner');
export const takeoverIn = (holding: string): string => join(holding, 'takeover');

/** Whether a name in a locked folder belongs to the lock. */
export const isLockName = (name: string): boolean => generationIn(name) > 0 || isTemporaryFile(name);

/** The content of the owner file of a lock. */
export interface Holder extends ProcessMark {
  readonly leaseMs: number;
}

/** The state of one lock. */
export interface Look {
  readonly generation: number;
  readonly token: string;
  /** Undefined if the lock was released. */
  readonly holder: Holder | undefined;
  readonly state: 'alive' | 'dead' | 'unknown' | 'free';
  readonly owner: LockOwner;
  readonly renewedAt: number;
  /** Whether an earlier holder may still be running. */
  readonly isTakeover: boolean;
}

/** The generation in the name of a lock; `0` for other names. */
const generationIn = (name: string): number => Number(/^lock\.(\d{1,15})$/.exec(name)?.[1] ?? 0);

/** The locks in a folder, in ascending order. Usually there is one. */
export const generationsIn = async (folder: string): Promise<readonly number[]> =>
  generationsAmong(await readdir(folder));

/** The same among the names in a folder. */
export const generationsAmong = (names: readonly string[]): readonly number[] =>
  names
    .map(generationIn)
    .filter((generation) => generation > 0)
    .toSorted((one, other) => one - other);

/** Reads the state of a lock; `undefined` if it was removed. */
export const lookAt = async (folder: string, generation: number): Promise<Look | undefined> => {
  const lock = lockIn(folder, generation);
  const token = await tokenIn(lock);
  if (token === undefined) return undefined;
  const holding = join(lock, token);
  const names = (await namesIn(holding)) ?? [];
  const content = names.includes('owner') ? await readRegularFile(ownerIn(holding)) : undefined;
  const holder = parseHolder(content?.text);
  const stats = holder && (await ifExists(stat(lock)));
  return {
    generation,
    token,
    holder,
    state: holder ? processState(holder) : 'free',
    owner: { pid: holder?.pid ?? 0, host: holder?.host ?? '', generation, since: Math.floor(stats?.mtimeMs ?? 0) },
    renewedAt: content?.stats.mtimeMs ?? 0,
    isTakeover: names.includes('takeover'),
  };
};

/**
 * Returns whether a lock is still the examined one. A lock that was only partly removed is empty and can be replaced.
 */
export const isSame = async (folder: string, { generation, token }: Look): Promise<boolean> =>
  ((await tokenIn(lockIn(folder, generation))) ?? noToken) === token;

const noToken = '-';

/** Returns the token in a lock; `undefined` if the lock was removed. */
const tokenIn = async (lock: string): Promise<string | undefined> => {
  const names = await namesIn(lock);
  return names && (names[0] ?? noToken);
};

/** The names in a folder; none in a file, `undefined` if nothing has this path. */
const namesIn = async (path: string): Promise<readonly string[] | undefined> => {
  try {
    return await ifExists(readdir(path));
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR') return [];
    throw error;
  }
};

/**
 * Returns the first lock whose holder keeps it: the holder is alive, or it cannot be checked and has renewed its lease.
 *
 * @param prepared - its modification time is the time by the clock of the file system
 */
export const heldAmong = async (looks: readonly Look[], prepared: PreparedLock): Promise<Look | undefined> => {
  const { path, token } = prepared;
  const hasUnknown = looks.some(({ state }) => state === 'unknown');
  const now = hasUnknown ? (await stat(ownerIn(join(path, token)))).mtimeMs : 0;
  return looks.find((look) => look.state === 'alive' || (look.state === 'unknown' && isWithinLease(look, now)));
};

// A renewal in the future was stamped before the clock was set back.
const isWithinLease = ({ holder, renewedAt }: Look, now: number): boolean =>
  Math.abs(now - renewedAt) <= (holder?.leaseMs ?? 0);

// The file may be empty or damaged after a power failure, which no holder survives.
const parseHolder = (text = ''): Holder | undefined => {
  try {
    const { host, machine, boot, namespaces, pid, start, leaseMs } = JSON.parse(text) as Partial<Holder>;
    if (!Number.isInteger(pid) || typeof host !== 'string' || typeof leaseMs !== 'number') return undefined;
    return {
      host,
      machine: machine ?? '',
      boot: boot ?? '',
      namespaces: namespaces ?? '',
      pid: pid as number,
      start: start ?? '',
      leaseMs,
    };
  } catch {
    return undefined;
  }
};

/** A complete lock that is not in place yet. */
export interface PreparedLock {
  readonly path: string;
  readonly token: string;
  readonly holder: Holder;
}

/**
 * Prepares a lock beside the others. The caller renames it into place or removes it.
 *
 * @param isMissing - whether the folder must be created
 */
export const prepareLock = async (folder: string, leaseMs: number, isMissing: boolean): Promise<PreparedLock> => {
  // oxlint-disable-next-line h/no-clock -- each holder needs a folder that no other holder has
  const token = crypto.randomUUID();
  const path = join(folder, temporaryName());
  const holder: Holder = { ...thisProcess(), leaseMs };
  try {
    if (isMissing) await ensureFolder(folder);
    await mkdir(path, { mode: 0o700 });
    await mkdir(join(path, token), { mode: 0o700 });
    await writeFile(ownerIn(join(path, token)), JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
    return { path, token, holder };
  } catch (error) {
    await rm(path, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
};

/**
 * Removes a lock by its token. A later lock with the same generation is not affected, because its folder is not empty.
 */
export const withdrawLock = async (lock: string, token: string): Promise<void> => {
  await rm(join(lock, token), { recursive: true, force: true });
  await rmdir(lock).catch(() => undefined);
};

/**
 * Removes the lock of an earlier holder with its staged files. When this returns, all pending changes of that holder
 * fail: the rename makes its paths invalid, and a call that had resolved them before fails because the folder is gone.
 *
 * @param staged - a free name in the folder of the new holder, which must not have lost the lock itself
 */
export const removeEarlierLock = async (folder: string, { generation, token }: Look, staged: string): Promise<void> => {
  const lock = lockIn(folder, generation);
  try {
    // A released lock is empty, and a folder that is gone can receive no file.
    await rmdir(join(lock, token));
    await rmdir(lock);
  } catch {
    await ifExists(rename(lock, staged));
    await rm(staged, { recursive: true, force: true, maxRetries: 5 });
  }
};

/** Reads all locks of a folder, in ascending order of their generations. */
export const lookAtAll = async (folder: string): Promise<readonly Look[]> => {
  const looks: Look[] = [];
  for (const generation of await generationsIn(folder)) {
    const look = await lookAt(folder, generation);
    if (look) looks.push(look);
  }
  return looks;
};

/** Returns an unused path in the folder of a holder. */
export const stagedIn = (holding: string): string => {
  // oxlint-disable-next-line h/no-clock -- files that are staged at the same time need different names
  return join(holding, crypto.randomUUID());
};
