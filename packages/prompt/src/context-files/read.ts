import type { FileHandle } from 'node:fs/promises';
import { errorCodeOf, openInside } from '@h/paths/open';

/** Result of reading a file. */
export type FileText =
  | { readonly ok: true; readonly text: string; readonly isWhole: boolean }
  | { readonly ok: false; readonly code: 'outside' | 'unreadable' | 'not-text'; readonly message: string };

/** Signature of a file, and the text that was read from it. */
export interface KnownFile {
  readonly signature: string;
  readonly result: FileText;
}

/**
 * Reads the beginning of a text file inside a folder.
 *
 * Links are followed only inside `root`. Pipes, other special files and binary files are not read. Returns `known` if
 * the file has not changed.
 *
 * @param maxBytes maximum number of bytes to read
 */
export const readInside = async (
  location: string,
  root: string,
  maxBytes: number,
  known: KnownFile | undefined,
): Promise<KnownFile> => {
  let file: FileHandle | undefined;
  try {
    const { handle, path, stats } = await openInside(root, location);
    file = handle;
    const { dev, ino, size, mtimeNs, ctimeNs } = stats;
    const signature = [path, dev, ino, size, mtimeNs, ctimeNs].join(':');
    if (known?.signature === signature) return known;
    return { signature, result: decoded(await readStart(file, maxBytes), size > BigInt(maxBytes)) };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'link-outside') {
      return refused('outside', 'The file is a link that leads out of the workspace; it is not followed.');
    }
    if (code === 'changed') return refused('outside', 'The file was replaced while it was being opened.');
    if (code === 'not-a-file') return refused('unreadable', 'The path is not a regular file.');
    return refused('unreadable', `The file cannot be read${code === undefined ? '' : ` (${code})`}.`);
  } finally {
    await file?.close();
  }
};

const refused = (code: 'outside' | 'unreadable', message: string): KnownFile => ({
  signature: '',
  result: { ok: false, code, message },
});

const readStart = async (file: FileHandle, maxBytes: number): Promise<Uint8Array> => {
  const buffer = new Uint8Array(maxBytes);
  let length = 0;
  while (length < maxBytes) {
    const { bytesRead } = await file.read(buffer, length, maxBytes - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
};

/** Decodes UTF-8, or UTF-16 if the file starts with its byte order mark, as some editors on Windows write it. */
const decoded = (bytes: Uint8Array, isCut: boolean): FileText => {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  const text = new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(isCut ? withoutHalf(bytes, isUtf16) : bytes);
  if (text.includes('\0')) {
    return { ok: false, code: 'not-text', message: 'The file is not text: it contains NUL characters.' };
  }
  return { ok: true, text, isWhole: !isCut };
};

/** Removes an incomplete character at the end. */
const withoutHalf = (bytes: Uint8Array, isUtf16: boolean): Uint8Array => {
  if (isUtf16) return bytes.subarray(0, bytes.length - (bytes.length % 2));
  let end = bytes.length;
  while (end > 0 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, Math.max(0, end - 1));
};
