import { ToolError, type ToolErrorOptions } from '@h/tools';
import { errorCodeOf, PathError } from '@h/paths';

const words: Readonly<Record<string, readonly [code: string, message: string]>> = {
  ENOENT: ['not-found', 'does not exist'],
  EISDIR: ['is-folder', 'is a folder'],
  ENOTDIR: ['not-a-folder', 'is no folder'],
  EACCES: ['no-permission', 'may not be used: this process lacks the permission'],
  EPERM: ['no-permission', 'may not be used: this process lacks the permission'],
  EROFS: ['no-permission', 'is on a file system that cannot be written'],
  ENOSPC: ['no-space', 'cannot be written: the disk is full'],
  EDQUOT: ['no-space', 'cannot be written: the quota is used up'],
  EFBIG: ['too-large', 'cannot be written: it is too large for the file system'],
  ENAMETOOLONG: ['name-too-long', 'has a name that is too long'],
  ETXTBSY: ['busy', 'is a program that is running'],
  EBUSY: ['busy', 'is in use by the system'],
  EMFILE: ['busy', 'cannot be opened: too many files are open'],
  ENFILE: ['busy', 'cannot be opened: too many files are open'],
};

/** A failure of a file tool: one sentence for the model, a code for programs. */
export const fileFailure = (code: string, message: string, options: Omit<ToolErrorOptions, 'code'> = {}): ToolError =>
  new ToolError(message, { ...options, code });

/**
 * What the system said about a file, in words that name it as the model does. Errors that already are in such words stay
 * as they are.
 */
export const asFileFailure = (error: unknown, shown: string): Error => {
  if (error instanceof ToolError || error instanceof PathError) return error;
  if (error instanceof Error && error.name === 'AbortError') return error;
  const code = errorCodeOf(error) ?? 'unknown';
  const [word, text] = words[code] ?? ['io-failed', `cannot be used (${code})`];
  return fileFailure(word, `${shown} ${text}.`, { cause: error });
};
