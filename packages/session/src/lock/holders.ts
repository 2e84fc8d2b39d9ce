import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { processState, type ProcessMark } from '@h/process';

/** Who holds a session, as it stands in the file of the lock. */
export interface Holder extends ProcessMark {
  readonly leaseMs: number;
}

/** A lock as it is seen from here. */
export interface Look {
  readonly holder: Holder;
  readonly sight: 'alive' | 'dead' | 'unknown';
  readonly since: number;
  readonly renewedAt: number;
}

/** The folder of a lock. */
export const lockIn = (folder: string, generation: number): string => join(folder, `lock.${generation}`);

/** The file of a lock, which names its owner; empty when the lock was released. */
export const ownerIn = (lock: string): string => join(lock, 'owner');

/**
 * A file in a lock that was broken: a holder before it may still be at work in the files of the session. It stays with the
 * holders to come until one of them has seen to that.
 */
export const unsettledIn = (lock: string): string => join(lock, 'unsettled');

/** The latest holder of a session; 0 where there was none. */
export const highestIn = async (folder: string): Promise<number> => {
  let highest = 0;
  for (const name of await readdir(folder)) highest = Math.max(highest, generationOf(name) ?? 0);
  return highest;
};

/** Which holder's lock has this name. */
export const generationOf = (name: string): number | undefined => {
  const digits = /^lock\.(\d+)$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
};

/** Looks into a lock; there is nothing to see in one that was released. */
export const lookInto = async (lock: string): Promise<Look | undefined> => {
  try {
    const { mtimeMs: renewedAt, size } = await stat(ownerIn(lock));
    if (size === 0) return undefined;
    const holder = JSON.parse(await readFile(ownerIn(lock), 'utf8')) as Holder;
    // Its folder was not changed since it got its file.
    const since = Math.floor((await stat(lock)).mtimeMs);
    return { holder, sight: processState(holder), since, renewedAt };
  } catch (error) {
    // Empty when it was released, and after a loss of power, which no owner outlives.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Whether a holder before this one may still be at work in the files. */
export const isUnsettled = async (lock: string): Promise<boolean> => {
  try {
    await stat(unsettledIn(lock));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};

/** A living owner holds it; one that cannot be seen as long as its lease. A renewal ahead of now was made by another clock. */
export const isHeld = ({ sight, holder, renewedAt }: Look, now: number): boolean =>
  sight === 'alive' || (sight === 'unknown' && Math.abs(now - renewedAt) <= holder.leaseMs);
