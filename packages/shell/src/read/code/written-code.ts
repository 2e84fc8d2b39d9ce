import { fromCode } from './code-commands.js';
import { known, type Field } from '../words/field.js';
import { guessedCommands } from '../commands/guessed-commands.js';
import { textsOf } from './code-texts.js';
import { here, type Inner } from '../commands/inner.js';
import type { Input } from '../words/known-output.js';
import { hasFile, textOfFile } from '../files/line-files.js';
import type { Scope } from '../scope.js';

/** Maximum length of a file that is examined. */
const maxCode = 10_000;

/** Maximum number of arguments that may name a file. */
const maxArguments = 20;

/** Programs that compile or follow files, with the files that they read by default. */
const compilers: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'go gcc g++ cc clang rustc java javac jshell swift swiftc kotlin kotlinc scala zig nim crystal gradle mvn ant'
      .split(' ')
      .map((name) => [name, '-']),
  ),
  ...Object.fromEntries(['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, 'package.json'])),
  make: 'GNUmakefile makefile Makefile',
  just: 'justfile Justfile .justfile',
  task: 'Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml',
};

/** Runners of tasks, and the packages of JavaScript, whose files contain lines for a shell. */
const taskRunners = /^(?:make|just|task)$/;
const packageManagers = /^(?:npm|pnpm|yarn|bun)$/;

/** Scripts that a package manager runs when it installs. */
const installs = /^(?:i|install|ci|add|update|link|rebuild|pack|publish)$/;
const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare', 'prepublishOnly', 'prepack', 'postpack'];

/** Returns the lines of tasks: indented ones, as recipes or items of a list; in a package, the scripts that run. */
const taskLines = (name: string, code: string, args: readonly Field[]): readonly string[] => {
  if (taskRunners.test(name)) {
    return code.split('\n').flatMap((line) => {
      const [, , text] =
        /^(?:\s+|[\w.-]{1,80}:[^;=]{0,200};\s{0,9})(?:@|-\s{1,9}|-(?=\w)|(?:cmd|sh):\s{1,9})*(["']?)(.*)\1$/.exec(
          line,
        ) ?? [];
      const [key, value = ''] = /^[\w-]+:(?:\s+(.*))?$/.exec(text ?? '') ?? [];
      if (key === undefined) return text === undefined ? [] : [text];
      // In a Taskfile, a command may be the whole definition of a task.
      return name === 'task' && value !== '' ? [value] : [];
    });
  }
  if (!packageManagers.test(name)) return [];
  const words = args.slice(0, maxArguments).map(({ text }) => text);
  const scripts = [
    ...words.flatMap((word) => [word, `pre${word}`, `post${word}`]),
    ...(name === 'yarn' || words.some((word) => installs.test(word)) ? lifecycle : []),
  ];
  return Array.from(code.matchAll(/"([\w:.-]{1,80})"\s{0,9}:\s{0,9}"((?:[^"\\]|\\.){1,1000})"/g))
    .filter(([, script = '']) => scripts.includes(script))
    .map(([, , text = '']) => text.replaceAll(/\\(.)/g, '$1'));
};

/** Programs that run the file that they are given. */
const runsFile = /^(?:java|jshell|kotlin|scala|groovy|wasmtime|wasmer|ansible-playbook|make|just|task|gradle|mvn|ant)$/;

/** The subcommand, or the option, with which a program runs the code of a file or installs it. */
const runningSubcommands: Readonly<Record<string, RegExp>> = {
  go: /^run$/,
  zig: /^run$/,
  nim: /^(?:r|run)$/,
  crystal: /^run$/,
  kotlinc: /^-script$/,
  ...Object.fromEntries(
    ['npm', 'pnpm', 'yarn', 'bun', 'pip', 'pip3', 'gem'].map((name) => [name, /^(?:i|install|add)$/]),
  ),
};

/** Finds a download of the same line that a compiler, a build tool or a package manager runs. */
export const ofDownloadedCode = (name: string, args: readonly Field[], scope: Scope): readonly Inner[] => {
  const words = args.slice(0, maxArguments).map(({ text }) => text);
  const subcommand = Object.hasOwn(runningSubcommands, name) ? runningSubcommands[name] : undefined;
  if (!runsFile.test(name) && !words.some((word) => subcommand?.test(word))) return [];
  const byDefault = Object.hasOwn(compilers, name) ? compilers[name] : undefined;
  return [...words, ...(byDefault?.split(' ') ?? [])]
    .filter((path) => hasFile(scope.downloads, path, scope))
    .slice(0, 1)
    .map((): Inner => ({ kind: 'problem', problem: 'runs-download' }));
};

/** Returns what a compiler or a build tool runs from files that the line itself has written, or from its input. */
export const ofWrittenCode = (
  name: string,
  args: readonly Field[],
  input: Input | undefined,
  scope: Scope,
): readonly Inner[] => {
  const byDefault = Object.hasOwn(compilers, name) ? compilers[name] : undefined;
  if (byDefault === undefined || (scope.files.size === 0 && input?.text === undefined)) return [];
  const paths = [...args.slice(0, maxArguments).map(({ text }) => text), ...byDefault.split(' ')];
  return paths
    .flatMap((path) => textOfFile(scope, path) ?? (path === '-' ? (input?.text ?? []) : []))
    .slice(0, 1)
    .map((code) => code.slice(0, maxCode))
    .flatMap((code) =>
      taskRunners.test(name) || packageManagers.test(name)
        ? taskLines(name, code, args).map((text): Inner => ({
            kind: 'line',
            text,
            // Variables of make look like substitutions.
            ...(taskRunners.test(name) ? { isGuess: true } : { mayBeInvalid: true }),
          }))
        : [
            ...fromCode(code),
            ...guessedCommands([...textsOf(code), ...code.split('\n')].map(known), undefined).map(here),
          ],
    );
};
