import { mkdir, open, readdir, rename, rm, rmdir, stat, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { anyBoolean, anyFunction, checkOptions, CodedError, instanceOf, integerFrom, numberFrom } from '@h/options';
import { LockHeldError, LockLostError, type LockOwner } from './errors.js';
import { errorCode, ifExists } from './open-file.js';
import { replaceBy, type FileSource, type ReplaceOptions } from './replace-file.js';
import { sweepTemporaryFiles } from './temporary-files.js';
import {
  generationsIn,
  isHeld,
  isLockName,
  isSame,
  lockIn,
  lookAt,
  ownerIn,
  prepareLock,
  removeEarlierLock,
  takeoverIn,
  withdrawLock,
  type Look,
  type PreparedLock,
} from './lock-folder.js';

/** Options of {@link acquireLock}. */
export interface LockOptions {
  /**
   * How long the lock is valid without a renewal if other processes cannot check whether the holder is alive, because it runs
   * on another machine or in another container. In milliseconds, at least 100. Renewed three times in that period.
   *
   * @defaultValue `30_000`
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long to wait while another holder has the lock, in milliseconds.
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

/** A lock that this process holds. It is renewed until `release()` is called. */
export interface FileLock {
  readonly folder: string;
  /** Number of this holder, counted over all processes. Grows with each holder until the folder is deleted. */
  readonly generation: number;
  /**
   * Whether an earlier holder may still be running: it could not be checked, and its lease ran out. It may write to files that
   * it had open. Its calls of `replaceFile`, `removeFile` and `removeFolder` fail.
   */
  readonly isTakeover: boolean;
  /** Confirms that earlier holders can do no harm any more, so that later holders report no takeover. */
  settle(): Promise<void>;
  /** Checks that the lock is still held. @throws LockLostError */
  check(): Promise<void>;
  /** Replaces a file as `replaceFile` does, unless the lock was lost by then. @throws LockLostError */
  replaceFile(path: string, content: FileSource, options?: ReplaceOptions): Promise<void>;
  /** Removes a file or folder, unless the lock was lost by then. A missing one is ignored. @throws LockLostError */
  removeFile(path: string): Promise<void>;
  /** Removes the locked folder with all files in it and releases the lock. @throws LockLostError */
  removeFolder(): Promise<void>;
  /** Releases the lock. Calling it again has no effect. */
  release(): Promise<void>;
}

const minLeaseMs = 100;
const maxTimerMs = 2_147_483_647;
const firstPauseMs = 2;
const longestPauseMs = 50;
/** The folder may be deleted between its creation and the lock this often. */
const maxCreations = 10;
/** A release that takes longer, on a file system that hangs, is abandoned. */
const releaseTimeoutMs = 5_000;

/**
 * Acquires the lock of a folder.
 *
 * The lock ends with its process: one that was killed is detected at once on the same machine, and by its lease elsewhere.
 * A holder that was suspended past its lease loses the lock, and its `replaceFile` and `removeFile` fail from then on.
 *
 * @throws LockHeldError if another holder has the lock and `waitMs` has passed
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
  for (let pauseMs = firstPauseMs; ;) {
    signal?.throwIfAborted();
    try {
      if (create) await mkdir(folder, { recursive: true, mode: 0o700 });
      const attempt = await tryToAcquire({ folder, leaseMs, minGeneration, toError });
      if (attempt === 'overtaken') continue;
      if ('check' in attempt) return attempt;
      // Counted, not measured: clocks jump.
      if (waitedMs >= waitMs) throw toError(new LockHeldError(folder, attempt, waitedMs));
    } catch (error) {
      creations += 1;
      if (!create || errorCode(error) !== 'ENOENT' || creations === maxCreations) throw error;
      continue;
    }
    const thisPauseMs = Math.min(pauseMs, waitMs - waitedMs);
    await delay(thisPauseMs, undefined, signal && { signal }).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    });
    waitedMs += thisPauseMs;
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
};

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

/** Returns the holder of a lock without acquiring it; `undefined` if it is free. A missing folder is an `ENOENT` error. */
export const inspectLock = async (folder: string): Promise<LockOwner | undefined> => {
  const looks = await lookAtAll(folder);
  const alive = looks.find(({ state }) => state === 'alive');
  if (alive || looks.every(({ state }) => state !== 'unknown')) return alive?.owner;
  try {
    const { path, now } = await prepareLock(folder, 0);
    await rm(path, { recursive: true, force: true });
    return looks.find((look) => isHeld(look, now))?.owner;
  } catch {
    // Where nothing can be written, the time of the file system is unknown, and the lock cannot be acquired either.
    return looks.find(({ state }) => state === 'unknown')?.owner;
  }
};

const lookAtAll = async (folder: string): Promise<readonly Look[]> => {
  const looks: Look[] = [];
  for (const generation of await generationsIn(folder)) {
    const look = await lookAt(folder, generation);
    if (look) looks.push(look);
  }
  return looks;
};

/**
 * Prepares a lock and renames it into place, which succeeds for one process only: the name holds the generation, and a folder
 * does not replace a folder that has content.
 *
 * A process may be suspended between any two steps. One that wakes up late finds a lock that it has not looked at, withdraws
 * its own, and starts again.
 */
const tryToAcquire = async (settings: LockSettings): Promise<FileLock | LockOwner | 'overtaken'> => {
  const { folder, leaseMs, minGeneration, toError } = settings;
  const looks = await lookAtAll(folder);
  // Most waiting is for a living holder, and needs no file.
  const alive = looks.find(({ state }) => state === 'alive');
  if (alive) return alive.owner;
  const prepared = await prepareLock(folder, leaseMs);
  const discard = (): Promise<void> => rm(prepared.path, { recursive: true, force: true });
  const generation = Math.max(minGeneration, (looks.at(-1)?.generation ?? 0) + 1);
  const isTakeover = looks.some((look) => look.state === 'unknown' || look.isTakeover);
  try {
    const held = looks.find((look) => isHeld(look, prepared.now));
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
    await discard().catch(() => undefined);
    throw error;
  }
  return enforce(folder, { ...prepared, generation, isTakeover, looks, toError });
};

interface LockSettings {
  readonly folder: string;
  readonly leaseMs: number;
  readonly minGeneration: number;
  readonly toError: (error: LockHeldError | LockLostError) => Error;
}

interface PlacedLock extends PreparedLock {
  readonly toError: (error: LockLostError) => Error;
  readonly generation: number;
  readonly isTakeover: boolean;
  /** The locks that were found free or stale before. */
  readonly looks: readonly Look[];
}

/** Makes a lock that is in place the only one, or withdraws it. */
const enforce = async (folder: string, placed: PlacedLock): Promise<FileLock | 'overtaken'> => {
  const { generation, token } = placed;
  const lock = lockIn(folder, generation);
  let handle: FileHandle | undefined;
  try {
    handle = await open(ownerIn(join(lock, token)), 'r+');
    const others = (await generationsIn(folder)).filter((each) => each !== generation);
    if (!(await areKnown(folder, others, placed))) {
      await handle.close();
      await withdrawLock(lock, token);
      return 'overtaken';
    }
    // From here on, no earlier holder can put anything in place.
    for (const other of others) await removeEarlierLock(lockIn(folder, other), stagedIn(join(lock, token)));
    await sweepTemporaryFiles(folder);
    return new HeldLock(folder, placed, handle);
  } catch (error) {
    await handle?.close().catch(() => undefined);
    await withdrawLock(lock, token).catch(() => undefined);
    // Another process found it stale already.
    if (errorCode(error) === 'ENOENT' && (await ifExists(stat(folder)))) return 'overtaken';
    throw error;
  }
};

/** Whether all other locks are earlier ones that were looked at before. */
const areKnown = async (folder: string, others: readonly number[], placed: PlacedLock): Promise<boolean> => {
  for (const other of others) {
    const look = placed.looks.find(({ generation }) => generation === other);
    if (other > placed.generation || !look || !(await isSame(folder, look))) return false;
  }
  return true;
};

const stagedIn = (holding: string): string => {
  // oxlint-disable-next-line h/no-clock -- files that are staged at the same time need different names
  return join(holding, crypto.randomUUID());
};

const moveIntoPlace = async (folder: string, prepared: PreparedLock, generation: number): Promise<boolean> => {
  try {
    await rename(prepared.path, lockIn(folder, generation));
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '')) return false;
    // Windows reports other codes for a folder that is there.
    if ((await generationsIn(folder)).some((each) => each >= generation)) return false;
    throw error;
  }
};

