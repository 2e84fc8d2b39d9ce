import type { FileHandle } from 'node:fs/promises';
import { errorCodeOf, openInside } from '@h/paths/open';

/** A file as it was read. */
export interface FileContent {
  /** Changes whenever the file does. */
  readonly signature: string;
  readonly text: string;
}

/**
 * Reads a text file inside a folder, if it has changed since `known`.
 *
 * A folder that is swapped for a link while the file is opened cannot redirect the read.
 *
 * @param root a canonical path
 * @param maxBytes larger files are refused
 * @throws Error if it is outside `root`, not a regular file, too large, or not text
 */
export const readText = async (
  file: string,
  root: string,
  maxBytes: number,
  known?: FileContent,
): Promise<FileContent> => {
  const { handle, stats } = await openInside(root, file).catch((error: unknown) => {
    throw new Error(`The file cannot be opened (${errorCodeOf(error) ?? 'unknown error'}).`, { cause: error });
  });
  try {
    if (stats.size > BigInt(maxBytes)) {
      throw new Error(`The file has ${stats.size} bytes; the limit is ${maxBytes}.`);
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
  if (text.includes('\0')) throw new Error('The file is not text.');
  return text;
};
