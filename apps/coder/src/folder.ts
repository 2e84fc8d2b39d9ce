import { realpath, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from './usage-error.js';

/**
 * The folder to work in, as an absolute path without links.
 *
 * @throws UsageError where there is no such folder
 */
export const workFolder = async (given: string | undefined, from: string): Promise<string> => {
  const path = resolve(from, given ?? '.');
  const found = await stat(path).catch((error: unknown) => {
    throw new UsageError(`The folder ${path} cannot be used: ${reasonOf(error)}.`, { cause: error });
  });
  if (!found.isDirectory()) throw new UsageError(`${path} is no folder.`);
  return realpath(path);
};

/** The folder that relative paths start from: where the user is, even if `npm start` runs the script somewhere else. */
export const startFolder = (environment: Readonly<Record<string, string | undefined>>, current: string): string =>
  environment['npm_lifecycle_event'] === 'start' ? (environment['INIT_CWD'] ?? current) : current;

const reasonOf = (error: unknown): string => {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'it does not exist';
  return code === 'EACCES' ? 'it may not be entered' : String(code ?? error);
};
