import { closeSync, fstatSync, openSync, readdirSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock, ensureFolder, type FileLock } from '@h/files';
import { parseJson } from '../wire/json-value.js';

/** One record of the journal. */
export type JournalLine = Readonly<Record<string, unknown>> & { readonly type: string };

/** Days whose files are preserved. The current file contains everything that still counts. */
const keptFiles = 7;
const fileName = /^usage-\d{4}-\d{2}-\d{2}\.jsonl$/;

/**
 * An append-only journal with a file for each day, which begins with a snapshot. The last record is in the last file.
 *
 * A record is passed to the operating system before {@link append} returns, so it survives the death of the process at
 * any moment; a power failure may lose the last seconds. The lock of the folder ensures a single writer.
 */
export class UsageJournal {
  readonly #folder: string;
  readonly #lock: FileLock;
  #day = '';
  #file: number | undefined;
  /** Whether the last line of the file may be torn: by a process that was killed, or by a full disk. */
  #isTorn = false;

  private constructor(folder: string, lock: FileLock) {
    this.#folder = folder;
    this.#lock = lock;
  }

  /** @throws LockHeldError if another process has the folder open */
  static async open(folder: string): Promise<UsageJournal> {
    await ensureFolder(folder);
    return new UsageJournal(folder, await acquireLock(join(folder, 'lock')));
  }

  /** Returns the records of the latest file whose snapshot is complete, and of those after it, oldest first. */
  read(): readonly JournalLine[] {
    const files = this.#files();
    const read: JournalLine[][] = [];
    for (const file of files.toReversed()) {
      const lines = linesOf(readFileSync(join(this.#folder, file), 'utf8'));
      read.unshift(lines);
      if (lines[0]?.type === 'snapshot') break;
    }
    return read.flat();
  }

  /**
   * Appends a record. The first record of a day begins a file with a snapshot.
   *
   * @param snapshot - the state before this record
   */
  append(day: string, line: JournalLine, snapshot: () => JournalLine): void {
    if (this.#file === undefined || this.#day !== day) this.#begin(day, snapshot);
    this.#write(JSON.stringify(line));
  }

  async close(): Promise<void> {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    await this.#lock.release();
  }

  #begin(day: string, snapshot: () => JournalLine): void {
    const name = `usage-${day}.jsonl`;
    const file = openSync(join(this.#folder, name), 'a', 0o600);
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = file;
    this.#isTorn = fstatSync(file).size > 0;
    // Files of later days, from before the clock was set back, would be read instead of this one.
    const ahead = this.#files().filter((other) => other > name);
    if (!this.#isTorn || ahead.length > 0) this.#write(JSON.stringify(snapshot()));
    this.#day = day;
    this.#prune(ahead);
  }

  /** Removes the files of earlier days, and those ahead. One that cannot be removed is tried again on the next day. */
  #prune(ahead: readonly string[]): void {
    const own = this.#files().filter((file) => !ahead.includes(file));
    for (const old of [...ahead, ...own.slice(0, -keptFiles)]) {
      try {
        unlinkSync(join(this.#folder, old));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        process.emitWarning(`The usage of another day cannot be removed: ${reason}`, { code: 'usage-not-removed' });
      }
    }
  }

  /** Writes a line with one call, so that it is torn only if the disk is full. The next then starts on a new line. */
  #write(text: string): void {
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${text}\n`);
    this.#isTorn = true;
    let written = 0;
    while (written < bytes.length) written += writeSync(this.#file as number, bytes, written);
    this.#isTorn = false;
  }

  #files(): readonly string[] {
    return readdirSync(this.#folder)
      .filter((file) => fileName.test(file))
      .toSorted();
  }
}

const linesOf = (text: string): JournalLine[] =>
  text.split('\n').flatMap((line) => {
    const value = line === '' ? undefined : parseJson(line);
    return isLine(value) ? [value] : [];
  });

const isLine = (value: unknown): value is JournalLine =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
