import { open, type FileHandle } from 'node:fs/promises';
import type { SessionLock } from '../lock/session-lock.js';
import { inPieces, syncFolder } from './write-file.js';

export interface GroupCommitOptions {
  readonly path: string;
  /** Asked before each write and after it, and when the file is opened: nothing is written, or confirmed, when it fails. */
  readonly lock: Pick<SessionLock, 'check' | 'verify'>;
  /** Folders that are forced onto the disk after the first write, because what is in them is new. */
  readonly newIn: readonly string[];
}

/** Lines that go to the disk together. */
interface Batch {
  lines: string[];
  isSynced: boolean;
  readonly done: Promise<void>;
  readonly settle: (error?: Error) => void;
}

/**
 * Appends lines to a file, in order.
 *
 * Lines that are added together, or while the disk is busy, go to it together, with one write and one sync. After a failure
 * nothing more is written, so that the file has no gaps.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #handle: FileHandle | undefined;
  #waiting: Batch | undefined;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #isUnsure = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Adds a line. @returns when it is written, and on the disk if it is to be */
  append(line: string, isSynced: boolean): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const batch = (this.#waiting ??= newBatch());
    batch.lines.push(line);
    batch.isSynced ||= isSynced;
    this.#writing ??= this.#writeAll();
    return batch.done;
  }

  /** Whether something that was added could not be written. */
  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * Whether the system could not force the file onto the disk. It tells so once, and takes what it has in memory for written
   * from then on: a later sync would succeed, and a loss of power leave a hole before what that has confirmed.
   */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  /** Lets nothing more in, as after a failed write. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  /** Waits for what was added, written or failed, and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #writeAll(): Promise<void> {
    // What is added in the same breath goes together.
    await Promise.resolve();
    for (let batch = this.#next(); batch; batch = this.#next()) {
      try {
        if (this.#failure) throw this.#failure;
        await this.#write(batch);
        batch.settle();
      } catch (error) {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
        batch.settle(this.#failure);
      }
    }
    this.#writing = undefined;
  }

  #next(): Batch | undefined {
    const batch = this.#waiting;
    this.#waiting = undefined;
    return batch;
  }

  async #write({ lines, isSynced }: Batch): Promise<void> {
    const isFirst = this.#handle === undefined;
    // Opened before it is asked: who takes the place of a writer that is only slow puts another file in the place of this one.
    this.#handle ??= await this.#open();
    await (isFirst ? this.#options.lock.verify() : this.#options.lock.check());
    for (const piece of inPieces(lines)) await this.#handle.appendFile(piece);
    await bothOf(this.#options.lock.check(), isSynced ? this.#sync(this.#handle) : Promise.resolve());
    if (isFirst) for (const folder of this.#options.newIn) await syncFolder(folder);
  }

  async #sync(handle: FileHandle): Promise<void> {
    try {
      await handle.datasync();
    } catch (error) {
      this.#isUnsure = true;
      throw error;
    }
  }

  async #open(): Promise<FileHandle> {
    try {
      return await open(this.#options.path, 'a', 0o600);
    } catch (error) {
      // That it was taken away says more than that it is not there.
      await this.#options.lock.check();
      throw error;
    }
  }
}

/** Waits for both, also where one of them fails: the file must not be closed under the other. */
const bothOf = async (...work: readonly Promise<void>[]): Promise<void> => {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
};

const newBatch = (): Batch => {
  let settle: Batch['settle'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  return { lines: [], isSynced: false, done, settle };
};
