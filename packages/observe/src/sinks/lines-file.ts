import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { JsonBytes } from './json-bytes.js';
import { onExit } from './on-exit.js';

/** What a file of lines needs to know. */
export interface LinesFileSettings {
  readonly path: string;
  /** Size from which on a file is put aside. */
  readonly maxBytes: number;
  /** How many files that were put aside are kept. */
  readonly maxFiles: number;
  readonly flushMs: number;
  readonly onError: (error: unknown) => void;
}

/** A file to which lines are added. */
export interface LinesFile {
  write(line: string): void;
  /** Reserves space for a line of at most `maxBytes` bytes, to be written in place. Call `added` to commit it. */
  room(most: number): JsonBytes;
  /** The line is complete but for its end. */
  added(): void;
  /** Hands all that is held back to the operating system. */
  readonly flush: () => void;
  readonly close: () => void;
  readonly isClosed: boolean;
  /** How many lines could not be written. */
  readonly dropped: number;
}

/** The longest that a timer of Node can wait, in milliseconds; beyond it fires at once. */
export const maxFlushMs = 2 ** 31 - 1;

/** Held back at most, in bytes: then it is written at once. */
const maxHeld = 64 * 1024;

/** A character takes no more bytes in UTF-8. */
const maxBytesPerCharacter = 3;

/**
 * A file to which lines are added, held back for some milliseconds so that a busy step costs one system call.
 *
 * Writing is synchronous: what was handed over survives a crash of the process, nothing grows when a disk is slow, and
 * the exit of the process flushes it. After a line that a crash has torn, the next one starts on a new line.
 * Nothing throws: lines that cannot be written are counted and dropped, and the first error in a row is reported.
 */
export const linesFile = ({ path, maxBytes, maxFiles, flushMs, onError }: LinesFileSettings): LinesFile => {
  // Lines are encoded at once: strings that are held back would be moved by the garbage collector.
  let held: JsonBytes | undefined;
  let lines = 0;
  let dropped = 0;
  let file: { readonly descriptor: number; size: number } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let forget: (() => void) | undefined;
  let isFailing = false;
  let isClosed = false;

  const settle = (): void => {
    clearTimeout(timer);
    timer = undefined;
    forget?.();
    forget = undefined;
  };

  const flush = (): void => {
    settle();
    if (held === undefined || lines === 0) return;
    const [bytes, count] = [held.buffer.subarray(0, held.length), lines];
    held.length = 0;
    lines = 0;
    put(bytes, count);
  };

  const put = (bytes: Buffer, count: number): void => {
    try {
      if (file !== undefined && file.size > 0 && file.size + bytes.length > maxBytes) {
        closeSync(file.descriptor);
        const { size } = file;
        file = undefined;
        putAside(path, maxFiles, size);
      }
      file ??= openForAppending(path);
      writeAll(file.descriptor, bytes);
      file.size += bytes.length;
      isFailing = false;
    } catch (error) {
      dropped += count;
      if (!isFailing) onError(error);
      isFailing = true;
    }
  };

  const room = (most: number): JsonBytes => {
    if (held !== undefined && held.length + most + 1 > maxHeld) flush();
    held ??= new JsonBytes(maxHeld);
    return held;
  };

  const added = (): void => {
    held?.newline();
    lines += 1;
    if (timer !== undefined) return;
    timer = setTimeout(flush, flushMs).unref();
    forget = onExit(flush);
  };

  return {
    write: (line) => {
      const most = line.length * maxBytesPerCharacter;
      if (isClosed) dropped += 1;
      else if (most < maxHeld) {
        room(most).line(line);
        added();
      } else {
        flush();
        put(Buffer.from(`${line}\n`), 1);
      }
    },
    room,
    added,
    get isClosed() {
      return isClosed;
    },
    flush,
    close: () => {
      flush();
      isClosed = true;
      held = undefined;
      if (file !== undefined) closeSync(file.descriptor);
      file = undefined;
    },
    get dropped() {
      return dropped;
    },
  };
};

const openForAppending = (path: string): { readonly descriptor: number; size: number } => {
  mkdirSync(dirname(path), { recursive: true });
  const descriptor = openSync(path, 'a+', 0o600);
  const { size } = fstatSync(descriptor);
  if (size === 0 || lastByte(descriptor, size) === newline) return { descriptor, size };
  writeSync(descriptor, '\n');
  return { descriptor, size: size + 1 };
};

const newline = 10;

const lastByte = (descriptor: number, size: number): number | undefined => {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0];
};

const writeAll = (descriptor: number, bytes: Buffer): void => {
  for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written);
};

/** `runs.jsonl` becomes `runs.jsonl.1`, which becomes `runs.jsonl.2` … Another process may have done it already. */
const putAside = (path: string, maxFiles: number, size: number): void => {
  if (!existsSync(path) || statSync(path).size < size) return;
  rmSync(`${path}.${maxFiles}`, { force: true });
  for (let place = maxFiles - 1; place >= 1; place -= 1) {
    if (existsSync(`${path}.${place}`)) renameSync(`${path}.${place}`, `${path}.${place + 1}`);
  }
  if (maxFiles === 0) rmSync(path, { force: true });
  else renameSync(path, `${path}.1`);
};
