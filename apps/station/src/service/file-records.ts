import { constants } from 'node:fs';
import { copyFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { acquireLock, ensureFolder, openRegularFile, readRegularFile, type FileLock } from '@h/files';
import {
  compareRecords,
  RecordsError,
  type RecordChange,
  type RecordKind,
  type RecordQuery,
  type Records,
  type StoredRecord,
} from './records.js';

/** Bytes of obsolete lines that the file may contain in addition to the size of its current lines. */
const spareBytes = 4_000_000;

interface Kept {
  readonly record: StoredRecord;
  readonly bytes: number;
}

interface Waiting {
  readonly line: string;
  /** Takes the change back. */
  readonly undo: () => void;
  readonly change: RecordChange;
  readonly settle: (error?: Error) => void;
}

/**
 * Opens records in a folder that one process uses at a time. They are held in memory, and each change is appended to
 * one file, which is rewritten when most of its lines are obsolete. Changes that arrive during a write share the next
 * one and its sync.
 *
 * Lines that cannot be read are reported, and the file is copied before it is rewritten without them.
 *
 * @throws LockHeldError if another process has the folder open
 */
export const openFileRecords = async (
  directory: string,
  onProblem: (error: RecordsError) => void = () => undefined,
): Promise<Records> => {
  await ensureFolder(directory);
  const lock = await acquireLock(join(directory, 'lock'), { waitMs: 5_000 });
  const records = new FileRecords(join(directory, 'records.jsonl'), lock);
  try {
    await records.load(onProblem);
    return records;
  } catch (error) {
    await records.close().catch(() => undefined);
    throw error;
  }
};

class FileRecords implements Records {
  readonly #path: string;
  readonly #lock: FileLock;
  readonly #kinds = new Map<string, Map<string, Kept>>();
  readonly #callbacks = new Set<(change: RecordChange) => void>();
  #currentBytes = 0;
  #size = 0;
  #handle: FileHandle | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #closed: Error | undefined;

  constructor(path: string, lock: FileLock) {
    this.#path = path;
    this.#lock = lock;
  }

  async load(onProblem: (error: RecordsError) => void): Promise<void> {
    const lines = (await readRegularFile(this.#path))?.text.split('\n') ?? [];
    // The last line is empty, or torn because its process was killed before it confirmed the change.
    lines.pop();
    let damaged = 0;
    for (const line of lines) {
      const entry = entryIn(line);
      if (entry) this.#apply(entry, Buffer.byteLength(line) + 1);
      else damaged += 1;
    }
    if (damaged > 0) onProblem(await this.#keepDamaged(damaged));
    await this.#rewrite();
  }

  /** Copies the file, because the next rewrite removes its damaged lines. */
  async #keepDamaged(lines: number): Promise<RecordsError> {
    const backup = `${this.#path}.damaged-${Date.now()}`;
    await copyFile(this.#path, backup, constants.COPYFILE_EXCL);
    return new RecordsError(
      'records-damaged',
      `${lines} lines of ${JSON.stringify(this.#path)} cannot be read, so their changes are missing. The file as it was is ${JSON.stringify(backup)}.`,
    );
  }

  get<Kind extends RecordKind>(kind: Kind, id: string): Promise<StoredRecord<Kind> | undefined> {
    return Promise.resolve(this.#find(kind, id));
  }

  async insert<Kind extends RecordKind>(record: StoredRecord<Kind>): Promise<boolean> {
    if (this.#find(record.kind, record.id)) return false;
    await this.#write(record);
    return true;
  }

  async update<Kind extends RecordKind>(
    kind: Kind,
    id: string,
    change: (current: StoredRecord<Kind> | undefined) => StoredRecord<Kind> | undefined,
  ): Promise<StoredRecord<Kind> | undefined> {
    const current = this.#find(kind, id);
    const next = change(current);
    if (!next) return current;
    await this.#write(next);
    return next;
  }

  async delete(kind: RecordKind, id: string): Promise<void> {
    const current = this.#find(kind, id);
    if (current) await this.#write({ ...current, body: null });
  }

  list<Kind extends RecordKind>(kind: Kind, query: RecordQuery = {}): Promise<readonly StoredRecord<Kind>[]> {
    const { tenant, from = -Infinity, to = Infinity, after, limit = 1000 } = query;
    const found: StoredRecord[] = [];
    for (const { record } of this.#kinds.get(kind)?.values() ?? []) {
      if (tenant !== undefined && record.tenant !== tenant) continue;
      if (record.at < from || record.at > to) continue;
      if (after && compareRecords(after, record) >= 0) continue;
      found.push(record);
    }
    return Promise.resolve(found.toSorted(compareRecords).slice(0, limit) as StoredRecord<Kind>[]);
  }

  async prune(kind: RecordKind, { before, keep }: { readonly before: number; readonly keep: number }): Promise<number> {
    const all = await this.list(kind, { limit: Infinity });
    const gone = all.filter(({ at }, index) => at < before || index >= keep);
    await Promise.all(gone.map(({ id }) => this.delete(kind, id)));
    return gone.length;
  }

  onChange(callback: (change: RecordChange) => void): () => void {
    this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  async close(): Promise<void> {
    // First, because a change that is made after the last write would open the file again and leave it open.
    this.#closed ??= new RecordsError('records-closed', 'The records are closed. Open the station again.');
    await this.#writing;
    try {
      await this.#handle?.close();
    } finally {
      this.#handle = undefined;
      await this.#lock.release();
    }
  }

  #find<Kind extends RecordKind>(kind: Kind, id: string): StoredRecord<Kind> | undefined {
    return this.#kinds.get(kind)?.get(id)?.record as StoredRecord<Kind> | undefined;
  }

  /** Puts an entry into the memory. @returns a function that takes it back */
  #apply(entry: Entry, bytes: number): () => void {
    const { kind, id, body } = entry;
    let records = this.#kinds.get(kind);
    if (!records) this.#kinds.set(kind, (records = new Map<string, Kept>()));
    const set = (kept: Kept | undefined): void => {
      this.#currentBytes += (kept?.bytes ?? 0) - (records.get(id)?.bytes ?? 0);
      if (kept) records.set(id, kept);
      else records.delete(id);
    };
    const before = records.get(id);
    set(body === null ? undefined : { record: entry as StoredRecord, bytes });
    return () => set(before);
  }

  #write(entry: Entry): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closed);
    const line = `${JSON.stringify(entry)}\n`;
    const undo = this.#apply(entry, Buffer.byteLength(line));
    const { kind, id, tenant, body } = entry;
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error ? reject(error) : resolve());
      this.#waiting.push({ line, undo, change: { kind, id, tenant, isDeleted: body === null }, settle });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    // Changes that are made synchronously are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        await this.#commit(batch.map(({ line }) => line).join(''));
      } catch (error) {
        await this.#reject(batch, error);
        continue;
      }
      for (const { settle, change } of batch) {
        settle();
        for (const callback of this.#callbacks) callback(change);
      }
    }
    this.#writing = undefined;
  }

  /** Takes changes back that could not be written, and those that were made on top of them. */
  async #reject(batch: readonly Waiting[], cause: unknown): Promise<void> {
    // What the file contains is unknown, so the next change rewrites it.
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close().catch(() => undefined);
    const rejected = [...batch, ...this.#waiting.splice(0)];
    for (const { undo } of rejected.toReversed()) undo();
    const failure = new RecordsError(
      'records-failed',
      `The records in ${JSON.stringify(this.#path)} cannot be written: ${String(cause)}. Free the disk. If another process has taken over the folder, restart the station.`,
      { cause },
    );
    for (const { settle } of rejected) settle(failure);
  }

  async #commit(text: string): Promise<void> {
    await this.#lock.check();
    const bytes = Buffer.byteLength(text);
    if (!this.#handle || this.#size + bytes > 2 * this.#currentBytes + spareBytes) return this.#rewrite();
    await this.#handle.appendFile(text);
    await this.#handle.datasync();
    this.#size += bytes;
  }

  /** Writes all current records, those of changes that wait included. */
  async #rewrite(): Promise<void> {
    await this.#lock.replaceFile(this.#path, this.#lines());
    await this.#handle?.close();
    this.#handle = undefined;
    this.#handle = await openRegularFile(this.#path, constants.O_WRONLY | constants.O_APPEND);
    this.#size = (await this.#handle.stat()).size;
  }

  *#lines(): Generator<string> {
    for (const records of this.#kinds.values()) {
      for (const { record } of records.values()) yield `${JSON.stringify(record)}\n`;
    }
  }
}

/** A line of the file: a record, or with the body `null` its deletion. */
interface Entry {
  readonly kind: RecordKind;
  readonly id: string;
  readonly tenant: string;
  readonly at: number;
  readonly body: unknown;
}

const entryIn = (line: string): Entry | undefined => {
  if (line === '') return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
};

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  typeof value.kind === 'string' &&
  'id' in value &&
  typeof value.id === 'string' &&
  'body' in value;
