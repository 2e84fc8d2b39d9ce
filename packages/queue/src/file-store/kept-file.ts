import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile, type FileLock } from '@h/files';
import { encodeEntry, type Entry } from './entry.js';
import type { KeptState } from './kept-state.js';

interface Waiting {
  readonly entry: Entry;
  readonly line: string;
  readonly bytes: number;
  readonly settle: (error?: Error) => void;
}

/** Bytes of obsolete lines that a file may contain in addition to the size of its current lines. */
const spareBytes = 1_000_000;

/**
 * The file of one holder. Lines are appended, and the file is rewritten when most of its lines are obsolete.
 *
 * Lines that arrive during a write are written together afterwards, with one sync. After a failed write the file is
 * truncated to its confirmed lines, and rewritten with the next ones.
 */
export class KeptFile {
  readonly #path: string;
  readonly #lock: Pick<FileLock, 'check' | 'replaceFile'>;
  #state: KeptState;
  #handle: FileHandle | undefined;
  #size = 0;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;

  constructor(path: string, lock: Pick<FileLock, 'check' | 'replaceFile'>, state: KeptState) {
    this.#path = path;
    this.#lock = lock;
    this.#state = state;
  }

  /** Writes the file for the first time. */
  async create(): Promise<void> {
    await this.#rewrite(this.#state);
  }

  /** Appends a line. Resolves when it is on the disk. */
  async add(entry: Entry): Promise<void> {
    const line = encodeEntry(entry);
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error ? reject(error) : resolve());
      this.#waiting.push({ entry, line, bytes: Buffer.byteLength(line), settle });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Waits for pending writes and closes the file. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#handle?.close();
    this.#handle = undefined;
  }

  async #writeAll(): Promise<void> {
    // Lines that are added synchronously are written together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      const error = await this.#commit(batch).then(noError, asError);
      for (const { settle } of batch) settle(error);
    }
    this.#writing = undefined;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    await this.#lock.check();
    const bytes = batch.reduce((sum, waiting) => sum + waiting.bytes, 0);
    const isFull = this.#size + bytes > 2 * (this.#state.bytes + bytes) + spareBytes;
    if (this.#handle && !isFull) {
      await this.#append(this.#handle, batch.map(({ line }) => line).join(''), bytes);
      added(this.#state, batch);
    } else {
      const next = added(this.#state.copy(), batch);
      await this.#rewrite(next);
      this.#state = next;
    }
  }

  async #append(handle: FileHandle, text: string, bytes: number): Promise<void> {
    try {
      await handle.appendFile(text);
      await handle.datasync();
      // Another process may have locked the folder and read the file before this write.
      await this.#lock.check();
      this.#size += bytes;
    } catch (error) {
      this.#handle = undefined;
      await handle.truncate(this.#size).catch(() => undefined);
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  async #rewrite(state: KeptState): Promise<void> {
    await this.#lock.replaceFile(this.#path, state.lines());
    await this.#handle?.close().catch(() => undefined);
    // After a failure, the next line rewrites the file.
    this.#handle = undefined;
    await this.#lock.check();
    this.#handle = await openRegularFile(this.#path, constants.O_WRONLY | constants.O_APPEND);
    this.#size = (await this.#handle.stat()).size;
  }
}

const added = (state: KeptState, batch: readonly Waiting[]): KeptState => {
  for (const { entry, bytes } of batch) state.add(entry, bytes);
  return state;
};

const noError = (): undefined => undefined;

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
