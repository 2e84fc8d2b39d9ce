import { ToolError, type ToolErrorOptions } from '@h/tools';
import { errorCodeOf, PathError } from '@h/paths';

const words: Readonly<Record<string, readonly [code: string, message: string]>> = {
  ENOENT: ['not-found', 'does not exist'],
  EISDIR: ['is-folder', 'is a folder'],
  ENOTDIR: ['not-a-folder', 'is not a folder'],
  EACCES: ['no-permission', 'cannot be used: this process lacks the permission'],
  EPERM: ['no-permission', 'cannot be used: this process lacks the permission'],
  EROFS: ['no-permission', 'is on a read-only file system'],
  ENOSPC: ['no-space', 'cannot be written: the disk is full'],
  EDQUOT: ['no-space', 'cannot be written: the disk quota is exceeded'],
  EFBIG: ['too-large', 'cannot be written: it is too large for the file system'],
  ENAMETOOLONG: ['name-too-long', 'cannot be used: its name is too long'],
  ETXTBSY: ['busy', 'cannot be written: it is a running program'],
  EBUSY: ['busy', 'is in use by the system'],
  EMFILE: ['busy', 'cannot be opened: too many files are open; try again later'],
  ENFILE: ['busy', 'cannot be opened: too many files are open; try again later'],
};

/** Creates the failure of a file tool: a sentence for the model and a code for programs. */
export const fileFailure = (code: string, message: string, options: Omit<ToolErrorOptions, 'code'> = {}): ToolError =>
  new ToolError(message, { ...options, code });

/**
 * Converts a system error about a file to a failure that uses the model's name of the file. Other failures are returned
 * unchanged.
 */
export const asFileFailure = (error: unknown, shown: string): Error => {
  if (error instanceof ToolError || error instanceof PathError) return error;
  if (error instanceof Error && error.name === 'AbortError') return error;
  const code = errorCodeOf(error) ?? 'unknown';
  const [word, text] = words[code] ?? ['io-failed', `cannot be used (${code})`];
  return fileFailure(word, `${shown} ${text}.`, { cause: error });
};
