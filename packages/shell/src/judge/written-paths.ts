import type { RuleContext } from './rule.js';

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Programs whose last operand is the file or folder that they write. */
const writesLast = set('mv cp install ln rsync scp ditto convert magick ffmpeg split csplit uniq xxd');

/** Programs that write each of their operands, or open them for changes. */
const writesAll = set('script tee sponge touch patch crudini mkfifo ed ex vi vim nvim nano emacs');

/** Programs that change their operands only with an option. */
const writesInPlace = set('sed gsed perl yq');

/** Programs whose `-o` is a switch, or has a value that is no file. */
const printsOnly = /^(?:[efz]?grep|rg|ag|ls|ps|find|ssh|mount|set)$/;

const output =
  /^(?:-[A-Za-z]*[oO]|--?(?:out|output|out-?file|log-?file|Logfile|out-?dir|output-(?:dir|directory|document|file|path)|dest|destination|target|target-dir|install-dir|directory-prefix))(?:=(.+))?$/;

/** Options for the folder that a program fills. */
const folders: Readonly<Record<string, RegExp>> = {
  ...Object.fromEntries(
    ['tar', 'bsdtar', 'gtar'].map((name) => [name, /^(?:-[A-Za-z]*C|--directory|--cd)(?:=(.+))?$/]),
  ),
  ...Object.fromEntries(
    ['cp', 'mv', 'ln', 'install'].map((name) => [name, /^(?:-[A-Za-z]*t|--target-directory)(?:=(.+))?$/]),
  ),
  unzip: /^-[A-Za-z]*d()$/,
  cpio: /^(?:-D|--directory)(?:=(.+))?$/,
  ...Object.fromEntries(['7z', '7za', '7zz'].map((name) => [name, /^-o(.+)$/])),
  patch: /^(?:-d|--directory)(?:=(.+))?$/,
  wget: /^-P()$/,
  aria2c: /^(?:-d|--dir)(?:=(.+))?$/,
  git: /^--directory(?:=(.+))?$/,
};

/** Returns whether `tar` extracts: its first word may have no dash. */
export const extracts = (words: readonly string[]): boolean =>
  words.some(
    (word, index) =>
      /^--(?:extract|get)$/.test(word) || /^-[A-Za-z]*x/.test(word) || (index === 0 && /^[A-Za-z]*x/.test(word)),
  );

/** Returns the archives that `tar`, `zip` and `7z` write. */
const archivesIn = (program: string, words: readonly string[], names: readonly string[]): readonly string[] => {
  if (program === 'zip') return names.slice(0, 1);
  if (program.startsWith('7z')) return names[0] === 'a' ? names.slice(1, 2) : [];
  const creates = words.some((word, index) =>
    (index === 0
      ? /^-?[A-Za-z]*[cru]|^--(?:create|append|update)$/
      : /^-[A-Za-z]*[cru]|^--(?:create|append|update)$/
    ).test(word),
  );
  if (!program.endsWith('tar') || extracts(words) || !creates) return [];
  return words.flatMap((word, index) => {
    const isLast = /^-[A-Za-z]*f$|^--file$/.test(word) || (index === 0 && /^[A-Za-z]*f/.test(word));
    return isLast ? [words[index + 1] ?? ''] : word.startsWith('--file=') ? [word.slice('--file='.length)] : [];
  });
};

/** A path on another machine. What a deployment replaces there is not settings of the machine. */
const remote = /^[\w.@[\]-]+:(?!\/(?:var|srv|opt|home)(?:\/|$))(\/.*)$/;

/** Subcommands that copy from elsewhere to the last operand: `aws s3 cp`, `rclone copy`, `gsutil rsync`. */
const copying = /^(?:cp|mv|copy|copyto|move|moveto|sync|rsync|mirror|download|get|pull)$/;

/** Programs that place files in a folder under their own names. */
const places = set('mv cp install ln rsync scp ditto');

/** Returns the paths of files in the folder into which they are copied. All files of a folder may be any. */
const placedIn = (folder: string, sources: readonly string[]): readonly string[] =>
  sources.map((source) => {
    const [, name = ''] = /([^/]*)\/*$/.exec(source) ?? [];
    return `${folder}/${/^\.$|^\..*[*?]|^\*$/.test(name) ? '.profile' : name}`;
  });

/** Returns whether a path is in a container: what a copy replaces there ends with it. */
const isInContainer = (program: string, path: string): boolean =>
  /^(?:docker|podman|kubectl)$/.test(program) && path.includes(':');

/** Returns the paths that a command writes: its last operand, all of them, or the values of options. */
export const writtenPaths = ({ program, arguments: { operands, words } }: RuleContext): readonly string[] => {
  const names = operands.map(({ text }) => text);
  const folder = program.endsWith('tar') && !extracts(words) ? undefined : folders[program];
  const hasOutput = !printsOnly.test(program);
  const given = words.flatMap((word, index) => {
    const found = word.startsWith('-') ? (folder?.exec(word) ?? (hasOutput ? output.exec(word) : null)) : null;
    if (found === null) return [];
    const path = found[1] || (words[index + 1] ?? '');
    // Builds write into folders above their own, which is that of one package.
    return path.startsWith('..') ? [] : [path];
  });
  const placed = places.has(program)
    ? given.length > 0
      ? given.flatMap((path) => placedIn(path, names))
      : placedIn(names.at(-1) ?? '', names.slice(0, -1))
    : [];
  return [
    ...given,
    ...placed,
    ...archivesIn(program, words, names),
    ...(writesAll.has(program) ||
    (writesInPlace.has(program) && words.some((word) => /^-[A-Za-z]*i|^--in-?place/.test(word)))
      ? names
      : []),
    ...((writesLast.has(program) && names.length > 1) ||
    (names.length > 2 && names.slice(0, 2).some((name) => copying.test(name))) ||
    (program === 'git' && /^(?:clone|init|worktree)$/.test(names[0] ?? ''))
      ? names.slice(-1).filter((path) => !isInContainer(program, path))
      : []),
  ].map((path) => remote.exec(path)?.[1] ?? path);
};
