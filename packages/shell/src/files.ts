import { isKnown, programName, show, type Field } from './read/words/field.js';
import type { Invocation } from './read/invocation.js';
import { readCommandLine } from './read/read-command-line.js';
import { shells } from './read/commands/wrappers.js';

/** The files that a shell line names, as far as they are known before it runs. */
export interface CommandFiles {
  /** Words that may be paths, in arguments and in code of other languages. */
  readonly words: readonly string[];
  /** Words that name what runs: programs with a folder, and scripts of interpreters. */
  readonly scripts: readonly string[];
  /** Folders that the commands run in. */
  readonly folders: readonly string[];
  /** Reasons why the line may run other files; empty if everything that it runs is known. */
  readonly unknown: readonly string[];
}

/** Programs other than shells whose first operand is a program. */
const interpreter =
  /^(?:\.|source|eval|(?:python|pypy|node|nodejs|ruby|perl|php|lua|luajit|pwsh|Rscript|tclsh|wish|expect)[\d.]*|deno|bun|tsx|ts-node|osascript|java|groovy|elixir|julia|guile)$/;

/** Programs that accept a program after `-f`. */
const withProgramFile = /^(?:[gmn]?awk|g?sed|g?make|just)$/;

const fileOption = /^(?:-[A-Za-z]*f|--file|--makefile|--justfile)$/;
/** Options of interpreters that load the file in the next word. */
const loadOption = /^(?:-r|--require|--import|--loader|--experimental-loader|--env-file|--rcfile|--init-file)$/;
/** Options of interpreters whose next word is a value and not a file. */
const valueOption = /^(?:-[WXoOCI]|--conditions)$/;

/** Options whose value is code, by interpreter; the first match applies. */
const codeOptions: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:python|pypy)/, /^-[A-Za-z]*c$/],
  [/^(?:node|nodejs|tsx|bun)/, /^(?:-[A-Za-z]*[ep]|--eval|--print)$/],
  [/^(?:perl|ruby)/, /^-[A-Za-z0]*[eE]$/],
  [/^php/, /^-r$/],
  [/^(?:lua|osascript|Rscript|groovy|elixir|julia)/, /^-e$/],
  [/^pwsh/, /^-(?:c|Command)$/],
];

const informs = /^(?:-v|-V|--version|-h|--help)$/;

/** Variables that change which files a program runs. */
const changesPrograms =
  /\b(?:PATH|CDPATH|BASH_ENV|ENV|NODE_OPTIONS|NODE_PATH|PYTHON[A-Z]+|PERL5\w+|RUBY\w+|LD_[A-Z_]+|DYLD_[A-Z_]+|GIT_[A-Z_]+)\+?=/;

/**
 * Finds the files that a line names and runs, without accessing the file system.
 *
 * The line is analyzed as by `judgeCommand`: behind wrappers, in `bash -c`, through variables, `cd` and escapes. A
 * program or script that is known only at run time, such as one named by a pattern, is reported as unknown.
 *
 * @example
 * ```ts
 * commandFiles('cd scripts && ./check.sh --fast', { cwd: '/project', home: '/home/alice' }).scripts; // ['./check.sh']
 * ```
 */
export const commandFiles = (
  line: string,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): CommandFiles => {
  const { invocations, problems } = readCommandLine(line, cwd, home, cwd);
  const found = { words: new Set<string>(), scripts: new Set<string>(), folders: new Set([cwd]) };
  const unknown = new Set(problems.map(({ problem, argv }) => `${problem}: ${argv.join(' ')}`));
  if (changesPrograms.test(line)) unknown.add('The line sets a variable that changes which programs run.');
  for (const invocation of invocations) {
    const { argv, redirections } = invocation;
    if (isKnown(invocation.cwd)) found.folders.add(invocation.cwd);
    else unknown.add(`The folder of ${argv.map(show).join(' ')} is not known.`);
    for (const { text } of [...argv, ...redirections.map(({ target }) => target)]) {
      if (isKnown(text)) for (const word of partsOf(text)) found.words.add(word);
    }
    const modules = modulesOf(invocation);
    for (const word of modules.files) found.words.add(word);
    const base = isKnown(invocation.cwd) ? invocation.cwd : cwd;
    for (const folder of modules.folders) found.folders.add(folder.startsWith('/') ? folder : `${base}/${folder}`);
    for (const reason of modules.unknown) unknown.add(reason);
    for (const script of scriptsOf(invocation)) {
      if (isExact(script)) found.scripts.add(script.text);
      else unknown.add(`Which file ${script.shown} names is not known.`);
    }
  }
  return {
    words: [...found.words],
    scripts: [...found.scripts],
    folders: [...found.folders],
    unknown: [...unknown],
  };
};

/** Returns what an invocation runs besides programs that are found by name. */
const scriptsOf = ({ argv, input }: Invocation): readonly Field[] => {
  const [program, ...args] = argv;
  if (program === undefined) return [];
  const own = program.text.includes('/') || !isExact(program) ? [program] : [];
  const name = programName(program.text);
  if (name === '[' || name === '[[') return [];
  if (shells.has(name) || interpreter.test(name)) return [...own, ...operandsOf(name, args, input?.text)];
  if (!withProgramFile.test(name)) return own;
  return [...own, ...args.filter((_, index) => fileOption.test(args[index - 1]?.text ?? ''))];
};

