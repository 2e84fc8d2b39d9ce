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
    for (const word of moduleFiles(argv)) found.words.add(word);
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

/** Returns the possible files of a module of `python -m`. */
const moduleFiles = (argv: readonly Field[]): readonly string[] => {
  const option = argv.findIndex(({ text }) => text === '-m');
  const path = option === -1 ? undefined : argv[option + 1]?.text.replaceAll('.', '/');
  return path === undefined ? [] : [`${path}.py`, `${path}/__main__.py`, `${path}/__init__.py`];
};
