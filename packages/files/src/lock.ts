import { readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  anyBoolean,
  anyFunction,
  checkOptions,
  CodedError,
  instanceOf,
  integerFrom,
  numberFrom,
  maxTimerMs,
} from '@h/options';
import { LockHeldError, type LockLostError, type LockOwner } from './errors.js';
import { HeldLock, releaseHolder, type FileLock, type PlacedLock } from './held-lock.js';
import {
  generationsAmong,
  generationsIn,
  heldAmong,
  isLockName,
  isSame,
  lockIn,
  lookAtAll,
  ownerIn,
  prepareLock,
  removeEarlierLock,
  stagedIn,
  takeoverIn,
  withdrawLock,
  type PreparedLock,
} from './lock-folder.js';
import { errorCode, ifExists } from './open-file.js';
import { sweepTemporary } from './temporary-files.js';

/** Options of {@link acquireLock}. */
export interface LockOptions {
  /**
   * How long the lock is valid without a renewal if other processes cannot check whether the holder is alive, because
   * it runs on another machine or in another container. In milliseconds, at least 100. Renewed three times in that
   * period.
   *
   * @defaultValue `30_000`, a pause of ten seconds between renewals costs little, and a dead machine blocks its work
   * for half a minute
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long to wait for another holder, in milliseconds.
   *
   * @defaultValue `0`
   */
  readonly waitMs?: number | undefined;
  /** Ends the wait; the promise is rejected with its reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether to create the folder. Without it a missing folder is an `ENOENT` error.
   *
   * @defaultValue `true`
   */
  readonly create?: boolean | undefined;
  /**
   * The lowest generation to hand out, for callers that store generations elsewhere.
   *
   * @defaultValue `1`
   */
  readonly minGeneration?: number | undefined;
  /** Maps the errors of the lock to those of the caller's package. */
  readonly toError?: ((error: LockHeldError | LockLostError) => Error) | undefined;
}

const minLeaseMs = 100;
const firstPauseMs = 2;
const longestPauseMs = 50;
/** How often the folder may be deleted between its creation and the lock before `acquireLock` fails. */
const maxCreations = 10;
/** How often other locks may appear or disappear during an attempt, in 5 s or `waitMs`, before `acquireLock` fails. */
const maxOvertaken = 100;

/**
 * Acquires the lock of a folder.
 *
 * The lock ends with its process: one that was killed is detected at once on the same machine, and by its lease
 * elsewhere. A holder that was suspended past its lease loses the lock, and its `replaceFile` and `removeFile` fail
 * from then on.
 *
 * @throws LockHeldError if another holder has the lock and `waitMs` has passed
 * @throws CodedError `lock-contended` if the folder keeps changing, as on a network file system with stale entries
 *
 * @example
 * ```ts
 * const lock = await acquireLock('state/lock', { waitMs: 5_000 });
 * try {
 *   await lock.replaceFile('state/tasks.json', JSON.stringify(tasks));
 * } finally {
 *   await lock.release();
 * }
 * ```
 */
export const acquireLock = async (folder: string, options: LockOptions = {}): Promise<FileLock> => {
  checkOptions('acquireLock()', options, {
    leaseMs: numberFrom(minLeaseMs, maxTimerMs),
    waitMs: numberFrom(0, Infinity),
    signal: instanceOf(AbortSignal),
    create: anyBoolean,
    minGeneration: integerFrom(1),
    toError: anyFunction,
  });
  const {
    leaseMs = 30_000,
    waitMs = 0,
    signal,
    create = true,
    minGeneration = 1,
    toError = (error) => error,
  } = options;
  let waitedMs = 0;
  let creations = 0;
  let overtaken = 0;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    signal?.throwIfAborted();
    let attempt: Awaited<ReturnType<typeof tryToAcquire>>;
    try {
      attempt = await tryToAcquire({ folder, leaseMs, create, minGeneration, toError });
    } catch (error) {
      creations += 1;
      if (!create || errorCode(error) !== 'ENOENT' || creations === maxCreations) throw error;
      continue;
    }
    if (attempt === 'overtaken') {
      overtaken += 1;
      if (overtaken >= maxOvertaken && waitedMs >= waitMs) throw contended(folder, overtaken);
      await pause(pauseMs, signal);
      waitedMs += pauseMs;
      continue;
    }
    if ('check' in attempt) return attempt;
    // Attempts are counted because clocks jump.
    if (waitedMs >= waitMs) throw toError(new LockHeldError(folder, attempt, waitedMs));
    const thisPauseMs = Math.min(pauseMs, waitMs - waitedMs);
    await pause(thisPauseMs, signal);
    waitedMs += thisPauseMs;
  }
};

const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  await delay(ms, undefined, signal && { signal }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
};

const contended = (folder: string, attempts: number): CodedError =>
  new CodedError(
    'lock-contended',
    `The lock in ${folder} was not acquired in ${attempts} attempts, because other locks kept appearing or disappearing. Try again; if that fails, delete the entries lock.* while no process uses the folder.`,
  );

