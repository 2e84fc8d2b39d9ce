import { fstatSync, readSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { isObject, objectsIn, parsedOr, type Json } from './record.js';

const chunkBytes = 256 * 1024;
/** Longest line that is parsed. Lines with images have some 10 MB; a string in V8 has at most 512 MB. */
const maxLineBytes = 128 * 1024 * 1024;
/** Largest file with one JSON value, which must be parsed as a whole. */
const maxDocumentBytes = 256 * 1024 * 1024;
const newline = 0x0a;

/** First bytes of files that contain transcripts in a form that is not read, and what to do. */
const otherForms = [
  [
    [0x1f, 0x8b],
    'is compressed with gzip. Decompress it, or pass it through a pipe: gunzip -c FILE | h-audit /dev/stdin.',
  ],
  [[0x28, 0xb5, 0x2f, 0xfd], 'is compressed with zstd. Decompress it.'],
  [[0xff, 0xfe], 'is encoded in UTF-16. Convert it to UTF-8.'],
  [[0xfe, 0xff], 'is encoded in UTF-16. Convert it to UTF-8.'],
] as const;

/** What a file contained besides entries. */
export interface Damage {
  /** Lines that are not JSON objects, or are too long. */
  skippedLines: number;
}

/** Called with the number of bytes that were read since the last call. */
export type OnBytes = (bytes: number) => void;

/**
 * Reads the entries of a file, in batches: JSON lines, or one JSON value with a list of entries. JSON lines are read in
 * chunks, so that a file may be larger than the memory.
 *
 * @throws Error if the file cannot be read, or contains no entry
 */
export async function* readEntries(path: string, damage: Damage, onBytes: OnBytes): AsyncGenerator<readonly Json[]> {
  const file = await open(path);
  try {
    const read = readerOf(file);
    const buffer = Buffer.allocUnsafe(chunkBytes);
    const begin = buffer.subarray(0, await read(buffer, 0));
    const other = otherForms.find(([bytes]) => bytes.every((byte, index) => begin[index] === byte));
    if (other) throw new Error(`The file ${other[1]}`);
    const batches = isDocument(begin)
      ? documentEntries(read, begin, onBytes)
      : lineEntries(read, begin, damage, onBytes);
    let count = 0;
    for await (const batch of batches) {
      count += batch.length;
      yield batch;
    }
    if (count === 0) throw new Error('The file contains no JSON object.');
  } finally {
    await file.close();
  }
}

/** Whether a file that begins with these bytes is one JSON value: a list, or an object over several lines. */
const isDocument = (begin: Buffer): boolean => {
  const start = begin.findIndex((byte) => !blanks.has(byte));
  if (begin[start] === openBracket) return true;
  const end = begin.indexOf(newline, start);
  // A long first line is cut here; only a line that ends can be judged.
  return begin[start] === openBrace && end !== -1 && !isObject(parsedOr(begin.toString('utf8', start, end)));
};

/** White space, and the bytes of a byte order mark. */
const blanks: ReadonlySet<number> = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0xef, 0xbb, 0xbf]);

async function* documentEntries(read: Read, begin: Buffer, onBytes: OnBytes): AsyncGenerator<readonly Json[]> {
  const chunks = [begin];
  let length = 0;
  for (let chunk = begin; chunk.length > 0;) {
    length += chunk.length;
    if (length > maxDocumentBytes) {
      throw new Error(`The file is one JSON value; only values of up to ${maxDocumentBytes} bytes are read.`);
    }
    const next = Buffer.allocUnsafe(chunkBytes);
    chunk = next.subarray(0, await read(next, 0));
    chunks.push(chunk);
  }
  yield entriesIn(parsedOr(Buffer.concat(chunks).toString().trim()));
  onBytes(length);
}

