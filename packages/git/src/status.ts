/** How a file differs from the last commit. */
export type FileChange = 'added' | 'modified' | 'deleted' | 'conflict';

/** A file that differs from the last commit. */
export interface StatusEntry {
  /** Relative to the top of the work tree, with `/`. A nested repository ends with `/`. */
  readonly path: string;
  /** The letter of the staged change, `.` for none. */
  readonly staged: string;
  /** The letter of the unstaged change, `?` for a new file. */
  readonly unstaged: string;
  readonly change: FileChange;
  readonly isSubmodule: boolean;
}

/** The arguments whose output {@link parseStatus} and {@link parseHead} read. Ignored files are omitted. */
export const statusArguments: readonly string[] = [
  'status',
  '--porcelain=v2',
  '-z',
  '--branch',
  '--no-renames',
  '--untracked-files=all',
  '--ignore-submodules=dirty',
];

/** The number of fields before the path, by the kind of line. */
const fieldsBefore: Readonly<Record<string, number>> = { '1': 8, u: 10, '?': 1 };

/** What is checked out in a work tree. */
export type GitHead =
  /** A branch; `commit` is `undefined` while it has none. */
  | { readonly branch: string; readonly commit: string | undefined }
  | { readonly branch: undefined; readonly commit: string };

/** Reads what is checked out; `undefined` if the output does not contain it. */
export const parseHead = (output: string): GitHead | undefined => {
  const [, oid = ''] = /(?:^|\0)# branch\.oid ([^\0]*)/.exec(output) ?? [];
  const [, name = ''] = /(?:^|\0)# branch\.head ([^\0]*)/.exec(output) ?? [];
  const commit = /^[0-9a-f]{40,64}$/.test(oid) ? oid : undefined;
  if (name !== '' && name !== '(detached)') return { branch: name, commit };
  return commit === undefined ? undefined : { branch: undefined, commit };
};

/** Reads the output of `git status --porcelain=v2 -z --no-renames`. */
export const parseStatus = (output: string): readonly StatusEntry[] =>
  output.split('\0').flatMap((line) => {
    const kind = line.charAt(0);
    const count = fieldsBefore[kind];
    if (count === undefined) return [];
    const fields = line.split(' ');
    const path = fields.slice(count).join(' ');
    if (kind === '?') return [{ path, staged: '.', unstaged: '?', change: 'added', isSubmodule: false }];
    const [, states = '..', submodule = 'N...'] = fields;
    const staged = states.charAt(0);
    const unstaged = states.charAt(1);
    return [
      {
        path,
        staged,
        unstaged,
        change: kind === 'u' ? 'conflict' : changeOf(staged, unstaged),
        isSubmodule: submodule.startsWith('S'),
      },
    ];
  });

const changeOf = (staged: string, unstaged: string): FileChange => {
  if (unstaged === 'D' || (staged === 'D' && unstaged === '.')) return 'deleted';
  return staged === 'A' ? 'added' : 'modified';
};
