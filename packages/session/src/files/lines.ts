import { constants } from 'node:fs';
import { crc32 } from 'node:zlib';
import { ifExists, openRegularFile } from '@h/files';
import { TurnError } from '@h/turn';

/** Version of the files. Records have their own, `JournalRecord.v`. */
export const formatVersion = 1;

/** A file of a later release is not damaged, so nothing is changed. */
export const newerVersion = (version: number): TurnError =>
  new TurnError(
    'unsupported-version',
    `The session was written in version ${version} of the format; this release reads version ${formatVersion}. Use a later release.`,
  );

/**
 * Adds a checksum to a line of JSON. The line stays JSON: `{"crc":"0d4a1185",` and the rest of the object, which it covers.
 */
export const encodeLine = (json: string): string => {
  const rest = json.slice(1);
  return `${prefixOf(crc32(rest))}${rest}`;
};

/** The JSON that {@link encodeLine} was given; `undefined` if any byte of the line has changed. */
export const decodeLine = (line: Buffer): string | undefined => {
  const rest = line.subarray(prefixLength);
  return line.toString('latin1', 0, prefixLength) === prefixOf(crc32(rest)) ? `{${rest.toString()}` : undefined;
};

const prefixOf = (checksum: number): string => `{"crc":"${checksum.toString(16).padStart(8, '0')}",`;
const prefixLength = prefixOf(0).length;

/** A line of a file and its place in it. */
export interface Line {
  /** Its JSON; `undefined` if the line is damaged. */
  readonly json: string | undefined;
  /** Offset of its first byte. */
  readonly start: number;
  /** Offset after its newline. */
  readonly end: number;
  /** The file ends before the newline. */
  readonly isTorn: boolean;
}

const chunkBytes = 1 << 18;
const newline = 0x0a;

/**
 * Reads the lines of a file from an offset, in batches, up to its size when reading begins. A missing file has no lines.
 *
 * Holds one chunk and one line in memory.
 *
 * @throws UnsafeFileError for a link or a pipe
 */
export async function* readLines(path: string, from = 0): AsyncGenerator<readonly Line[]> {
  const handle = await ifExists(openRegularFile(path, constants.O_RDONLY));
  if (!handle) return;
  try {
    const { size } = await handle.stat();
    let rest: Buffer[] = [];
    let start = from;
    for (let place = from; place < size;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(Math.min(chunkBytes, size - place)), {
        position: place,
      });
      if (bytesRead === 0) break;
      place += bytesRead;
      const split = splitChunk(buffer.subarray(0, bytesRead), rest, start);
      ({ rest, start } = split);
      yield split.lines;
    }
    if (rest.length > 0) yield [{ ...lineOf(rest, start), isTorn: true }];
  } finally {
    await handle.close();
  }
}

/** Whether an offset of a file is within a line. */
export const isInLine = async (path: string, place: number): Promise<boolean> => {
  const handle = await ifExists(openRegularFile(path, constants.O_RDONLY));
  if (!handle) return false;
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), { position: place - 1 });
    return bytesRead === 1 && buffer[0] !== newline;
  } finally {
    await handle.close();
  }
};

const splitChunk = (
  chunk: Buffer,
  before: readonly Buffer[],
  first: number,
): { lines: Line[]; rest: Buffer[]; start: number } => {
  const lines: Line[] = [];
  let rest = [...before];
  let start = first;
  let from = 0;
  for (let at = chunk.indexOf(newline); at >= 0; at = chunk.indexOf(newline, from)) {
    const { json, end } = lineOf([...rest, chunk.subarray(from, at)], start);
    lines.push({ json, start, end: end + 1, isTorn: false });
    start = end + 1;
    rest = [];
    from = at + 1;
  }
  if (from < chunk.length) rest.push(chunk.subarray(from));
  return { lines, rest, start };
};

const lineOf = (pieces: readonly Buffer[], start: number): Omit<Line, 'isTorn'> => {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  return { json: decodeLine(bytes), start, end: start + bytes.length };
};

const maxPiece = 1 << 24;

/** Joins lines into a few strings, each line with its newline: a string has a maximum length. */
export function* inPieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = [];
  let length = 0;
  for (const line of lines) {
    piece.push(line);
    length += line.length;
    if (length < maxPiece) continue;
    yield `${piece.join('\n')}\n`;
    piece = [];
    length = 0;
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`;
}
