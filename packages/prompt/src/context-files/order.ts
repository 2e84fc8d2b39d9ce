import { hashText } from '../hash.js';
import { byCodeUnit } from '../normalize.js';

/** The files that are looked for unless told otherwise. */
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

/** What an order needs to know of a file. */
export interface OrderedFile {
  /** Path as it is shown, with `/` between its parts. */
  readonly path: string;
  readonly text: string;
}

/** The file's own name, without its folders. */
export const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * The files in the order in which they are shown, whatever the order in which they were found.
 *
 * Known names come first, in the order of {@link contextFileNames}; files of one name, and all unknown ones, by path in the
 * order of code units, then by what they say. `../AGENTS.md` so comes before `AGENTS.md`: the general before the particular.
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
