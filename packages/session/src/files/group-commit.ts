import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile, syncFolder, type FileLock } from '@h/files';
import { inPieces } from './lines.js';

export interface GroupCommitOptions {
  readonly path: string;
  /** Checked before each write, and again before it is confirmed. */
  readonly lock: Pick<FileLock, 'check'>;
  /** Folders that are forced onto the disk after the first write, because their entries are new. */
  readonly newIn: readonly string[];
  readonly journals: OpenJournals;
}

/** Descriptors that the sessions of a store keep open: 10,000 sessions at a time would exceed the limit of most systems. */
const maxOpenJournals = 256;

/** The journals that are open, least recently opened first. Closes one that is idle when there are too many. */
export class OpenJournals {
  readonly #open = new Set<GroupCommit>();

  async add(journal: GroupCommit): Promise<void> {
    this.#open.add(journal);
    if (this.#open.size <= maxOpenJournals) return;
    for (const other of this.#open) {
      if (other === journal || other.isWriting) continue;
      await other.closeIdle().catch((error: Error) => other.fail(error));
      return;
    }
  }

  delete(journal: GroupCommit): void {
    this.#open.delete(journal);
  }
}

/** Lines that are written together. */
interface Batch {
  readonly lines: string[];
  isSynced: boolean;
  readonly done: Promise<void>;
  readonly settle: (error?: Error) => void;
}

/**
 * Appends lines to a file, in order.
 *
 * Lines that are added in the same tick, or while the disk is busy, share one write and one sync. After a failure nothing more
 * is written, so that the file has no gaps.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  #handle: FileHandle | undefined;
  #waiting: Batch | undefined;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #isUnsure = false;
  #isBegun = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Adds a line. @returns resolves when the line is written, and synced if `isSynced` */
  append(line: string, isSynced: boolean): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    const batch = (this.#waiting ??= newBatch());
    batch.lines.push(line);
    batch.isSynced ||= isSynced;
    this.#writing ??= this.#writeAll();
    return batch.done;
  }

  /** The error of the first line that could not be written. All further lines are rejected with it. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Whether the system failed to force the file onto the disk. It reports that once and then considers the pages in memory
   * written: a later sync would succeed, and a power failure would leave a hole before what that sync has confirmed.
   */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  /** Rejects all further lines, as after a failed write. */
  fail(error: Error): void {
    this.#failure ??= error;
  }

  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** Waits for all lines that were added and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.closeIdle();
  }

  /** Closes the file until the next line. Call it while nothing is written. */
  async closeIdle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#options.journals.delete(this);
    await handle?.close();
  }

  async #writeAll(): Promise<void> {
    // Lines of the same tick are written together.
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
    const { lock, newIn, journals } = this.#options;
    const isFirst = !this.#isBegun;
    const isOpen = this.#handle !== undefined;
    const handle = (this.#handle ??= await this.#open());
    if (!isOpen) await journals.add(this);
    // A file that was opened late may be that of a later holder. One that takes over from here on continues in a copy.
    await lock.check();
    for (const piece of inPieces(lines)) await handle.appendFile(piece);
    await bothOf(lock.check(), isSynced ? this.#sync(handle) : Promise.resolve());
    if (isFirst) for (const folder of newIn) await syncFolder(folder);
    this.#isBegun = true;
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
    const { path, lock } = this.#options;
    try {
      return await openRegularFile(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
    } catch (error) {
      // A takeover explains more than a missing file.
      await lock.check();
      throw error;
    }
  }
}

/** Waits for both even if one fails: the file must not be closed while the other uses it. */
const bothOf = async (...work: readonly Promise<void>[]): Promise<void> => {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
};

const newBatch = (): Batch => {
  let settle: Batch['settle'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    settle = (error) => (error ? reject(error) : resolve());
  });
  // Every caller has the promise; one that does not wait learns of the failure from the next that it waits for.
  done.catch(() => undefined);
  return { lines: [], isSynced: false, done, settle };
};
