import { open } from 'node:fs/promises';

/** A line of a file and where it is. */
export interface Line {
  readonly text: string;
  /** Place of its first byte. */
  readonly start: number;
  /** Place after its newline. */
  readonly end: number;
  /** The file ends before the newline. */
  readonly isTorn: boolean;
}

const chunkBytes = 1 << 18;
const newline = 0x0a;

/**
 * The lines of a file from a place on, in batches, as it is when reading begins. A file that is not there has none.
 *
 * No more of the file is in memory than one chunk and one line.
 */
export async function* readLines(path: string, from = 0): AsyncGenerator<readonly Line[]> {
  const handle = await openIfThere(path);
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

/** Whether this place of a file is in the middle of a line. */
export const isInLine = async (path: string, place: number): Promise<boolean> => {
  const handle = await openIfThere(path);
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
    const { text, end } = lineOf([...rest, chunk.subarray(from, at)], start);
    lines.push({ text, start, end: end + 1, isTorn: false });
    start = end + 1;
    rest = [];
    from = at + 1;
  }
  if (from < chunk.length) rest.push(chunk.subarray(from));
  return { lines, rest, start };
};

const lineOf = (pieces: readonly Buffer[], start: number): Omit<Line, 'isTorn'> => {
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
  return { text: bytes.toString('utf8'), start, end: start + bytes.length };
};

const openIfThere = async (path: string) => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};
