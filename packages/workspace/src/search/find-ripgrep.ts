import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Workspace } from '../workspace.js';
import { isInside } from '@h/paths';

/**
 * Returns the ripgrep program of a workspace, or `undefined` if it has none.
 *
 * A program in the workspace is never used automatically: an agent that writes there could replace it.
 */
export const findRipgrep = (
  { ripgrep, paths }: Pick<Workspace, 'ripgrep' | 'paths'>,
  searchPath = process.env['PATH'] ?? '',
): string | undefined => {
  if (ripgrep === 'never') return undefined;
  if (ripgrep !== 'auto') return ripgrep;
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  return searchPath
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isInside(paths.root, join(folder)))
    .map((folder) => join(folder, name))
    .find(isProgram);
};

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
};
