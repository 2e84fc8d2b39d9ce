import { hashText } from '../hash.js';
import { byCodeUnit } from '../normalize.js';

/** Default names of context files. */
export const contextFileNames: readonly string[] = [
  'AGENTS.md',
  'CLAUDE.md',
  'SOUL.md',
  'IDENTITY.md',
  'USER.md',
  'TOOLS.md',
  'BOOTSTRAP.md',
  'MEMORY.md',
];

const ranks: ReadonlyMap<string, number> = new Map(contextFileNames.map((name, index) => [name.toLowerCase(), index]));

/** A file to sort. */
export interface OrderedFile {
  /** Displayed path, with `/` as separator. */
  readonly path: string;
  readonly text: string;
}

/** Returns the last part of a path. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * Sorts context files into a fixed order, independent of the order in which they were found.
 *
 * Known names come first, in the order of {@link contextFileNames}; equal and unknown names are sorted by path in code
 * unit order, then by content. `../AGENTS.md` therefore precedes `AGENTS.md`: general before specific.
 */
export const sortContextFiles = <File extends OrderedFile>(files: readonly File[]): readonly File[] =>
  files
    .map((file) => ({
      file,
      rank: ranks.get(baseName(file.path).toLowerCase()) ?? ranks.size,
      path: file.path.normalize(),
      hash: hashText(file.text),
    }))
    .toSorted(
      (left, right) => left.rank - right.rank || byCodeUnit(left.path, right.path) || byCodeUnit(left.hash, right.hash),
    )
    .map(({ file }) => file);