/** Runs `work` while it holds the lock of a folder. @throws LockHeldError, and what `work` throws */
export const withLock = async <Result>(
  folder: string,
  options: LockOptions,
  work: (lock: FileLock) => Promise<Result>,
): Promise<Result> => {
  const lock = await acquireLock(folder, options);
  let result: Result;
  try {
    result = await work(lock);
  } catch (error) {
    await lock.release().catch(() => undefined);
    throw error;
  }
  await lock.release();
  return result;
};

/**
 * Returns the holder of a lock without acquiring it; `undefined` if it is free. A missing folder is an `ENOENT` error.
 */
export const inspectLock = async (folder: string): Promise<LockOwner | undefined> => {
  const looks = await lookAtAll(folder);
  const alive = looks.find(({ state }) => state === 'alive');
  if (alive || looks.every(({ state }) => state !== 'unknown')) return alive?.owner;
  try {
    const prepared = await prepareLock(folder, 0, false);
    const held = await heldAmong(looks, prepared);
    await rm(prepared.path, { recursive: true, force: true });
    return held?.owner;
  } catch {
    // If nothing can be written, the time of the file system is unknown, and the lock cannot be acquired either.
    return looks.find(({ state }) => state === 'unknown')?.owner;
  }
};

/**
 * Prepares a lock and renames it into place, which succeeds for one process only: the name holds the generation, and a
 * folder does not replace a folder that has content.
 *
 * A process may be suspended between any two steps. If it resumes late, it finds a lock that it has not examined,
 * withdraws its own lock, and starts again.
 */
const tryToAcquire = async (settings: LockSettings): Promise<FileLock | LockOwner | 'overtaken'> => {
  const { folder, leaseMs, create, minGeneration, toError } = settings;
  const found = create ? await ifExists(lookAtAll(folder)) : await lookAtAll(folder);
  const looks = found ?? [];
  // Most waits are for a living holder and need no file.
  const alive = looks.find(({ state }) => state === 'alive');
  if (alive) return alive.owner;
  const prepared = await prepareLock(folder, leaseMs, found === undefined);
  const discard = (): Promise<void> => rm(prepared.path, { recursive: true, force: true });
  const generation = Math.max(minGeneration, (looks.at(-1)?.generation ?? 0) + 1);
  const isTakeover = looks.some((look) => look.state === 'unknown' || look.isTakeover);
  try {
    const held = await heldAmong(looks, prepared);
    if (held) {
      await discard();
      return held.owner;
    }
    const takeover = takeoverIn(join(prepared.path, prepared.token));
    if (isTakeover) await writeFile(takeover, '', { mode: 0o600, flag: 'wx' });
    if (!(await moveIntoPlace(folder, prepared, generation))) {
      await discard();
      return 'overtaken';
    }
  } catch (error) {
    await abandon(lockIn(folder, generation), prepared);
    await discard().catch(() => undefined);
    throw error;
  }
  return enforce(folder, { ...prepared, generation, isTakeover, looks, toError });
};

interface LockSettings {
  readonly folder: string;
  readonly leaseMs: number;
  readonly create: boolean;
  readonly minGeneration: number;
  readonly toError: (error: LockHeldError | LockLostError) => Error;
}

/** Withdraws a lock that may be in place, or marks it as released, now or later. Never rejects. */
const abandon = async (lock: string, { token, holder }: PreparedLock): Promise<void> => {
  await withdrawLock(lock, token).catch(() => releaseHolder(join(lock, token), holder.leaseMs).catch(() => undefined));
};

/** Makes a lock that is in place the only one, or withdraws it. */
const enforce = async (folder: string, placed: PlacedLock): Promise<FileLock | 'overtaken'> => {
  const { generation, token } = placed;
  const lock = lockIn(folder, generation);
  try {
    const [names] = await Promise.all([readdir(folder), stat(ownerIn(join(lock, token)))]);
    const others = generationsAmong(names).filter((each) => each !== generation);
    if (!(await areKnown(folder, others, placed))) {
      await withdrawLock(lock, token);
      return 'overtaken';
    }
    // From here on, no earlier holder can change anything in the folder.
    for (const look of placed.looks) {
      if (others.includes(look.generation)) await removeEarlierLock(folder, look, stagedIn(join(lock, token)));
    }
    await sweepTemporary(folder, names);
    return new HeldLock(folder, placed, names.every(isLockName));
  } catch (error) {
    await abandon(lock, placed);
    // Another process has already found it stale.
    if (errorCode(error) === 'ENOENT' && (await ifExists(stat(folder)))) return 'overtaken';
    throw error;
  }
};

/** Returns whether all other locks are earlier ones that were already examined. */
const areKnown = async (folder: string, others: readonly number[], placed: PlacedLock): Promise<boolean> => {
  for (const other of others) {
    const look = placed.looks.find(({ generation }) => generation === other);
    if (other > placed.generation || !look || !(await isSame(folder, look))) return false;
  }
  return true;
};

const moveIntoPlace = async (folder: string, prepared: PreparedLock, generation: number): Promise<boolean> => {
  const lock = lockIn(folder, generation);
  try {
    await rename(prepared.path, lock);
    return true;
  } catch (error) {
    // A network file system may report a failure of what it has done.
    if (await ifExists(stat(join(lock, prepared.token)))) return true;
    if (['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) return false;
    // Windows reports other codes for a folder that exists.
    if ((await generationsIn(folder)).some((each) => each >= generation)) return false;
    throw error;
  }
};
