import { open, readFile, stat } from 'node:fs/promises';
import { isObject, objectsIn, parsedOr, type Json } from './record.js';

const chunkBytes = 1024 * 1024;
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
    let pieces: Buffer[] = [];
    let length = 0;
    const takeLine = (): Json | undefined => {
      const isTooLong = length > maxLineBytes;
      const [only] = pieces;
      const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(isTooLong ? [] : pieces);
      const line = bytes.toString('utf8').trim();
      pieces = [];
      length = 0;
      if (line === '' && !isTooLong) return undefined;
      const value = parsedOr(line);
      if (isObject(value)) return value;
      damage.skippedLines += 1;
      return undefined;
    };
    for (;;) {
      const chunk = Buffer.allocUnsafe(chunkBytes);
      const { bytesRead } = await file.read(chunk, 0, chunkBytes, null);
      if (bytesRead === 0) break;
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1 && end < bytesRead; end = chunk.indexOf(newline, start)) {
        length += end - start;
        if (length <= maxLineBytes) pieces.push(chunk.subarray(start, end));
        start = end + 1;
        const entry = takeLine();
        if (entry) yield entry;
      }
      length += bytesRead - start;
      if (length <= maxLineBytes) pieces.push(chunk.subarray(start, bytesRead));
      else pieces = [];
      onBytes(bytesRead);
    }
    const entry = takeLine();
    if (entry) yield entry;
  } finally {
    await file.close();
  }
}
