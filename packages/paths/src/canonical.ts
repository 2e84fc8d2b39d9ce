import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { PathError, type PathErrorCode } from './path-error.js';

const refusals: Readonly<Record<string, readonly [PathErrorCode, string]>> = {
  ENOTDIR: ['not-a-folder', 'uses a file as if it were a folder.'],
  ELOOP: ['link-loop', 'contains links that form a loop.'],
  EACCES: ['unreachable', 'is in a folder that this process may not enter.'],
  EPERM: ['unreachable', 'is in a folder that this process may not enter.'],
  ENAMETOOLONG: ['unreachable', 'is longer than the file system allows.'],
};

/** Returns the code of a system error, such as `ENOENT`. */
export const errorCodeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
};

/**
 * Resolves all links in an absolute path. Names that do not exist yet are appended unchanged to the deepest existing
 * folder.
 *
 * @param given the path as the caller wrote it, for messages
 * @throws PathError for a dangling link, a loop, a file used as a folder, or a folder without access
 */
export const canonicalPath = (absolute: string, given: string): string => {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    try {
      return join(realpathSync.native(current), ...missing);
    } catch (error) {
      const code = errorCodeOf(error) ?? '';
      if (code !== 'ENOENT') {
        const [reason, text] = refusals[code] ?? ['unreachable', `cannot be accessed (${code || 'unknown error'}).`];
        throw new PathError(reason, given, text, { cause: error });
      }
      if (isLink(current)) {
        throw new PathError('dangling-link', given, 'contains a link that points to nothing.', { cause: error });
      }
      if (dirname(current) === current) {
        throw new PathError('unreachable', given, 'is on a volume that does not exist.', { cause: error });
      }
      missing.unshift(basename(current));
    }
  }
};

const isLink = (path: string): boolean => {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
};

/**
 * Returns whether `path` is `folder` or below it; `/work-evil` is not inside `/work`. Both must be absolute and
 * normalized.
 */
export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
