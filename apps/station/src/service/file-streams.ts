import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { readdir, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureFolder, errorCode, ifExists, openRegularFile, readRegularFile, replaceFile } from '@h/files';
import type { EventWriter, LiveEvents, ReadOptions, StreamItem, StreamStatus } from '@h/postgres';
import type { JSONValue } from '@h/turn';

/** How long events are collected before they are written together, in milliseconds. */
const batchMs = 25;
/** Bytes that wait to be written; beyond it `append()` waits, and rejects while nothing can be written. */
const maxPendingBytes = 4_000_000;
/** Time between attempts while nothing can be written, in milliseconds. */
const retryMs = 1_000;
const readBytes = 64 * 1024;

/**
 * Streams of events in files, with the interface of `liveEvents()` of `@h/postgres`. One process writes and reads them.
 *
 * Events are passed to the operating system before a reader receives them, so a reader that reconnects after `kill -9`
 * misses nothing and receives nothing twice. A power failure may lose the latest events; the journal has them.
 */
export const fileStreams = (directory: string): LiveEvents => {
  const bells = new Bells();
  const writers = new Set<FileWriter>();
  return {
    write: (stream) => new FileWriter(fileOf(directory, stream), bells, writers),
    read: (stream, options) => readStream(fileOf(directory, stream), bells, options),
    prune: (olderThanMs) => prune(directory, olderThanMs, new Set(Array.from(writers, ({ path }) => path))),
  };
};

const fileOf = (directory: string, stream: string): string => {
  const name = createHash('sha256').update(stream).digest('hex').slice(0, 40);
  return join(directory, name.slice(0, 2), `${name}.jsonl`);
};

/** A line: an event, or the end of the stream. */
interface Line {
  readonly seq: number;
  readonly event?: JSONValue;
  readonly isDelta?: true;
  readonly end?: StreamStatus;
}

class FileWriter implements EventWriter {
  readonly path: string;
  readonly #bells: Bells;
  /** The writers whose stream has not ended. */
  readonly #writers: Set<FileWriter>;
  #pending: { readonly seq: number; readonly text: string }[] = [];
  #pendingBytes = 0;
  #end: StreamStatus | undefined;
  #opening: Promise<FileHandle> | undefined;
  #seq = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #last: Promise<void> = Promise.resolve();
  #dropsDeltas = false;

  constructor(path: string, bells: Bells, writers: Set<FileWriter>) {
    this.path = path;
    this.#bells = bells;
    this.#writers = writers;
  }