class HeldLock implements FileLock {
  readonly folder: string;
  readonly generation: number;
  readonly isTakeover: boolean;
  readonly #lock: string;
  readonly #token: string;
  /** Has a name that no other holder knows, and exists for as long as the lock is held. */
  readonly #holding: string;
  readonly #handle: FileHandle;
  readonly #timer: NodeJS.Timeout;
  readonly #toError: PlacedLock['toError'];
  #renewal: Promise<unknown> | undefined;
  #releasing: Promise<void> | undefined;

  constructor(folder: string, { generation, isTakeover, token, holder, toError }: PlacedLock, handle: FileHandle) {
    this.folder = folder;
    this.generation = generation;
    this.isTakeover = isTakeover;
    this.#lock = lockIn(folder, generation);
    this.#token = token;
    this.#holding = join(this.#lock, token);
    this.#handle = handle;
    this.#toError = toError;
    const text = JSON.stringify(holder);
    const forget = (): void => void (this.#renewal = undefined);
    // A renewal that fails shows when another process takes over. One that hangs is not followed by others.
    const renew = (): void => void (this.#renewal ??= handle.write(text, 0).then(forget, forget));
    this.#timer = setInterval(renew, holder.leaseMs / 3).unref();
  }

  async settle(): Promise<void> {
    await rm(takeoverIn(this.#holding), { force: true });
  }

  async check(): Promise<void> {
    if (this.#releasing) throw this.#toError(new LockLostError(this.folder, undefined));
    try {
      await stat(this.#holding);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw await this.#lost(error);
      throw error;
    }
  }

  replaceFile(path: string, content: FileSource, options: ReplaceOptions = {}): Promise<void> {
    return this.#fenced(() => replaceBy(path, stagedIn(this.#holding), content, options));
  }

  async removeFile(path: string): Promise<void> {
    const staged = stagedIn(this.#holding);
    await ifExists(this.#fenced(() => rename(path, staged)));
    await rm(staged, { recursive: true, force: true });
  }

  async removeFolder(): Promise<void> {
    await this.check();
    for (const name of await readdir(this.folder)) {
      if (!isLockName(name)) await this.removeFile(join(this.folder, name));
    }
    await this.release();
    await withdrawLock(this.#lock, this.#token);
    // It stays if another process is about to use it.
    await rmdir(this.folder).catch(() => undefined);
  }

  release(): Promise<void> {
    this.#releasing ??= withTimeout(this.#release(), this.folder);
    return this.#releasing;
  }

  async #release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    try {
      await this.#handle.truncate(0);
    } finally {
      await this.#handle.close();
    }
  }

  /** Runs an operation that fails if the lock was lost, and reports the loss instead of its symptom. */
  async #fenced(operation: () => Promise<void>): Promise<void> {
    if (this.#releasing) await this.check();
    try {
      await operation();
    } catch (error) {
      await this.check();
      throw error;
    }
  }

  async #lost(cause: unknown): Promise<Error> {
    const looks = await lookAtAll(this.folder).catch(() => []);
    const holder = looks.findLast(({ state }) => state !== 'free');
    return this.#toError(new LockLostError(this.folder, holder?.owner, { cause }));
  }
}

const withTimeout = async (released: Promise<void>, folder: string): Promise<void> => {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new CodedError(
          'lock-not-released',
          `The lock in ${folder} was not released within ${releaseTimeoutMs} ms: its file system does not respond. It becomes free when this process ends.`,
        ),
      );
    }, releaseTimeoutMs);
  });
  try {
    await Promise.race([released, timeout]);
  } finally {
    clearTimeout(timer);
  }
};
