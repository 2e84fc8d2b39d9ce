import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  acquireLock,
  errorCode,
  ifExists,
  isLockName,
  LockHeldError,
  readRegularFile,
  syncFolder,
  type FileLock,
} from '@h/files';
import { TurnError } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, required, integerFrom, maxTimerMs } from '@h/options';
import { Gate } from '../team/gate.js';
import type { ChildRecord, ChildStore } from '../child/record.js';
import { isRecordFile, readRecord, recordFile } from './record-file.js';

/** A file that is not a valid record. It was renamed. */
export interface ChildStoreProblem {
  readonly path: string;
  /** The new path of the file. */
  readonly backup: string;
  readonly message: string;
}

/** Options of {@link fileChildStore}. */
export interface FileChildStoreOptions {
  /** The folder, created with the first record. Several processes may share it. */
  readonly directory: string;
  /**
   * Time without a renewal after which a process on another machine is presumed dead, in milliseconds. A process renews
   * its lease three times in that period. On the same machine the operating system is asked instead.
   *
   * @defaultValue `30_000`, the default of `@h/files`
   */
  readonly leaseMs?: number | undefined;
  /**
   * Maximum number of records of dead processes that `list` does not want and leaves to other processes. The oldest
   * ones beyond it are removed: their sessions have not been used for long.
   *
   * @defaultValue `1000`, the default of `limits.unread`
   */
  readonly mostLeft?: number | undefined;
  /** Receives files that are not valid records. */
  readonly onProblem?: ((problem: ChildStoreProblem) => void) | undefined;
}

/** A {@link ChildStore} in a folder. */
export interface FileChildStore extends ChildStore {
  save(record: ChildRecord): Promise<void>;
  delete(id: string): Promise<void>;
  list(isWanted?: (record: ChildRecord) => boolean): Promise<readonly ChildRecord[]>;
  /** Waits for pending writes and releases the folder. The next process that calls `list` takes over its records. */
  close(): Promise<void>;
}

/**
 * Stores records of sub-agents in files. A confirmed record survives the end of the process and a power failure.
 *
 * Each record is a file that is replaced as a whole. Each process writes to a separate folder, so that several can
 * share the directory. `list` returns the records of this process and takes over those of dead processes. If two
 * processes list at the same time, each record goes to one of them.
 *
 * @throws TurnError `invalid-option`
 *
 * @example
 * ```ts
 * const store = fileChildStore({ directory: '.agent/subagents' });
 * const team = subagents({ agents, store });
 * await team.recover({ unfinished: () => agent.unfinished() });
 * ```
 */
export const fileChildStore = (options: FileChildStoreOptions): FileChildStore => {
  checkOptions('fileChildStore()', options, {
    directory: required(nonEmptyString),
    leaseMs: numberFrom(100, maxTimerMs),
    mostLeft: integerFrom(0, Infinity),
    onProblem: anyFunction,
  });
  const { directory, leaseMs = 30_000, mostLeft = 1000, onProblem = () => undefined } = options;
  return new Files({ directory, leaseMs, mostLeft, onProblem });
};

type FileSettings = { readonly [Name in keyof FileChildStoreOptions]-?: NonNullable<FileChildStoreOptions[Name]> };

/** The key of operations on all records. */
const all = Symbol('all');

/** A record of a dead process that was not wanted. */
interface LeftRecord {
  readonly folder: string;
  readonly name: string;
  readonly spawnedAt: number;
}

const processPrefix = 'process-';
/** How long to wait for another process that takes over the records of a dead one, in milliseconds. */
const inheritWaitMs = 5_000;

/**
 * Each process has a folder whose lock it holds while it lives. A process that acquires the lock of another folder
 * takes over the records in it: the dead process was the first holder, and those that take over come after it.
 */
class Files implements FileChildStore {
  readonly #options: FileSettings;
  #own: Promise<FileLock> | undefined;
  #current: FileLock | undefined;
  /** The latest operation on each record. */
  readonly #underWay = new Map<string | symbol, Promise<unknown>>();
  /** Limits the number of open files, because the number of agents is unlimited. */
  readonly #gate = new Gate(32);
  #isClosed = false;

  constructor(options: FileSettings) {
    this.#options = options;
  }

  save(record: ChildRecord): Promise<void> {
    const text = JSON.stringify(record);
    return this.#inOrder(record.id, (own) => own.replaceFile(join(own.folder, recordFile(record.id)), text));
  }

