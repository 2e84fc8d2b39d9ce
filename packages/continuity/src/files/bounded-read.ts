import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile, UnsafeFileError } from '@h/files';
import { ContinuityError } from '../errors.js';
import { ifThere } from './errors.js';

/**
 * Opens a file of the state; `undefined` if it does not exist. A link is rejected, because its target may be anywhere.
 */
export const openOwn = async (path: string, flags: number, mode?: number): Promise<FileHandle | undefined> => {
  try {
    return await ifThere(openRegularFile(path, flags, mode));
  } catch (error) {
    if (!(error instanceof UnsafeFileError)) throw error;
    throw new ContinuityError(
      'unsafe-path',
      `${path} is a link, a pipe or a folder. Remove it: the state needs a regular file.`,
    );
  }
};

/** Reads the end of a text file: whole characters and, if it was truncated, whole lines. */
export const readTail = async (path: string, maxBytes: number): Promise<string> => {
  const file = await openOwn(path, constants.O_RDONLY);
  if (file === undefined) return '';
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - maxBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.subarray(start === 0 ? 0 : wholeStart(buffer), bytesRead).toString('utf8');
    if (start === 0) return text;
    const line = text.indexOf('\n');
    return line < 0 || line === text.length - 1 ? text : text.slice(line + 1);
  } finally {
    await file.close();
  }
};

/** The position of the first whole character. */
const wholeStart = (bytes: Buffer): number => {
  let place = 0;
  while (place < 3 && ((bytes[place] ?? 0) & 0xc0) === 0x80) place += 1;
  return place;
};

/** Reads a text file of at most N bytes. */
export const readWhole = async (
  path: string,
  maxBytes: number,
): Promise<{ readonly text: string } | { readonly tooLarge: number } | undefined> => {
  const file = await openOwn(path, constants.O_RDONLY);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    return size > maxBytes ? { tooLarge: size } : { text: await file.readFile('utf8') };
  } finally {
    await file.close();
  }
};
