import { readSync } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { isObject, objectsIn, parsedOr, type Json } from './record.js';

const chunkBytes = 256 * 1024;
/** Longest line that is parsed. Lines with images have some 10 MB; a string in V8 has at most 512 MB. */
const maxLineBytes = 128 * 1024 * 1024;
/** Largest file with one JSON value, which must be parsed as a whole. */
const maxDocumentBytes = 256 * 1024 * 1024;
const newline = 0x0a;

/** What a file contained besides entries. */
export interface Damage {
  /** Lines that are not JSON objects, or are too long. */
  skippedLines: number;
}

/** Called with the number of bytes that were read since the last call. */
export type OnBytes = (bytes: number) => void;

/**
 * Reads the entries of a file: JSON lines, or one JSON value with a list of entries. JSON lines are read in chunks, so
 * that a file may be larger than the memory.
 *
 * @throws Error if the file cannot be read, or contains no entry
 */
export async function* readEntries(path: string, damage: Damage, onBytes: OnBytes): AsyncGenerator<Json> {
  const { size } = await stat(path);
  let count = 0;
  if (await isDocument(path)) {
    if (size > maxDocumentBytes) {
      throw new Error(`The file is one JSON value of ${size} bytes; at most ${maxDocumentBytes} are read.`);
    }
    for (const entry of entriesIn(parsedOr(await readFile(path, 'utf8')))) {
      count += 1;
      yield entry;
    }
    onBytes(size);
  } else {
    for await (const line of linesOf(path, damage, onBytes)) {
      for (const entry of entriesIn(line)) {
        count += 1;
        yield entry;
      }
    }
  }
  if (count === 0) throw new Error('The file contains no JSON object.');
}

/** Whether the file is one JSON value: a list, or an object over several lines. */
const isDocument = async (path: string): Promise<boolean> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
    const head = buffer.toString('utf8', 0, bytesRead).trimStart();
    if (head.startsWith('[')) return true;
    const [first = ''] = head.split('\n', 1);
    // A long first line is cut here; only a line that ends can be judged.
    return head.startsWith('{') && first.length < head.length && !isObject(parsedOr(first));
  } finally {
    await file.close();
  }
};

/** Returns the entries of a value: those of a list, or of an object that contains one. */
const entriesIn = (value: unknown): readonly Json[] => {
  if (Array.isArray(value)) return value.filter(isObject);
  if (!isObject(value)) return [];
  if ('role' in value || 'type' in value || 'event' in value) return [value];
  const [list] = ['messages', 'history', 'items', 'trajectory'].filter((key) => Array.isArray(value[key]));
  return list === undefined ? [value] : objectsIn(value, list);
};

async function* linesOf(path: string, damage: Damage, onBytes: OnBytes): AsyncGenerator<Json> {
  const file = await open(path);
  try {
    // A read of a file takes less time than a turn of the event loop; a pipe may have nothing to read yet.
    const isFile = (await file.stat()).isFile();
    const buffer = Buffer.allocUnsafe(chunkBytes);
    // The beginning of a line that continues in the next chunk.
    let pieces: Buffer[] = [];
    let length = 0;
    const takeLine = (end: Buffer): Json | undefined => {
      const isTooLong = length + end.length > maxLineBytes;
      const bytes = pieces.length === 0 ? end : Buffer.concat(isTooLong ? [] : [...pieces, end]);
      pieces = [];
      length = 0;
      const value = isTooLong ? undefined : parsedLine(bytes);
      if (isObject(value)) return value;
      if (value !== '') damage.skippedLines += 1;
      return undefined;
    };
    for (;;) {
      const bytesRead = isFile
        ? readSync(file.fd, buffer, 0, chunkBytes, null)
        : (await file.read(buffer, 0, chunkBytes, null)).bytesRead;
      if (bytesRead === 0) break;
      const chunk = buffer.subarray(0, bytesRead);
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
        const entry = takeLine(chunk.subarray(start, end));
        start = end + 1;
        if (entry) yield entry;
      }
      length += bytesRead - start;
      if (length > maxLineBytes) pieces = [];
      else if (start < bytesRead) pieces.push(Buffer.from(chunk.subarray(start)));
      onBytes(bytesRead);
    }
    const entry = takeLine(Buffer.alloc(0));
    if (entry) yield entry;
  } finally {
    await file.close();
  }
}

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
