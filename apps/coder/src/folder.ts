import { realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import { UsageError } from './usage-error.js';

/**
 * Returns the folder to work in as an absolute path without links.
 *
 * @throws UsageError if the folder does not exist
 */
export const workFolder = async (given: string | undefined, from: string): Promise<string> => {
  const path = resolve(from, given ?? '.');
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(`Cannot use the folder ${path}: ${reasonOf(error)}.`, { cause: error });
  });
  if (!found.isDirectory()) throw new UsageError(`${path} is not a folder.`);
  return realpath(path);
};

/**
 * Returns a warning if the folder is that of the temporary files of all programs: the agent would read and change them.
 */
export const sharedFolderWarning = async (folder: string): Promise<string | undefined> => {
  if (folder !== (await realpath(tmpdir())) && folder !== '/tmp') return undefined;
  return `${folder} has the temporary files of all programs, which the agent can read and change. Pass a folder for this work with --workspace.`;
};

/** The folder that relative paths refer to: the user's current folder, also under `npm start`. */
export const startFolder = (environment: Readonly<Record<string, string | undefined>>, current: string): string =>
  environment['npm_lifecycle_event'] === 'start' ? (environment['INIT_CWD'] ?? current) : current;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
};

/** Why a folder cannot be used, in words. */
export const reasonOf = (error: unknown): string => {
  const { code } = error as NodeJS.ErrnoException;
  return reasons[code ?? ''] ?? String(code ?? error);
};