  async append(event: JSONValue, { isDelta = false }: { readonly isDelta?: boolean } = {}): Promise<void> {
    await this.#open();
    if (this.#pendingBytes > maxPendingBytes) await this.flush();
    const seq = (this.#seq += 1);
    const text = lineOf({ seq, event, ...(isDelta && { isDelta }) });
    this.#pending.push({ seq, text });
    this.#pendingBytes += text.length;
    this.#flushIn(batchMs);
  }

  async complete(
    events: readonly JSONValue[],
    isSame: (stored: JSONValue, given: JSONValue) => boolean,
  ): Promise<void> {
    await this.#open();
    await this.flush();
    let known = 0;
    for (const { event, isDelta } of linesOf((await readRegularFile(this.path))?.text ?? '')) {
      const next = events[known];
      if (event !== undefined && !isDelta && next !== undefined && isSame(event, next)) known += 1;
    }
    for (const event of events.slice(known)) await this.append(event);
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const written = this.#last.then(() => this.#write());
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** The deltas are removed when the stream ends, so that readers of the file are not disturbed. */
  dropDeltas(): Promise<void> {
    this.#dropsDeltas = true;
    return Promise.resolve();
  }

  end(status: StreamStatus): Promise<void> {
    this.#end = status;
    return this.flush();
  }

  async release(): Promise<void> {
    await this.flush().catch(() => undefined);
    clearTimeout(this.#timer);
    const opening = this.#opening;
    this.#opening = undefined;
    this.#writers.delete(this);
    await opening?.then((handle) => handle.close());
  }

  #flushIn(ms: number): void {
    this.#timer ??= setTimeout(() => void this.flush().catch(() => undefined), ms);
  }

  /** Writes what is pending, and the end. What cannot be written stays pending and is written later. */
  async #write(): Promise<void> {
    if (this.#pending.length === 0 && this.#end === undefined) return;
    try {
      const handle = await this.#open();
      const end = this.#end;
      const lines = this.#pending.splice(0);
      this.#pendingBytes = 0;
      try {
        const last = end === undefined ? '' : lineOf({ seq: this.#seq, end });
        await handle.appendFile(`${lines.map(({ text }) => text).join('')}${last}`);
      } catch (error) {
        this.#pending.unshift(...lines);
        this.#pendingBytes = sizeOf(this.#pending);
        // The file is opened again, because its last line may be torn.
        this.#opening = undefined;
        await handle.close().catch(() => undefined);
        throw error;
      }
      this.#bells.ring(this.path);
      if (end === undefined) return;
      this.#end = undefined;
      this.#opening = undefined;
      this.#writers.delete(this);
      await handle.close();
    } catch (error) {
      this.#flushIn(retryMs);
      this.#timer?.unref();
      throw error;
    }
    if (this.#dropsDeltas) await dropDeltas(this.path);
  }

  #open(): Promise<FileHandle> {
    if (this.#opening) return this.#opening;
    this.#writers.add(this);
    const opening = this.#create();
    opening.catch(() => (this.#opening = undefined));
    return (this.#opening = opening);
  }

  async #create(): Promise<FileHandle> {
    await ensureFolder(dirname(this.path));
    const text = (await readRegularFile(this.path))?.text ?? '';
    const last = linesOf(text).at(-1)?.seq ?? 0;
    const handle = await openRegularFile(this.path, constants.O_CREAT | constants.O_WRONLY | constants.O_APPEND);
    try {
      // The last line of a write that failed or was killed may be torn; no reader has received it.
      if (!text.endsWith('\n')) await handle.truncate(Buffer.byteLength(text.slice(0, text.lastIndexOf('\n') + 1)));
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#seq = Math.max(this.#seq, last);
    // A write that failed may have been done.
    this.#pending = this.#pending.filter(({ seq }) => seq > last);
    this.#pendingBytes = sizeOf(this.#pending);
    return handle;
  }
}

const lineOf = (line: Line): string => `${JSON.stringify(line)}\n`;

const sizeOf = (lines: readonly { readonly text: string }[]): number =>
  lines.reduce((bytes, { text }) => bytes + text.length, 0);

const dropDeltas = async (path: string): Promise<void> => {
  const text = (await readRegularFile(path))?.text ?? '';
  const kept = text.split('\n').filter((line) => line !== '' && lineIn(line)?.isDelta !== true);
  await replaceFile(path, `${kept.join('\n')}\n`, { sync: false });
};

async function* readStream(
  path: string,
  bells: Bells,
  { after = 0, signal }: ReadOptions = {},
): AsyncGenerator<StreamItem> {
  const bell = bells.listen(path, signal);
  let handle: FileHandle | undefined;
  let offset = 0;
  let rest = Buffer.alloc(0);
  let seq = after;
  let isCaughtUp = false;
  const buffer = Buffer.alloc(readBytes);
  try {
    for (;;) {
      if (signal?.aborted === true) return;
      const rung = bell.next();
      handle ??= await ifExists(openRegularFile(path, constants.O_RDONLY));
      for (;;) {
        const { bytesRead } = handle ? await handle.read(buffer, 0, readBytes, offset) : { bytesRead: 0 };
        if (bytesRead === 0) break;
        offset += bytesRead;
        const bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
        const end = bytes.lastIndexOf(10) + 1;
        rest = Buffer.from(bytes.subarray(end));
        for (const line of linesOf(bytes.toString('utf8', 0, end))) {
          if (line.end !== undefined) {
            yield { type: 'ended', status: line.end };
            return;
          }
          if (line.seq <= seq || line.event === undefined) continue;
          seq = line.seq;
          isCaughtUp = false;
          yield { type: 'event', seq, event: line.event };
        }
      }
      if (!isCaughtUp) yield { type: 'caught-up', seq };
      isCaughtUp = true;
      await rung;
    }
  } finally {
    bell.close();
    await handle?.close();
  }
}

/** Wakes the readers of a file. */
class Bells {
  readonly #waiting = new Map<string, Set<() => void>>();

  ring(path: string): void {
    for (const wake of this.#waiting.get(path) ?? []) wake();
  }

  listen(path: string, signal?: AbortSignal): { readonly next: () => Promise<void>; readonly close: () => void } {
    let wake = (): void => undefined;
    const onRing = (): void => wake();
    const waiting = this.#waiting.get(path) ?? new Set();
    this.#waiting.set(path, waiting.add(onRing));
    signal?.addEventListener('abort', onRing);
    return {
      next: () =>
        new Promise((resolve) => {
          wake = resolve;
        }),
      close: () => {
        signal?.removeEventListener('abort', onRing);
        waiting.delete(onRing);
        if (waiting.size === 0 && this.#waiting.get(path) === waiting) this.#waiting.delete(path);
      },
    };
  }
}

const linesOf = (text: string): readonly Line[] => text.split('\n').flatMap((line) => lineIn(line) ?? []);

const lineIn = (text: string): Line | undefined => {
  if (text === '') return undefined;
  try {
    return JSON.parse(text) as Line;
  } catch {
    return undefined;
  }
};

/**
 * Removes old files without a writer: their turn has ended, or could not be resumed since. A turn that waits, perhaps
 * for an approval, has a writer.
 */
const prune = async (directory: string, olderThanMs: number, written: ReadonlySet<string>): Promise<number> => {
  const before = Date.now() - olderThanMs;
  let count = 0;
  for (const folder of (await ifExists(readdir(directory))) ?? []) {
    for (const file of await readdir(join(directory, folder))) {
      const path = join(directory, folder, file);
      try {
        if (written.has(path) || (await stat(path)).mtimeMs >= before) continue;
        await rm(path, { force: true });
        count += 1;
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
      }
    }
  }
  return count;
};
