import { fromCode } from './code-commands.js';
import { known, type Field } from './field.js';
import { guessedCommands } from './guessed-commands.js';
import { textsOf } from './inline-code.js';
import { here, type Inner } from './inner.js';
import type { Input } from './known-output.js';
import type { Scope } from './scope.js';

/** Maximum length of a file that is examined. */
const maxCode = 10_000;

/** Maximum number of arguments that may name a file. */
const maxArguments = 20;

/** Programs that compile or follow files, with the file that they read by default. */
const compilers: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    'go gcc g++ cc clang rustc java javac jshell swift swiftc kotlin kotlinc scala zig nim crystal gradle mvn ant'
      .split(' ')
      .map((name) => [name, '-']),
  ),
  ...Object.fromEntries(['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, 'package.json'])),
  make: 'Makefile',
  just: 'justfile',
  task: 'Taskfile.yml',
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
  const paths = [...args.slice(0, maxArguments).map(({ text }) => text.replace(/^\.\//, '')), byDefault];
  return paths
    .flatMap((path) => scope.files.get(path) ?? (path === '-' ? (input?.text ?? []) : []))
    .slice(0, 1)
    .map((code) => code.slice(0, maxCode))
    .flatMap((code) => [
      ...fromCode(code),
      ...guessedCommands([...textsOf(code), ...code.split('\n')].map(known), undefined).map(here),
    ]);
};