  delete(id: string): Promise<void> {
    return this.#inOrder(id, async (own) => {
      await own.removeFile(join(own.folder, recordFile(id)));
      await syncFolder(own.folder);
    });
  }

  list(isWanted: (record: ChildRecord) => boolean = () => true): Promise<readonly ChildRecord[]> {
    return this.#inOrder(all, async (own) => {
      const { directory } = this.#options;
      const left: LeftRecord[] = [];
      for (const name of await readdir(directory)) {
        const folder = join(directory, name);
        if (name.startsWith(processPrefix) && folder !== own.folder) {
          left.push(...(await this.#inherit(folder, own.folder, isWanted)));
        }
      }
      await this.#removeOldest(left);
      const found: ChildRecord[] = [];
      for (const name of (await readdir(own.folder)).filter(isRecordFile)) {
        const record = await this.#read(join(own.folder, name));
        if (record && isWanted(record)) found.push(record);
      }
      return found.toSorted((one, other) => one.spawnedAt - other.spawnedAt);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#underWay.values());
    const own = await this.#own?.catch(() => undefined);
    if (own) await this.#leave(own);
  }

  /** Runs the operations on a record in order, and none after another process has taken over the folder. */
  #inOrder<Result>(key: string | symbol, work: (own: FileLock) => Promise<Result>): Promise<Result> {
    if (this.#isClosed) {
      return Promise.reject(
        new TurnError(
          'store-closed',
          'The store of sub-agents is closed, so the record was not stored. Create another store.',
        ),
      );
    }
    const before = this.#underWay.get(key) ?? Promise.resolve();
    const done = before.then(async () => {
      await this.#gate.enter(undefined);
      try {
        return await this.#whileOwned(work);
      } finally {
        this.#gate.leave();
      }
    });
    const settled = done
      .catch(() => undefined)
      .then(() => {
        if (this.#underWay.get(key) === settled) this.#underWay.delete(key);
      });
    this.#underWay.set(key, settled);
    return done;
  }

  /** After a takeover, the records belong to the other process, and later ones go to a new folder. */
  async #whileOwned<Result>(work: (own: FileLock) => Promise<Result>): Promise<Result> {
    this.#own ??= this.#acquire();
    // The next operation retries: a full disk may have space by then.
    this.#own.catch(() => (this.#own = undefined));
    const own = await this.#own;
    try {
      await own.check();
      return await work(own);
    } catch (error) {
      const isLost = error instanceof TurnError && error.code === 'store-taken';
      // Other operations may have noticed it before, and have a new folder.
      if (isLost && this.#current === own) {
        this.#own = undefined;
        await own.release().catch(() => undefined);
      }
      throw error;
    }
  }

  async #acquire(): Promise<FileLock> {
    const { directory, leaseMs } = this.#options;
    // oxlint-disable-next-line h/no-clock -- each store of each process has a folder
    const folder = join(directory, `${processPrefix}${crypto.randomUUID()}`);
    const toError = ({ message }: Error): TurnError =>
      new TurnError('store-taken', `Another process has taken over the records of this one. ${message}`);
    // Another process may consider the new folder abandoned before it is locked, and remove it.
    const lock = await acquireLock(folder, { leaseMs, waitMs: inheritWaitMs, toError });
    try {
      await syncFolder(directory);
    } catch (error) {
      await this.#leave(lock).catch(() => undefined);
      throw error;
    }
    this.#current = lock;
    return lock;
  }

  /** Takes over the wanted records of a dead process. @returns the others */
  async #inherit(
    folder: string,
    own: string,
    isWanted: (record: ChildRecord) => boolean,
  ): Promise<readonly LeftRecord[]> {
    const lock = await this.#acquireLeft(folder);
    if (!lock) return [];
    try {
      const left: LeftRecord[] = [];
      for (const name of (await readdir(folder)).filter(isRecordFile)) {
        const record = await this.#read(join(folder, name));
        if (!record) continue;
        if (isWanted(record)) await ifExists(rename(join(folder, name), join(own, name)));
        else left.push({ folder, name, spawnedAt: record.spawnedAt });
      }
      await syncFolder(own);
      return left;
    } finally {
      await this.#leave(lock);
    }
  }

  /** Locks the folder of a process that has ended or is past its lease. Waits for others that take over its records. */
  async #acquireLeft(folder: string): Promise<FileLock | undefined> {
    const { leaseMs } = this.#options;
    for (let waitMs = 0; ; waitMs = inheritWaitMs) {
      try {
        return await acquireLock(folder, { leaseMs, waitMs, create: false });
      } catch (error) {
        if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
        if (!(error instanceof LockHeldError)) throw error;
        if (error.owner.generation === 1 || waitMs > 0) return undefined;
      }
    }
  }

  /** Releases a folder, and removes it if it is empty. */
  async #leave(lock: FileLock): Promise<void> {
    // A folder that cannot be read may contain records.
    const names = await readdir(lock.folder).catch(() => undefined);
    const isEmpty = names?.every((name) => isLockName(name)) === true;
    await (isEmpty ? lock.removeFolder() : lock.release()).catch(() => lock.release());
  }

  async #removeOldest(left: readonly LeftRecord[]): Promise<void> {
    const beyond = left.toSorted((one, other) => other.spawnedAt - one.spawnedAt).slice(this.#options.mostLeft);
    for (const { folder, name } of beyond) await rm(join(folder, name), { force: true });
    for (const folder of new Set(beyond.map((record) => record.folder))) {
      const lock = await this.#acquireLeft(folder);
      if (lock) await this.#leave(lock);
    }
  }

  async #read(path: string): Promise<ChildRecord | undefined> {
    const text = (await readRegularFile(path))?.text;
    const record = text === undefined ? 'later' : readRecord(text);
    // Only the later release can read its record.
    if (record === 'later') return undefined;
    if (record) return record;
    const backup = `${path}.corrupt`;
    await ifExists(rename(path, backup));
    this.#report({
      path,
      backup,
      message: 'The file is not a valid record of a sub-agent. The sub-agent is not recovered.',
    });
    return undefined;
  }

  #report(problem: ChildStoreProblem): void {
    try {
      this.#options.onProblem(problem);
    } catch {
      // An error of the callback has no effect.
    }
  }
}