/** Returns the entries of a value: those of a list, or of an object that contains one, with the model of the object. */
const entriesIn = (value: unknown): readonly Json[] => {
  if (Array.isArray(value)) return value.filter(isObject);
  if (!isObject(value)) return [];
  if ('role' in value || 'type' in value || 'event' in value) return [value];
  const [list] = ['messages', 'history', 'items', 'trajectory'].filter((key) => Array.isArray(value[key]));
  if (list === undefined) return [value];
  const { model } = value;
  const entries = objectsIn(value, list);
  return model === undefined ? entries : entries.map((entry) => ({ model, ...entry }));
};

async function* lineEntries(
  read: Read,
  begin: Buffer,
  damage: Damage,
  onBytes: OnBytes,
): AsyncGenerator<readonly Json[]> {
  /** The beginning of a line, which moves to the beginning of the buffer, and then the next chunk. */
  let buffer = Buffer.allocUnsafe(2 * chunkBytes);
  let unread = 0;
  /** Whether the rest of a line is skipped whose beginning is longer than lines may be. */
  let isTooLong = false;
  const take = (line: Buffer, batch: Json[]): void => {
    const value = isTooLong ? undefined : parsedLine(line);
    isTooLong = false;
    if (isObject(value)) for (const entry of entriesIn(value)) batch.push(entry);
    else if (value !== '') damage.skippedLines += 1;
  };
  for (let bytesRead = begin.copy(buffer); bytesRead > 0; bytesRead = await read(buffer, unread)) {
    const bytes = buffer.subarray(0, unread + bytesRead);
    const batch: Json[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline, unread); end !== -1; end = bytes.indexOf(newline, start)) {
      take(bytes.subarray(start, end), batch);
      start = end + 1;
    }
    if (batch.length > 0) yield batch;
    onBytes(bytesRead);
    unread = bytes.length - start;
    if (isTooLong || unread > maxLineBytes) {
      isTooLong = true;
      unread = 0;
    } else if (unread + chunkBytes > buffer.length) {
      buffer = Buffer.concat([bytes.subarray(start)], 2 * unread + chunkBytes);
    } else {
      buffer.copyWithin(0, start, bytes.length);
    }
  }
  const batch: Json[] = [];
  take(buffer.subarray(0, unread), batch);
  if (batch.length > 0) yield batch;
}

/** Reads from the current place of a file. A pipe may have nothing to read yet, a file is read without the event loop. */
type Read = (buffer: Buffer, at: number) => number | Promise<number>;

const readerOf = (file: FileHandle): Read =>
  fstatSync(file.fd).isFile()
    ? (buffer, at) => readSync(file.fd, buffer, at, chunkBytes, null)
    : async (buffer, at) => (await file.read(buffer, at, chunkBytes, null)).bytesRead;

/** In Claude Code, a second copy of the result, with the whole file after an edit: about a third of a transcript. */
const copyOfResult = { member: 'toolUseResult', key: Buffer.from('"toolUseResult":'), leftOut: '(left out)' };

/** Parses a line without the copy of the result, which would take longer to parse than to skip. */
const parsedLine = (line: Buffer): unknown => {
  const { member, key, leftOut } = copyOfResult;
  const at = line.indexOf(key);
  const from = at + key.length;
  const end = at === -1 ? undefined : endOfValue(line, from);
  if (end !== undefined) {
    const entry = parsedOr(`${line.toString('utf8', 0, from)}"${leftOut}"${line.toString('utf8', end)}`);
    // Otherwise, a part of another member has this name.
    if (isObject(entry) && entry[member] === leftOut) return entry;
  }
  return parsedOr(line.toString('utf8').trim());
};

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Returns the end of the object or the list that begins here; `undefined` for other values and in a damaged line. */
const endOfValue = (line: Buffer, from: number): number | undefined => {
  let depth = 0;
  for (let index = from; index < line.length; index += 1) {
    const code = line[index];
    if (code === quote) {
      for (index += 1; index < line.length && line[index] !== quote; index += 1) {
        if (line[index] === backslash) index += 1;
      }
    } else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (depth === 0) return index > from ? index + 1 : undefined;
  }
  return undefined;
};
