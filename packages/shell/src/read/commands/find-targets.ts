import { known, programName, type Field } from '../words/field.js';

const actions: ReadonlySet<string> = new Set(['-exec', '-execdir', '-ok', '-okdir']);

/** Tests that select some of the files, unless their value matches all. Type, depth and owner do not count. */
const narrowing: Readonly<Record<string, (value: string) => boolean>> = {
  ...Object.fromEntries(
    ['-name', '-iname', '-path', '-ipath', '-wholename', '-iwholename'].map((name) => [name, hasLetters]),
  ),
  ...Object.fromEntries(
    ['-regex', '-iregex'].map((name) => [name, (value) => hasLetters(value.replaceAll(/\\[.]/g, '.'))]),
  ),
  // Nearly every file is larger than nothing, or smaller than a limit.
  '-size': (value) => /^\+?[1-9]\d*[kMGwbc]?$/.test(value) || value.startsWith('0'),
  ...Object.fromEntries(
    ['-atime', '-ctime', '-mtime', '-amin', '-cmin', '-mmin'].map((name) => [name, (value) => /^\+?[1-9]/.test(value)]),
  ),
  '-inum': () => true,
  '-samefile': () => true,
  '-lname': () => true,
  '-empty': () => true,
};

/** Returns whether a pattern is more specific than "any text". */
function hasLetters(pattern: string): boolean {
  return /[^*?./\\^$+()[\]|]/.test(pattern);
}

/** The effect of `find`: the patterns of the paths that it finds, and the commands that it runs on them. */
export interface FindCommand {
  readonly paths: readonly string[];
  readonly commands: readonly (readonly Field[])[];
}

/** Parses the arguments of `find`. */
export const readFind = (args: readonly Field[]): FindCommand => {
  const start = args.findIndex(
    ({ text }, index) => /^[-(!]/.test(text) && !/^-[HLPOD]/.test(text) && args[index] !== undefined,
  );
  const bases = args.slice(0, start === -1 ? args.length : start).filter(({ text }) => !/^-[HLPOD]/.test(text));
  const tests = start === -1 ? [] : args.slice(start);
  const paths = (bases.length === 0 ? [known('.')] : bases).map(({ text }) => patternBelow(text, tests));
  const commands: (readonly Field[])[] = [];
  for (let index = 0; index < tests.length; index += 1) {
    const test = tests[index]?.text ?? '';
    if (test === '-delete') commands.push([known('rm'), known('-rf'), ...paths.map(known)]);
    if (!actions.has(test)) continue;
    const first = index + 1;
    while (index < tests.length && !/^[;+]$/.test(tests[index]?.text ?? '')) index += 1;
    const [program, ...words] = tests.slice(first, index).flatMap((field) => onPaths(field, paths));
    if (program === undefined) continue;
    // To delete all files in a folder is to delete it.
    const isWhole = programName(program.text) === 'rm' && paths.some((path) => bases.some(({ text }) => text === path));
    commands.push([program, ...(isWhole ? [known('-r')] : []), ...words]);
  }
  return { paths, commands };
};

const onPaths = (field: Field, paths: readonly string[]): readonly Field[] =>
  field.text.includes('{}')
    ? paths.slice(0, 8).map((path) => ({ ...field, text: field.text.replaceAll('{}', () => path) }))
    : [field];

/** Returns the folder itself if no test narrows the search, and otherwise what it may find in it. */
const patternBelow = (base: string, tests: readonly Field[]): string => {
  const isNarrow =
    tests.some(
      ({ text }, index) =>
        isNarrowing(text, tests[index + 1]?.text ?? '') &&
        tests[index - 1]?.text !== '!' &&
        tests[index - 1]?.text !== '-not' &&
        // Either side of an "or" may match.
        !tests.some(({ text: other }) => other === '-o' || other === '-or'),
    ) || isEachNarrow(tests);
  if (!isNarrow) return base;
  const name = nameIn(tests);
  // The history is next to the files, not below them.
  return `${base.replace(/\/+$/, '') || '/'}/${name === '.git' ? '' : '**/'}${name}`;
};

/** Returns the name that `-name` looks for. */
const nameIn = (tests: readonly Field[]): string => {
  const index = tests.findIndex(
    ({ text }, place) => /^-i?name$/.test(text) && !/^(?:!|-not)$/.test(tests[place - 1]?.text ?? ''),
  );
  const name = index === -1 ? undefined : tests[index + 1]?.text;
  return name !== undefined && /^[\w.*?-]{1,80}$/.test(name) && hasLetters(name) ? name : 'found';
};

const isNarrowing = (test: string, value: string): boolean => {
  if (/^-(?:newer\w*|anewer|cnewer)$/.test(test)) return !/^(?:19|0)\d/.test(value);
  const narrows = Object.hasOwn(narrowing, test) ? narrowing[test] : undefined;
  return narrows?.(value) === true;
};

/** Returns whether every alternative of an "or" selects only some files. */
const isEachNarrow = (tests: readonly Field[]): boolean => {
  const alternatives: string[][] = [[]];
  for (const { text } of tests) {
    if (text === '-o' || text === '-or') alternatives.push([]);
    else alternatives.at(-1)?.push(text);
  }
  return (
    alternatives.length > 1 &&
    alternatives.every((words) =>
      words.some(
        (word, index) =>
          isNarrowing(word, words[index + 1] ?? '') && words[index - 1] !== '!' && words[index - 1] !== '-not',
      ),
    )
  );
};
