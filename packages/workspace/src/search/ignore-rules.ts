import { join, relative, sep } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import type { WorkspacePaths } from '@h/paths';

/** The `.gitignore` files that apply in a folder: its own and those of the folders above it, innermost first. */
export interface IgnoreRules {
  /** Returns whether git would ignore this entry, by rules about the entry or its folder; canonical path. */
  ignores(path: string, isFolder: boolean): boolean;
}

/** Contains no rules. */
export const noRules: IgnoreRules = { ignores: () => false };

/** Files with more rules than this are ignored, because they are likely hostile. */
const maxBytes = 512 * 1024;

/** Adds the rules of a folder's own `.gitignore`. */
export const withFolderRules = async (
  paths: WorkspacePaths,
  folder: string,
  outer: IgnoreRules,
): Promise<IgnoreRules> => {
  const text = await readRules(paths, join(folder, '.gitignore'));
  if (text === undefined) return outer;
  const own = ignore({ ignorecase: false }).add(text);
  const prefix = folder.endsWith(sep) ? folder.length : folder.length + 1;
  return { ignores: (path, isFolder) => judge(own, path.slice(prefix), isFolder) ?? outer.ignores(path, isFolder) };
};

/** Returns the rules for the entries of a folder, from the root of the workspace down to it, without its own. */
export const rulesAbove = async (paths: WorkspacePaths, folder: string): Promise<IgnoreRules> => {
  const names = relative(paths.root, folder)
    .split(sep)
    .filter((name) => name !== '');
  // A folder outside the workspace has only its own rules.
  if (names[0] === '..') return noRules;
  let rules = noRules;
  let current = paths.root;
  for (const name of names) {
    rules = await withFolderRules(paths, current, rules);
    current = join(current, name);
    // A search that names an ignored folder searches it.
    if (rules.ignores(current, true)) return noRules;
  }
  return rules;
};

/**
 * Applies these rules to an entry whose folder is known not to be ignored. If these rules ignore the folder, inner
 * rules included it again, so only rules about the entry itself count.
 */
const judge = (rules: Ignore, path: string, isFolder: boolean): boolean | undefined => {
  const name = path.replaceAll(sep, '/') + (isFolder ? '/' : '');
  const end = name.lastIndexOf('/', name.length - 2) + 1;
  const isTakenBack = end > 0 && rules.test(name.slice(0, end)).ignored;
  const { ignored, unignored } = rules.test(isTakenBack ? name.slice(end) : name);
  return ignored ? true : unignored ? false : undefined;
};

const readRules = async (paths: WorkspacePaths, path: string): Promise<string | undefined> => {
  try {
    const handle = await paths.openFile(path);
    try {
      const stats = await handle.stat();
      return stats.isFile() && stats.size <= maxBytes ? await handle.readFile('utf8') : undefined;
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
};
