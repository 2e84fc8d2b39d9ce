import type { Dirent } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ToolError } from '@h/tools';
import type { Workspace } from '../workspace.js';
import { fileFailure } from './failures.js';

/** Stands for bytes of a name that are not UTF-8. */
const replaced = '\u{fffd}';
const maxListed = 30;
const maxSimilar = 3;

/** The error for a folder where a file is expected; it lists the content of the folder. */
export const folderFailure = async (workspace: Workspace, path: string): Promise<ToolError> => {
  const shown = workspace.paths.display(path);
  const names = (await entriesOf(workspace, path)).map(
    (entry) => workspace.paths.display(join(path, entry.name)) + (entry.isDirectory() ? '/' : ''),
  );
  const listed = names.length === 0 ? 'It is empty' : `It contains ${names.slice(0, maxListed).join(', ')}`;
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  return fileFailure(
    'is-folder',
    `${shown} is a folder. ${listed}${more}. List it with glob, such as ${JSON.stringify({ pattern: '*', path: shown })}.`,
  );
};

/** The error for a missing file; it suggests similar files, or explains a name that cannot be opened. */
export const missingFailure = async (workspace: Workspace, path: string): Promise<ToolError> => {
  const { paths } = workspace;
  const shown = paths.display(path);
  if (shown.includes(replaced)) {
    const pattern = shown.replaceAll(/\u{fffd}+/gu, '*');
    return fileFailure(
      'not-utf8',
      `${shown} cannot be opened: its name is not UTF-8. Rename it with a command first; the shell finds it by ${pattern}.`,
    );
  }
  const wanted = basename(path).toLowerCase();
  const stem = wanted.replace(/\.[^.]*$/u, '');
  const similar = (await entriesOf(workspace, dirname(path)))
    .map((entry) => entry.name)
    .filter((name) => name.toLowerCase() === wanted || (stem.length > 1 && name.toLowerCase().startsWith(stem)))
    .slice(0, maxSimilar)
    .map((name) => paths.display(join(dirname(path), name)));
  const hint = similar.length === 0 ? 'Find it with glob' : `Similar files: ${similar.join(', ')}`;
  return fileFailure('not-found', `${shown} does not exist. ${hint}.`);
};

/** Returns the readable entries of a folder by name; empty if it cannot be listed. */
const entriesOf = async (workspace: Workspace, path: string): Promise<Dirent[]> => {
  try {
    workspace.paths.resolve(path, { for: 'read' });
    const folder = await workspace.paths.openFolder(path);
    try {
      const entries = (await folder.entries()).filter((entry) =>
        workspace.paths.permits(join(path, entry.name), { for: 'read' }),
      );
      return entries.toSorted((left, right) => (left.name < right.name ? -1 : 1));
    } finally {
      await folder.close();
    }
  } catch {
    return [];
  }
};
