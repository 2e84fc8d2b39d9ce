import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InvalidOptionError } from '@h/options';
import { errorCodeOf } from '@h/paths/open';
import type { SectionProblem } from '../sections.js';

/** A file that was found by name and not read yet. */
export interface FoundFile {
  /** Path from the workspace, with `/` between its parts: `AGENTS.md`, `../AGENTS.md`. */
  readonly path: string;
  /** Absolute path. */
  readonly location: string;
}

/** The folders to search, and their outermost folder, outside of which no file is read. */
export interface SearchedFolders {
  readonly root: string;
  readonly folders: readonly string[];
}

/** Maximum number of folders between a workspace and its repository. */
const maxLevels = 32;

/**
 * Lists the workspace and the folders above it, up to the root.
 *
 * The default root is the nearest ancestor that contains `.git`, else the workspace. The search upwards stops at a
 * folder with another owner, because other users must not be able to plant instructions there.
 *
 * @throws InvalidOptionError if the workspace is outside the root
 */
export const searchedFolders = async (workspace: string, root: string | undefined): Promise<SearchedFolders> => {
  const start = await realpath(resolve(workspace));
  const end = root === undefined ? await repositoryRoot(start) : await realpath(resolve(root));
  const down = relative(end, start);
  if (isAbsolute(down) || down === '..' || down.startsWith(`..${sep}`)) {
    throw new InvalidOptionError({
      owner: 'contextFiles()',
      option: 'root',
      message: `contextFiles() requires a "root" that contains the workspace; ${JSON.stringify(root)} does not contain ${JSON.stringify(workspace)}.`,
    });
  }
  const parts = down === '' ? [] : down.split(sep);
  return { root: end, folders: [end, ...parts.map((_, index) => join(end, ...parts.slice(0, index + 1)))] };
};

const repositoryRoot = async (start: string): Promise<string> => {
  const owner = await ownerOf(start);
  let folder = start;
  for (let level = 0; level < maxLevels; level += 1) {
    if (folder !== start && (await ownerOf(folder)) !== owner) return start;
    if (await exists(join(folder, '.git'))) return folder;
    const parent = dirname(folder);
    if (parent === folder) return start;
    folder = parent;
  }
  return start;
};

const ownerOf = async (folder: string): Promise<number | undefined> => (await stat(folder).catch(() => undefined))?.uid;

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/**
 * Finds the files with these names in the folders, and the folders that cannot be read. Not case-sensitive, like many
 * file systems.
 */
export const findFiles = async (
  { folders }: SearchedFolders,
  names: readonly string[],
): Promise<{ readonly found: readonly FoundFile[]; readonly problems: readonly SectionProblem[] }> => {
  const wanted = new Map<string, Set<string>>();
  for (const name of names) {
    const [folder, base] = [dirname(name), name.slice(name.lastIndexOf('/') + 1)];
    wanted.set(folder, (wanted.get(folder) ?? new Set()).add(base.toLowerCase()));
  }
  const workspace = folders.at(-1) as string;
  const found: FoundFile[] = [];
  const problems: SectionProblem[] = [];
  const unreadable = (path: string, error: unknown): readonly string[] => {
    const code = errorCodeOf(error) ?? 'unknown error';
    if (code !== 'ENOENT' && code !== 'ENOTDIR') {
      problems.push({ code: 'unreadable', message: `The folder cannot be read (${code}).`, path });
    }
    return [];
  };
  for (const folder of folders) {
    for (const [inner, bases] of wanted) {
      const place = join(folder, inner);
      const entries = await readdir(place).catch((error: unknown) => unreadable(place, error));
      for (const entry of entries) {
        if (!bases.has(entry.toLowerCase())) continue;
        const location = join(place, entry);
        found.push({ path: relative(workspace, location).split(sep).join('/'), location });
      }
    }
  }
  return { found, problems };
};
