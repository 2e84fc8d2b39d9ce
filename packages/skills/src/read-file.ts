import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** A file as it was read. */
export interface FileContent {
  /** Changes whenever the file does. */
  readonly signature: string;
  readonly text: string;
}

const openFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Why a file was not read. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';
}

/**
 * Reads a text file, if it has changed since `known`.
 *
 * @param file a path without links
 * @param maxBytes more is refused
 * @throws UnreadableError when it is no regular file, too large, or no text
 */
export const readText = async (file: string, maxBytes: number, known?: FileContent): Promise<FileContent> => {
  const handle = await open(file, openFlags).catch((error: NodeJS.ErrnoException) => {
    throw new UnreadableError(`It cannot be opened (${error.code ?? error.message}).`);
  });
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) throw new UnreadableError('It is no regular file.');
    if (stats.size > BigInt(maxBytes)) {
      throw new UnreadableError(`It has ${stats.size} bytes; ${maxBytes} are the most that is read.`);
    }
    const signature = [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(':');
    return known?.signature === signature ? known : { signature, text: await decoded(handle) };
  } finally {
    await handle.close();
  }
};

const decoded = async (handle: FileHandle): Promise<string> => {
  const bytes = await handle.readFile();
  const text = new TextDecoder().decode(bytes);
  if (text.includes('\0')) throw new UnreadableError('It is no text.');
  return text;
};
