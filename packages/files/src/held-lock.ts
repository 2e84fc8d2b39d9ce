import { readdir, rename, rm, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CodedError } from '@h/options';
import pTimeout from 'p-timeout';
import { LockLostError } from './errors.js';
import {
  isLockName,
  lockIn,
  lookAtAll,
  ownerIn,
  stagedIn,
  takeoverIn,
  withdrawLock,
  type Look,
  type PreparedLock,
} from './lock-folder.js';
import { errorCode, ifExists } from './open-file.js';
import { nothing, replaceBy, type FileSource, type ReplaceOptions } from './replace-file.js';

/** A lock that this process holds. It is renewed until `release()` is called. */
export interface FileLock {
  readonly folder: string;
  /** Number of this holder, counted over all processes. Grows with each holder until the folder is deleted. */
  readonly generation: number;
  /**
   * Whether an earlier holder may still be running: it could not be checked, and its lease has expired. It may write to
   * files that it had open. Its calls of `replaceFile`, `removeFile` and `removeFolder` fail.
   */
  readonly isTakeover: boolean;
  /** Whether the folder contained no files when the lock was acquired, apart from those of the lock. */
  readonly wasEmpty: boolean;
  /** Confirms that earlier holders can do no more harm; later holders then report no takeover. */
  settle(): Promise<void>;
  /** Checks that the lock is still held. @throws LockLostError */
  check(): Promise<void>;
  /** Replaces a file as `replaceFile` does, unless the lock was lost by then. @throws LockLostError */
  replaceFile(path: string, content: FileSource, options?: ReplaceOptions): Promise<void>;
  /** Removes a file or folder, unless the lock was lost by then. A missing one is ignored. @throws LockLostError */
  removeFile(path: string): Promise<void>;
  /** Removes the locked folder with all files in it and releases the lock. @throws LockLostError */
  removeFolder(): Promise<void>;
  /**
   * Releases the lock. Calling it again has no effect. If the file system fails, the release is tried again, after
   * pauses that grow to a third of the lease, because no other process releases the lock of a living one.
   */
  release(): Promise<void>;
}

/** A release that takes longer than this, on an unresponsive file system, is abandoned. */
const releaseTimeoutMs = 5_000;
/** The pause before a failed release is tried again; most failures pass at once. */
const firstReleasePauseMs = 50;

/** A lock that is in place. */
export interface PlacedLock extends PreparedLock {
  readonly toError: (error: LockLostError) => Error;
  readonly generation: number;
  readonly isTakeover: boolean;
  /** The locks that were found free or stale. */
  readonly looks: readonly Look[];
}

export class HeldLock implements FileLock {
  readonly folder: string;
  readonly generation: number;
  readonly isTakeover: boolean;
  readonly wasEmpty: boolean;
  readonly #lock: string;
  readonly #token: string;
  /** Has a unique name, and exists for as long as the lock is held. */
  readonly #holding: string;
  readonly #leaseMs: number;
  readonly #timer: NodeJS.Timeout;
  readonly #toError: PlacedLock['toError'];
  #renewal: Promise<unknown> | undefined;
  #releasing: Promise<void> | undefined;

  constructor(folder: string, { generation, isTakeover, token, holder, toError }: PlacedLock, wasEmpty: boolean) {
    this.folder = folder;
    this.generation = generation;
    this.isTakeover = isTakeover;
    this.wasEmpty = wasEmpty;
    this.#lock = lockIn(folder, generation);
    this.#token = token;
    this.#holding = join(this.#lock, token);
    this.#toError = toError;
    this.#leaseMs = holder.leaseMs;
    const owner = ownerIn(this.#holding);
    const text = JSON.stringify(holder);
    const forget = (): void => void (this.#renewal = undefined);
    // A failed renewal is detected at the takeover by another process. While a renewal hangs, no other one is started.
    const renew = (): void => void (this.#renewal ??= writeFile(owner, text, { flag: 'r+' }).then(forget, forget));
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
    return this.#fenced(() => replaceBy(path, stagedIn(this.#holding), content, options, nothing));
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
    // The folder stays if another process is about to use it.
    await rmdir(this.folder).catch(() => undefined);
  }

  release(): Promise<void> {
    this.#releasing ??= withTimeout(this.#release(), this.folder);
    return this.#releasing;
  }

  async #release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#renewal;
    await releaseHolder(this.#holding, this.#leaseMs);
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

/** Marks a lock as released, now or later. @throws the error of the first attempt */
export const releaseHolder = async (holding: string, leaseMs: number): Promise<void> => {
  const release = (): Promise<unknown> => ifExists(unlink(ownerIn(holding)));
  let pauseMs = firstReleasePauseMs;
  const releaseLater = (): void => {
    setTimeout(() => void release().catch(releaseLater), Math.min(pauseMs, leaseMs / 3)).unref();
    pauseMs *= 2;
  };
  try {
    await release();
  } catch (error) {
    releaseLater();
    throw error;
  }
};

const withTimeout = (released: Promise<void>, folder: string): Promise<void> =>
  pTimeout(released, {
    milliseconds: releaseTimeoutMs,
    message: new CodedError(
      'lock-not-released',
      `The lock in ${folder} was not released within ${releaseTimeoutMs} ms: its file system does not respond. It becomes free when this process ends.`,
    ),
  });
