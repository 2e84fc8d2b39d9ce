import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InvalidOptionError, showValue, type OptionCheck } from '@h/options';

/** Folders with everything below them; `null` is everything, `[]` nothing. */
export type Roots = readonly string[] | null;

/** Rejects what would protect nothing: a relative path depends on the folder of the process, a pattern is a name. */
export const absoluteRoot: OptionCheck = {
  expected: 'an absolute path, not a pattern',
  accepts: (value) => typeof value === 'string' && isAbsolute(value) && !wildcard.test(value),
};
/** A star that begins or ends a name: `*.env`, `.env*`, `**`. */
const wildcard = /(?:^|[/\\])\*|\*(?:[/\\]|$)/;

/** Returns whether a path is a folder or below it. Both are absolute with resolved links. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** Returns whether a path is in one of the folders. */
export const isWithin = (roots: Roots, path: string): boolean =>
  roots === null || roots.some((root) => isInside(root, resolve(path)));

/** Returns the folders that are in both lists. */
export const intersectRoots = (one: Roots, other: Roots): Roots => {
  if (one === null || other === null) return (one ?? other) && distinct(one ?? other ?? []);
  const below = (inner: readonly string[], outer: readonly string[]): readonly string[] =>
    inner.filter((path) => isWithin(outer, path));
  return distinct([...below(one, other), ...below(other, one)]);
};

const distinct = (paths: readonly string[]): readonly string[] => [...new Set(paths)].toSorted();

/**
 * Normalizes folders.
 *
 * @throws InvalidOptionError `invalid-option` for a relative path, whose folder would be unknown
 */
export const normalRoots = (roots: readonly string[]): readonly string[] =>
  roots.map((path) => {
    if (!isAbsolute(path)) {
      const message = `policy: paths must be absolute; received ${showValue(path)}.`;
      throw new InvalidOptionError({ owner: 'policy', option: 'paths', message });
    }
    return resolve(path);
  });

/** Maps a path to a copy of a folder; `undefined` for a path outside of the folder. */
const moved = (path: string, from: string, to: string): string | undefined =>
  isInside(from, path) ? join(to, relative(from, path)) : undefined;

/** Maps folders of the original to folders of its copy; a folder that contains the original becomes the whole copy. */
export const moveRoots = (roots: readonly string[], from: string, to: string): readonly string[] => [
  ...new Set(roots.flatMap((root) => (isInside(root, from) ? [to] : (moved(root, from, to) ?? [])))),
];
