import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InvalidOptionError, showValue } from '@h/options';

/** Folders, all that lies below them included; `null` is everything, `[]` nothing. */
export type Roots = readonly string[] | null;

/** Whether a path is this folder or lies below it. Both are absolute, and links are resolved. */
export const isInside = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** Whether a path lies in one of the folders. */
export const isWithin = (roots: Roots, path: string): boolean =>
  roots === null || roots.some((root) => isInside(root, resolve(path)));

/** What lies in folders of both lists. */
export const intersectRoots = (one: Roots, other: Roots): Roots => {
  if (one === null || other === null) return (one ?? other) && distinct(one ?? other ?? []);
  const below = (inner: readonly string[], outer: readonly string[]): readonly string[] =>
    inner.filter((path) => isWithin(outer, path));
  return distinct([...below(one, other), ...below(other, one)]);
};

const distinct = (paths: readonly string[]): readonly string[] => [...new Set(paths)].toSorted();

/**
 * The folders in normal form.
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

/** Where a path lies in a copy of a folder; nothing for one that is not in the folder. */
const moved = (path: string, from: string, to: string): string | undefined =>
  isInside(from, path) ? join(to, relative(from, path)) : undefined;

/** The folders of somebody who works in a copy: what lies in the original becomes what lies in the copy, the whole of it at most. */
export const moveRoots = (roots: readonly string[], from: string, to: string): readonly string[] => [
  ...new Set(roots.flatMap((root) => (isInside(root, from) ? [to] : (moved(root, from, to) ?? [])))),
];
