import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { WorkspacePaths } from '@h/paths';
import { noRules, rulesAbove, withFolderRules, type IgnoreRules } from './ignore-rules.js';

/** An entry that a walk visits. */
export interface TreeEntry {
  /** Canonical path, except for the name of a link. */
  readonly path: string;
  /** Path from the start of the walk, joined by `/`. */
  readonly name: string;
  /** Links are listed and never followed. */
  readonly kind: 'file' | 'folder' | 'link';
}

/** Options of {@link walkTree}. */
export interface WalkOptions {
  readonly paths: WorkspacePaths;
  /** Canonical path of the first folder. */
  readonly start: string;
  /** Whether to include entries that `.gitignore` excludes. */
  readonly includeIgnored: boolean;
  readonly signal: AbortSignal;
  /** Returns whether to enter a folder, by its path from `start`. */
  readonly enters?: ((name: string) => boolean) | undefined;
}

/** A folder whose entries are being visited. */
interface Level {
  readonly rules: IgnoreRules;
  readonly entries: readonly TreeEntry[];
  next: number;
  /** Listings of subfolders that were started in advance, by path. */
  readonly ahead: Map<string, Promise<Dirent[]>>;
  /** Index of the first entry that was not considered for that yet. */
  nextAhead: number;
}

/** Number of concurrent listings; Node runs four system calls in parallel. */
const maxAhead = 8;

/**
 * Visits a tree depth first, each folder in the order of names. Omits git's own folders and files that git ignores.
 *
 * Every folder is opened by {@link WorkspacePaths.openFolder}: a folder that became a link, or that cannot be read, is
 * skipped.
 */
export async function* walkTree(options: WalkOptions): AsyncGenerator<TreeEntry, void, void> {
  const { paths, start, includeIgnored, signal } = options;
  const outer = includeIgnored ? noRules : await rulesAbove(paths, start);
  const levels = [await openLevel(options, { path: start, name: '' }, list(paths, start), outer)];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const entry = level.entries[level.next];
    if (entry === undefined) {
      levels.pop();
      continue;
    }
    level.next += 1;
    signal.throwIfAborted();
    yield entry;
    if (!isEntered(options, entry)) continue;
    lookAhead(options, level);
    levels.push(await openLevel(options, entry, level.ahead.get(entry.path) ?? list(paths, entry.path), level.rules));
    level.ahead.delete(entry.path);
  }
}

const isEntered = ({ enters }: WalkOptions, { kind, name }: TreeEntry): boolean =>
  kind === 'folder' && enters?.(name) !== false;

/** Starts the listings of the next folders in advance, including that of this entry. */
const lookAhead = (options: WalkOptions, level: Level): void => {
  level.nextAhead = Math.max(level.nextAhead, level.next - 1);
  while (level.ahead.size < maxAhead && level.nextAhead < level.entries.length) {
    const entry = level.entries[level.nextAhead] as TreeEntry;
    level.nextAhead += 1;
    if (isEntered(options, entry)) level.ahead.set(entry.path, list(options.paths, entry.path));
  }
};

const openLevel = async (
  { paths, includeIgnored }: WalkOptions,
  { path, name }: Pick<TreeEntry, 'path' | 'name'>,
  listing: Promise<Dirent[]>,
  outer: IgnoreRules,
): Promise<Level> => {
  const found = await listing;
  const hasRules = !includeIgnored && found.some((entry) => entry.name === '.gitignore');
  const rules = hasRules ? await withFolderRules(paths, path, outer) : outer;
  const prefix = name === '' ? '' : `${name}/`;
  const entries = found.toSorted(byName).flatMap((entry): TreeEntry[] => {
    const kind = kindOf(entry);
    const own = join(path, entry.name);
    const isLeftOut = kind === undefined || entry.name === '.git' || rules.ignores(own, kind === 'folder');
    return isLeftOut ? [] : [{ path: own, name: prefix + entry.name, kind }];
  });
  return { rules, entries, next: 0, ahead: new Map(), nextAhead: 0 };
};

const kindOf = (entry: Dirent): TreeEntry['kind'] | undefined => {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'folder';
  return entry.isSymbolicLink() ? 'link' : undefined;
};

const list = async (paths: WorkspacePaths, path: string): Promise<Dirent[]> => {
  try {
    const folder = await paths.openFolder(path);
    try {
      return await folder.entries();
    } finally {
      await folder.close();
    }
  } catch {
    return [];
  }
};

/** Compares names by their UTF-8 bytes, which is the order of code points and that of ripgrep. */
const byName = (left: Dirent, right: Dirent): number => compareCodePoints(left.name, right.name);

const compareCodePoints = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    // Surrogates sort before U+E000 as code units, but after it as code points.
    if (one !== other) {
      return one >= 0xd800 && other >= 0xd800
        ? (left.codePointAt(at) ?? 0) - (right.codePointAt(at) ?? 0)
        : one - other;
    }
  }
  return left.length - right.length;
};
