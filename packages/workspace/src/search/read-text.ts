import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readSync } from 'node:fs';
import { openVerifiedSync } from '@h/paths';

/**
 * Reads a text file at a canonical path. Returns `undefined` if it is binary, too large, not a file, or unreadable.
 *
 * Reads synchronously: for the many small files of a source tree, threads would take six times as long.
 */
export const readTextSync = (path: string, maxBytes: number): string | undefined => {
  try {
    const descriptor = openVerifiedSync(path);
    try {
      const stats = fstatSync(descriptor);
      return stats.isFile() && stats.size <= maxBytes ? decode(readStart(descriptor, stats.size)) : undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
};

/** Reads up to `size` bytes. */
const readStart = (descriptor: number, size: number): Buffer => {
  const buffer = Buffer.allocUnsafe(size);
  let filled = 0;
  while (filled < size) {
    const bytes = readSync(descriptor, buffer, filled, size - filled, null);
    if (bytes === 0) break;
    filled += bytes;
  }
  return buffer.subarray(0, filled);
};

/** Decodes UTF-8, or UTF-16 with a byte order mark, as ripgrep does. Invalid bytes become U+FFFD. */
const decode = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (bytes.includes(0)) return undefined;
  const text = isUtf8(bytes) ? bytes.toString('utf8') : new TextDecoder().decode(bytes);
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
};
