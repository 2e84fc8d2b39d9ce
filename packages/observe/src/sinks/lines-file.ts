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

/** Settings of {@link linesFile}. */
export interface LinesFileSettings {
  readonly path: string;
  /** Maximum size of a file in bytes, at which the file is rotated. */
  readonly maxBytes: number;
  /** Maximum number of rotated files. */
  readonly maxFiles: number;
  readonly flushMs: number;
  readonly onError: (error: unknown) => void;
}

/** A buffered, rotating file of lines. */
export interface LinesFile {
  write(line: string): void;
  /** Reserves space for a line of at most `most` bytes. The caller writes the line in place and then calls `added`. */
  room(most: number): JsonBytes;
  /** Commits the line in the reserved space and adds its line feed. */
  added(): void;
  /** Writes the buffer to the file. */
  readonly flush: () => void;
  readonly close: () => void;
  readonly isClosed: boolean;
  /** Number of lines that were dropped because a write failed or the file was closed. */
  readonly dropped: number;
}

/** Buffer size in bytes at which the buffer is written immediately. */
const maxHeld = 64 * 1024;

/** Maximum UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerCharacter = 3;

/**
 * Creates a file of lines. The buffer delays writes by `flushMs`, so that a step needs one system call.
 *
 * Writes are synchronous: written lines survive a crash of the process, a slow disk does not grow the buffer, and the
 * process flushes the buffer at exit. If a crash or a full disk has torn the last line, the next starts on a new one.
 * No method throws: a failed write drops its lines and counts them, and the first of consecutive errors is reported.
 */
export const linesFile = ({ path, maxBytes, maxFiles, flushMs, onError }: LinesFileSettings): LinesFile => {
  // Lines are encoded immediately: buffered strings would add work for the garbage collector.
  let held: JsonBytes | undefined;
  let lines = 0;
  let dropped = 0;
  let file: OpenFile | undefined;
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
        const { size } = file;
        release();
        putAside(path, maxFiles, size);
      }
      // Another program may have moved or deleted the file, as logrotate does.
      if (file !== undefined && statSync(path, { throwIfNoEntry: false })?.ino !== file.inode) release();
      file ??= openForAppending(path);
      writeAll(file.descriptor, bytes);
      file.size += bytes.length;
      isFailing = false;
    } catch (error) {
      dropped += count;
      // A full disk may have torn the last line: the file is opened again, which ends that line.
      release();
      if (!isFailing) report(error);
      isFailing = true;
    }
  };

  const release = (): void => {
    if (file === undefined) return;
    const { descriptor } = file;
    file = undefined;
    try {
      closeSync(descriptor);
    } catch {
      // A network file system reports here that it could not store what was written. Nothing can be written again.
    }
  };

  const report = (error: unknown): void => {
    try {
      onError(error);
    } catch {
      // An error handler that throws must not cause further errors.
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
      release();
    },
    get dropped() {
      return dropped;
    },
  };
};

interface OpenFile {
  readonly descriptor: number;
  readonly inode: number;
  size: number;
}

/**
 * Creates a folder and its parents, unless they exist. With `recursive`, `mkdirSync` never returns where nothing can be
 * created, such as `/proc/x` or a working directory that was deleted.
 */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return;
  const parent = dirname(path);
  if (parent !== path) makeFolder(parent);
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process may have created it.
    if (!existsSync(path)) throw error;
  }
};

const openForAppending = (path: string): OpenFile => {
  makeFolder(dirname(path));
  const descriptor = openSync(path, 'a+', 0o600);
  try {
    const { ino: inode, size } = fstatSync(descriptor);
    if (size === 0 || lastByte(descriptor, size) === newline) return { descriptor, inode, size };
    writeSync(descriptor, '\n');
    return { descriptor, inode, size: size + 1 };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
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

/**
 * Renames `runs.jsonl` to `runs.jsonl.1`, that to `runs.jsonl.2` …, unless another process has rotated the file.
 *
 * The shift ends at the first free place, so that a rotation that `kill -9` interrupted costs no file: the next one
 * fills the place that it left.
 */
const putAside = (path: string, maxFiles: number, size: number): void => {
  if (!existsSync(path) || statSync(path).size < size) return;
  if (maxFiles === 0) return rmSync(path, { force: true });
  let free = 1;
  while (free < maxFiles && existsSync(`${path}.${free}`)) free += 1;
  // Replaces the oldest file if no place is free.
  for (let place = free - 1; place >= 1; place -= 1) renameSync(`${path}.${place}`, `${path}.${place + 1}`);
  renameSync(path, `${path}.1`);
};
