import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { errorCode, openRegularFile, syncFolder, type FileLock } from '@h/files';
import { createSlots } from '../slots.js';
import { WriteQueue } from '../write-queue.js';
import { inPieces } from './lines.js';

export interface GroupCommitOptions {
  readonly path: string;
  /** Called before each write, and again before it is confirmed. */
  readonly lock: Pick<FileLock, 'check'>;
  /** Folders that are flushed to the disk after the first write, because their entries are new. */
  readonly newIn: readonly string[];
  /** Runs before the first write. */
  readonly onFirst?: (() => Promise<void>) | undefined;
  readonly files: OpenFiles;
}

/** Maximum number of journals that a store keeps open: 10,000 open files would exceed the limit of most systems. */
const maxOpenJournals = 256;
/**
 * Number of sessions that are opened at a time, and that are written or closed. Each has up to two further files open.
 * Few are opened, so that records of open sessions do not wait for thousands of new ones.
 */
const maxOpening = 16;
const maxWriting = 64;

/**
 * The files that a store has open. Further sessions wait until earlier ones are opened, written or closed, so that any
 * number of sessions needs few open files.
 */
export class OpenFiles {
  readonly #toOpen = createSlots(maxOpening);
  readonly #toWrite = createSlots(maxWriting);
  /** Least recently opened first. */
  readonly #journals = new Set<GroupCommit>();

  /** Opens a session, when few others are being opened. */
  openSession<Result>(open: () => Promise<Result>): Promise<Result> {
    return this.#toOpen(() => this.makeRoom(open));
  }

  /** Writes or closes a session, when few others are being written or closed. */
  write<Result>(write: () => Promise<Result>): Promise<Result> {
    return this.#toWrite(write);
  }

  /** Repeats an operation after closing all idle journals if no further file can be opened. */
  async makeRoom<Result>(open: () => Promise<Result>): Promise<Result> {
    try {
      return await open();
    } catch (error) {
      if (!tooManyFiles.has(errorCode(error)) || !(await this.#closeIdle(Infinity))) throw error;
      return open();
    }
  }

  /** Adds a journal, which is being written. Closes an idle one when the limit is exceeded. */
  async add(journal: GroupCommit): Promise<void> {
    this.#journals.add(journal);
    if (this.#journals.size > maxOpenJournals) await this.#closeIdle(1);
  }

  delete(journal: GroupCommit): void {
    this.#journals.delete(journal);
  }

  /** Returns whether any journal was closed. */
  async #closeIdle(most: number): Promise<boolean> {
    const idle = [...this.#journals].filter(({ isInWrite }) => !isInWrite).slice(0, most);
    await Promise.all(idle.map((each) => each.closeIdle().catch((error: unknown) => each.fail(error))));
    return idle.length > 0;
  }
}

const tooManyFiles: ReadonlySet<string | undefined> = new Set(['EMFILE', 'ENFILE']);

/** A line, and whether it is confirmed only after a sync. */
interface Line {
  readonly text: string;
  readonly isSynced: boolean;
}

/**
 * Appends lines to a file, in order.
 *
 * Lines that are added in the same tick, or during a write, share one write and one sync. After a failure nothing more
 * is written, so that the file has no gaps.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions;
  readonly #queue = new WriteQueue<Line>({
    write: (batch) => this.#options.files.write(() => this.#guardedWrite(batch)),
  });
  #handle: FileHandle | undefined;
  #isUnsure = false;
  #isBegun = false;
  #isInWrite = false;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  /** Adds a line. Resolves when it is written, and synced if `isSynced`. */
  append(text: string, isSynced: boolean): Promise<void> {
    return this.#queue.add({ text, isSynced });
  }

  /** The error of the first line that could not be written. All further lines are rejected with it. */
  get failure(): Error | undefined {
    return this.#queue.failure;
  }

  /**
   * Whether the system failed to flush the file to the disk. It reports that only once and then treats the pages in
   * memory as written. A later sync would succeed, and a power failure would leave a gap before the lines that it
   * confirmed.
   */
  get isUnsure(): boolean {
    return this.#isUnsure;
  }

  /** Rejects all further lines, as after a failed write. Returns the first error. */
  fail(thrown: unknown): Error {
    return this.#queue.fail(thrown);
  }

  /** Whether the file is in use. Lines that wait for their write need no open file. */
  get isInWrite(): boolean {
    return this.#isInWrite;
  }

  /** Waits for all added lines and closes the file. */
  async close(): Promise<void> {
    await this.#queue.idle();
    await this.closeIdle();
  }

  /** Closes the file until the next line. Must not be called during a write. */
  async closeIdle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#options.files.delete(this);
    await handle?.close();
  }

  async #guardedWrite(lines: readonly Line[]): Promise<void> {
    this.#isInWrite = true;
    try {
      await this.#write(lines);
    } finally {
      this.#isInWrite = false;
    }
  }

  async #write(lines: readonly Line[]): Promise<void> {
    const { lock, newIn, onFirst, files } = this.#options;
    const isFirst = !this.#isBegun;
    if (isFirst) await onFirst?.();
    const isOpen = this.#handle !== undefined;
    const handle = (this.#handle ??= await files.makeRoom(() => this.#open()));
    if (!isOpen) await files.add(this);
    // A file that was opened late may belong to a later holder. A process that takes over from here on continues in a
    // copy.
    await lock.check();
    for (const piece of inPieces(lines.map(({ text }) => text))) await handle.appendFile(piece);
    await bothOf(lock.check(), lines.some(({ isSynced }) => isSynced) ? this.#sync(handle) : Promise.resolve());
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

/** Waits for both even if one fails: the file must not be closed during the other operation. */
const bothOf = async (...work: readonly Promise<void>[]): Promise<void> => {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
};
