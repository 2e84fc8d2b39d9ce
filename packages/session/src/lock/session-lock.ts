import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { SessionBusyError, TurnError } from '@h/turn';
import { lookAt, thisProcess, type Owner } from './owner.js';

/** The right to write a session, held by this process. */
export interface SessionLock {
  /** Which holder of the session this is, counted over all processes; it only grows. */
  readonly generation: number;
  /** @throws TurnError `session-taken` when somebody else has taken the session over */
  check(): Promise<void>;
  release(): Promise<void>;
}

export interface LockOptions {
  readonly folder: string;
  readonly session: string;
  /** How long the lock is good for without being renewed, for those who cannot see whether the owner lives. */
  readonly leaseMs: number;
}

interface Holder extends Owner {
  readonly leaseMs: number;
}

/**
 * Takes the lock of a session.
 *
 * Holders are numbered: each is a folder `lock.<generation>` with a file that names the owner, and the highest number
 * is the one that counts. A folder is moved into place complete, which succeeds for one process alone, so nobody ever
 * sees half a lock or removes one that was just taken. A file that is empty says that the lock was released.
 *
 * @throws SessionBusyError when the owner lives, or is on another machine and has renewed its lease
 */
export const lockSession = async (options: LockOptions): Promise<SessionLock> => {
  const holder: Holder = { ...thisProcess(), leaseMs: options.leaseMs };
  for (;;) {
    const highest = await highestIn(options.folder);
    const candidate = await makeCandidate(options.folder, holder);
    const busy = highest > 0 ? await holderOf(join(options.folder, `lock.${highest}`), candidate.now) : undefined;
    if (busy) {
      await candidate.discard();
      throw busyError(options.session, busy);
    }
    const lock = await candidate.moveTo(highest + 1);
    if (!lock) continue;
    if ((await highestIn(options.folder)) === highest + 1) return held(options, highest + 1, lock, holder);
    await lock.close();
  }
};

/** Whether somebody holds the lock of this session. */
export const isLocked = async (folder: string): Promise<boolean> => {
  const highest = await highestIn(folder);
  if (highest === 0) return false;
  const look = await lookInto(join(folder, `lock.${highest}`));
  if (!look) return false;
  if (look.sight !== 'unknown') return look.sight === 'alive';
  const candidate = await makeCandidate(folder, { ...thisProcess(), leaseMs: 0 });
  await candidate.discard();
  return candidate.now - look.renewedAt <= look.holder.leaseMs;
};

const highestIn = async (folder: string): Promise<number> => {
  let highest = 0;
  for (const name of await readdir(folder)) {
    if (name.startsWith('lock.')) highest = Math.max(highest, Number(name.slice('lock.'.length)) || 0);
  }
  return highest;
};

/** A lock that is not in place yet. Its time is that of the file system, by which leases are measured. */
const makeCandidate = async (folder: string, holder: Holder) => {
  // oxlint-disable-next-line h/no-clock -- two openings of one process need names of their own
  const own = join(folder, `.candidate-${crypto.randomUUID()}`);
  await mkdir(own);
  const path = join(own, 'owner');
  await writeFile(path, JSON.stringify(holder), { mode: 0o600 });
  const { mtimeMs: now } = await stat(path);
  const discard = (): Promise<void> => rm(own, { recursive: true, force: true });
  return {
    now,
    discard,
    /** Puts it in place, unless somebody is there already. */
    moveTo: async (generation: number): Promise<FileHandle | undefined> => {
      const place = join(folder, `lock.${generation}`);
      try {
        await rename(own, place);
        return await open(join(place, 'owner'), 'r+');
      } catch (error) {
        await discard();
        // Systems differ in what they say of a folder that is there already.
        if ((await highestIn(folder)) >= generation) return undefined;
        throw error;
      }
    },
  };
};

/** Who holds a lock; nobody when it was released, or when its owner is dead or has let the lease run out. */
const holderOf = async (lock: string, now: number): Promise<Holder | undefined> => {
  const look = await lookInto(lock);
  if (!look || look.sight === 'dead') return undefined;
  return look.sight === 'alive' || now - look.renewedAt <= look.holder.leaseMs ? look.holder : undefined;
};

interface Look {
  readonly holder: Holder;
  readonly sight: 'alive' | 'dead' | 'unknown';
  readonly renewedAt: number;
}

const lookInto = async (lock: string): Promise<Look | undefined> => {
  try {
    const path = join(lock, 'owner');
    const holder = JSON.parse(await readFile(path, 'utf8')) as Holder;
    return { holder, sight: lookAt(holder), renewedAt: (await stat(path)).mtimeMs };
  } catch (error) {
    // Empty when it was released, and after a loss of power, which no owner outlives.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

const busyError = (session: string, { pid, host }: Holder): SessionBusyError => {
  const error = new SessionBusyError(session);
  error.cause = new TurnError('session-held', `Process ${pid} on ${host.replace(/pid:.*/, '')} holds it.`);
  return error;
};

const held = async ({ folder, session, leaseMs }: LockOptions, generation: number, handle: FileHandle, holder: Holder): Promise<SessionLock> => {
  const text = JSON.stringify(holder);
  let renewing: Promise<unknown> = Promise.resolve();
  const renew = (): void => {
    // A failing renewal shows when the lock is checked.
    renewing = handle.write(text, 0).catch(() => undefined);
  };
  const timer = setInterval(renew, leaseMs / 3);
  timer.unref();
  await removeOthers(folder, generation);
  return {
    generation,
    check: async () => {
      if ((await highestIn(folder).catch(() => 0)) === generation) return;
      throw new TurnError('session-taken', `The session ${JSON.stringify(session)} was taken over by another process; nothing more is written.`);
    },
    release: async () => {
      clearInterval(timer);
      await renewing;
      await handle.truncate(0);
      await handle.close();
    },
  };
};

/**
 * Removes the locks of earlier holders, and what processes have left that died while they asked. Nobody can take a lower
 * number in earnest any more: whoever gets one finds the higher one afterwards.
 */
const removeOthers = async (folder: string, generation: number): Promise<void> => {
  for (const name of await readdir(folder)) {
    const isEarlier = name.startsWith('lock.') && Number(name.slice('lock.'.length)) < generation;
    const isLeft = name.startsWith('.candidate-') && (await lookInto(join(folder, name)))?.sight === 'dead';
    // What cannot be removed is in nobody's way.
    if (isEarlier || isLeft) await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
};
