import { open, rename, stat, unlink } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { TurnError } from '@h/turn';

/** A file that stands for the right to write another one. */
export interface LockOptions {
  readonly path: string;
  readonly staleMs: number;
  readonly now: () => number;
}

const leastWaitMs = 2;
const longestWaitMs = 50;

/**
 * Does something while no other process does it.
 *
 * @throws TurnError `store-locked` when others have held the lock for three times as long as one may
 */
export const withLock = async <Result>(lock: LockOptions, action: () => Promise<Result>): Promise<Result> => {
  await take(lock);
  try {
    return await action();
  } finally {
    await unlink(lock.path).catch(() => undefined);
  }
};

const take = async (lock: LockOptions): Promise<void> => {
  const { path, staleMs } = lock;
  let waited = 0;
  for (let waitMs = leastWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    if (await isTaken(path)) return;
    await breakIfStale(lock);
    if (waited > staleMs * 3) {
      throw new TurnError(
        'store-locked',
        `The lock ${JSON.stringify(path)} is held by others all the time; remove it if no process uses it.`,
      );
    }
    await wait(waitMs);
    waited += waitMs;
  }
};

/** Makes the file, unless there is one: the system lets one process alone do that. */
const isTaken = async (path: string): Promise<boolean> => {
  try {
    const handle = await open(path, 'wx', 0o600);
    await handle.writeFile(String(process.pid));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** A lock of a dead process is moved away before it is removed, so that of several processes one alone breaks it. */
const breakIfStale = async ({ path, staleMs, now }: LockOptions): Promise<void> => {
  const stats = await stat(path).catch(() => undefined);
  if (stats === undefined || now() - stats.mtimeMs <= staleMs) return;
  const away = `${path}.${process.pid}`;
  try {
    await rename(path, away);
    await unlink(away);
  } catch {
    // Another process was faster.
  }
};
