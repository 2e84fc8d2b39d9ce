import { PathError } from './path-error.js';

const homePath = /^~[^/\\]*(?:[/\\]|$)/u;
const reservedOnWindows = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:[. ].*)?$/iu;

/** Refuses a path by its text alone, before the file system is accessed. */
export const checkPathText = (path: unknown, platform: NodeJS.Platform = process.platform): string => {
  if (typeof path !== 'string') throw new PathError('invalid-path', typeof path, 'is not a path; use a string.');
  if (path === '') throw new PathError('invalid-path', path, 'is empty; use "." for the root of the workspace.');
  if (path.includes('\0')) throw new PathError('nul', path, 'contains a NUL character; remove it.');
  if (!path.isWellFormed()) throw new PathError('invalid-path', path, 'contains a lone surrogate; remove it.');
  if (homePath.test(path)) {
    throw new PathError('home', path, 'starts with "~", which is not expanded; write "./~…" for a file of that name.');
  }
  if (platform === 'win32') checkWindowsText(path);
  return path;
};

/** Refuses devices, alternate data streams, UNC and verbatim paths, and names that Windows silently shortens. */
const checkWindowsText = (path: string): void => {
  const refuse = (reason: string): never => {
    throw new PathError('invalid-path', path, reason);
  };
  if (/^[\\/]{2}/u.test(path)) refuse('is a network or device path.');
  const drive = /^[a-z]:/iu.test(path);
  if (drive && !/^.:[\\/]/u.test(path)) refuse('is relative to the current folder of another drive.');
  for (const segment of path.slice(drive ? 2 : 0).split(/[\\/]+/u)) {
    if (segment.includes(':')) refuse('names an alternate data stream.');
    if (reservedOnWindows.test(segment)) refuse('names a device.');
    if (/[. ]$/u.test(segment) && segment !== '.' && segment !== '..') {
      refuse('contains a name that ends with a dot or a space.');
    }
  }
};
