import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { PathError, type PathErrorCode } from './path-error.js';

const refusals: Readonly<Record<string, readonly [PathErrorCode, string]>> = {
  ENOTDIR: ['not-a-folder', 'goes through a file as if it were a folder.'],
  ELOOP: ['link-loop', 'goes through links that lead in circles.'],
  EACCES: ['unreachable', 'goes through a folder that this process may not enter.'],
  EPERM: ['unreachable', 'goes through a folder that this process may not enter.'],
  ENAMETOOLONG: ['unreachable', 'is longer than the file system allows.'],
};

/** The system's word for what went wrong (`ENOENT` …), if it has one. */
export const errorCodeOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
};

/**
 * Where an absolute path really leads: every link followed, also those of folders above. What does not exist yet is
 * kept as it is written, below the deepest folder that exists.
 *
 * @param given The path as the caller wrote it, for messages.
 * @throws PathError if that cannot be told: a dangling link, a loop, a file in the place of a folder, a locked folder.
 */
export const canonicalPath = (absolute: string, given: string): string => {
  const missing: string[] = [];
  for (let current = absolute; ; current = dirname(current)) {
    try {
      return join(realpathSync.native(current), ...missing);
    } catch (error) {
      const code = errorCodeOf(error) ?? '';
      if (code !== 'ENOENT') {
        const [reason, text] = refusals[code] ?? ['unreachable', `cannot be looked at (${code || 'unknown error'}).`];
        throw new PathError(reason, given, text, { cause: error });
      }
      if (isLink(current)) {
        throw new PathError('dangling-link', given, 'goes through a link that points to nothing.', { cause: error });
      }
      if (dirname(current) === current) {
        throw new PathError('unreachable', given, 'lies on a volume that does not exist.', { cause: error });
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

/** Whether `path` is `folder` itself or lies below it; `/work-evil` is not inside `/work`. Both absolute and normalised. */
export const isInside = (folder: string, path: string): boolean =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
