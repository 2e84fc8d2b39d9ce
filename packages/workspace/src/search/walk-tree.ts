import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { WorkspacePaths } from '@h/paths';
import { noRules, rulesAbove, withFolderRules, type IgnoreRules } from './ignore-rules.js';

/** Something that a walk came by. */
export interface TreeEntry {
  /** Canonical path, but for a link's own name. */
  readonly path: string;
  /** From where the walk began, joined by `/`. */
  readonly name: string;
  /** Links are listed and never followed. */
  readonly kind: 'file' | 'folder' | 'link';
}

/** How a tree is walked. */
export interface WalkOptions {
  readonly paths: WorkspacePaths;
  /** Canonical path of the folder to begin in. */
  readonly start: string;
  /** Also what `.gitignore` files leave out. */
  readonly includeIgnored: boolean;
  readonly signal: AbortSignal;
  /** Whether to look into a folder, by its name from `start`. */
  readonly enters?: ((name: string) => boolean) | undefined;
}

/** A folder whose entries are being gone through. */
interface Level {
  readonly rules: IgnoreRules;
  readonly entries: readonly TreeEntry[];
  next: number;
  /** Listings of folders among the entries that were begun ahead of their turn, by path. */
  readonly ahead: Map<string, Promise<Dirent[]>>;
  /** The first entry that was not considered for that yet. */
  nextAhead: number;
}

/** How many folders are listed at the same time; Node runs four system calls in parallel. */
const maxAhead = 8;

/**
 * Goes through a tree depth first, each folder by name, and leaves out git's own folders and what git ignores.
 *
 * Every folder is opened by {@link WorkspacePaths.openFolder}: one that has become a link is passed over, as is one that
 * cannot be read.
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

/** Keeps listings of the folders that come next under way, this entry's own among them. */
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

/** The order of their bytes in UTF-8, which is the order of code points and that of ripgrep. */
const byName = (left: Dirent, right: Dirent): number => compareCodePoints(left.name, right.name);

const compareCodePoints = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at += 1) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    // Surrogates sort before U+E000 as code units and after it as code points.
    if (one !== other) {
      return one >= 0xd800 && other >= 0xd800
        ? (left.codePointAt(at) ?? 0) - (right.codePointAt(at) ?? 0)
        : one - other;
    }
  }
  return left.length - right.length;
};