/** Returns the script of an interpreter, and the files that its options load. Later arguments are data. */
const operandsOf = (name: string, args: readonly Field[], input: string | undefined): readonly Field[] => {
  // The reader analyzes the argument of `eval`; only unknown text remains unknown.
  if (name === 'eval') return args.filter(({ text }) => !isKnown(text));
  const loaded: Field[] = [];
  const codeOption = shells.has(name)
    ? /^-[A-Za-z]*c[A-Za-z]*$/
    : codeOptions.find(([interpreters]) => interpreters.test(name))?.[1];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as Field;
    const { text } = arg;
    if (informs.test(text)) return loaded;
    if (codeOption?.test(text) === true) {
      const code = args[index + 1];
      return code !== undefined && !isKnown(code.text) ? [...loaded, code] : loaded;
    }
    // A module is found by its name.
    if (text === '-m') return [...loaded, ...args.slice(index + 1, index + 2).filter((field) => !isExact(field))];
    if (text === '-' || text === '-s') break;
    const isLoaded = loadOption.test(text);
    if (isLoaded || valueOption.test(text)) {
      index += 1;
      const value = args[index];
      if (value !== undefined && (isLoaded || !isKnown(value.text))) loaded.push(value);
    } else if (!isKnown(text) || !text.startsWith('-')) {
      const isSubcommand = (name === 'deno' || name === 'bun') && /^(?:run|test|x)$/.test(text);
      if (!isSubcommand) return [...loaded, arg];
    }
  }
  // The program is read from the input.
  return input === undefined ? [...loaded, { text: '*', shown: `the input of ${name}`, madeBy: [] }] : loaded;
};

const isExact = ({ text }: Field): boolean => isKnown(text) && !/[*?[]/.test(text);

/** Returns a word, the value of an option in it, and the words of code in it. */
const partsOf = (text: string): readonly string[] => [
  text,
  ...text.split(/[\s"'`;&|<>(){}=,]+/).filter((part) => part !== '' && part !== text),
];

const pythonFiles = (name: string): readonly string[] =>
  ['.py', '/__init__.py', '/__main__.py'].map((end) => name.replaceAll('.', '/') + end);

/** The files that an interpreter may load for a module that is named without its file. */
const moduleForms: readonly (readonly [interpreters: RegExp, filesOf: (name: string) => readonly string[]])[] = [
  [/^(?:python|pypy)/, pythonFiles],
  [/^perl/, (name) => [`${name.replaceAll('::', '/')}.pm`]],
  [/^ruby/, (name) => [`${name}.rb`]],
  [/^lua/, (name) => ['.lua', '/init.lua'].map((end) => name.replaceAll('.', '/') + end)],
  [
    /^(?:node|bun|deno|tsx|ts-node)/,
    (name) =>
      /^\.{0,2}\//.test(name)
        ? ['.js', '.cjs', '.mjs', '.json', '.ts', '/package.json', '/index.js', '/index.ts'].map((end) => name + end)
        : [],
  ],
];

/** Code and options that change the folders of modules. */
const changesModules =
  /^-[mM]lib\b|\buse\s+lib\b|@INC|sys\.path\s*(?:[.[]|\+?=)|addsitedir|\$LOAD_PATH|\$:\s*(?:<<|\.)|package\.path|module\.paths/;

/** Returns the possible files of the modules that an interpreter loads by name, and the folders it looks in. */
const modulesOf = ({
  argv,
  input,
}: Invocation): { readonly [Part in 'files' | 'folders' | 'unknown']: readonly string[] } => {
  const [program, ...args] = argv;
  const filesOf = moduleForms.find(([interpreters]) => interpreters.test(programName(program?.text ?? '')))?.[1];
  if (filesOf === undefined) {
    // Others start Python: `uv run -m tools.check`, `coverage run -m tools.check`.
    const files = args.flatMap(({ text }, index) => (args[index - 1]?.text === '-m' ? pythonFiles(text) : []));
    return { files, folders: [], unknown: [] };
  }
  const texts = [...args, ...(input === undefined ? [] : [input])].flatMap(({ text }) => text ?? []).filter(isKnown);
  const names = texts.flatMap((text) => [...partsOf(text.replace(/^-[mMr]-?/, '')), ...importedFrom(text)]);
  const folders = texts
    .flatMap((text, index) => (text === '-I' ? (texts[index + 1] ?? []) : text.startsWith('-I') ? text.slice(2) : []))
    .flatMap((list) => list.split(':'));
  const isChanged = texts.some((text) => changesModules.test(text));
  return {
    files: names.filter((name) => /^[\w./:@-]+$/.test(name)).flatMap(filesOf),
    folders,
    unknown: isChanged ? ['The code changes where its modules are found.'] : [],
  };
};

/** Returns the submodules that `from package import module` of Python names. */
const importedFrom = (code: string): readonly string[] =>
  [...code.matchAll(/\bfrom\s+([\w.]+)\s+import\s+([\w\s,()]+)/g)].flatMap(([, parent = '', names = '']) =>
    (names.match(/\w+/g) ?? []).map((name) => `${parent}.${name}`),
  );
