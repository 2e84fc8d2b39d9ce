import type { BraceGroup, CompoundCommand, CompoundList, Redirected } from 'unbash';
import type { Container } from './containers.js';
import { unknownText } from './field.js';
import { secretMark, secretVariableMark } from './secrets.js';

/** The body of a function. */
export type FunctionBody = BraceGroup | CompoundCommand | CompoundList | Redirected;

/** The state of a shell at one point of a line. A subshell has a separate scope. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly home: string;
  /** The folder in which the line starts. */
  readonly project: string;
  /** The current folder. */
  cwd: string;
  positional: readonly string[] | undefined;
  /** Values of variables; an array has several. */
  readonly variables: Map<string, readonly string[]>;
  readonly functions: Map<string, FunctionBody>;
  readonly aliases: Map<string, string>;
  /** Text that the line has written to files, by path. */
  readonly files: Map<string, string>;
  /** Files that the line has downloaded; folders that it has unpacked, with `/`, or cloned, with `/*`, at the end. */
  readonly downloads: Set<string>;
  /** Files to which the line has written a secret, and variables that contain one, as `$name`, with their marks. */
  secrets: Map<string, string>;
  /** Whether output is displayed. It is not if a pipe, a substitution or a file receives it. */
  isShown: boolean;
  /** Whether the text may be something else than a shell line. */
  isGuess: boolean;
  /** Whether commands run as root on this machine. */
  isRoot: boolean;
  /** Whether commands run on another machine. */
  isElsewhere: boolean;
  /** The container in which commands run. */
  container: Container | undefined;
}

/** Creates the scope at the start of a line. */
export const firstScope = (cwd: string, home: string, project: string): Scope => ({
  parent: undefined,
  home,
  project,
  cwd,
  positional: undefined,
  variables: new Map(),
  functions: new Map(),
  aliases: new Map(),
  files: new Map(),
  downloads: new Set(),
  secrets: new Map(),
  isShown: true,
  isGuess: false,
  isRoot: false,
  isElsewhere: false,
  container: undefined,
});

/** Creates a scope whose variables, functions and folder end with it. Files remain. */
export const innerScope = (parent: Scope, positional = parent.positional): Scope => ({
  ...parent,
  parent,
  positional,
  variables: new Map(),
  functions: new Map(),
  aliases: new Map(),
});

type Named = 'variables' | 'functions' | 'aliases';
type ValueOf<Kind extends Named> = Scope[Kind] extends Map<string, infer Value> ? Value : never;

/** Looks up a name in this scope and its parents. */
export const lookUp = <Kind extends Named>(scope: Scope, kind: Kind, name: string): ValueOf<Kind> | undefined => {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) {
    const value = at[kind].get(name);
    if (value !== undefined) return value as ValueOf<Kind>;
  }
  return undefined;
};

/**
 * Sets a variable. If the assignment is conditional (in a branch, after `&&`), an earlier value becomes unknown, unless
 * both are equal.
 */
export const assign = (scope: Scope, name: string, value: readonly string[], isCertain: boolean): void => {
  const before = isCertain ? undefined : lookUp(scope, 'variables', name);
  const isSame =
    before === undefined || (before.length === value.length && before.every((text, index) => text === value[index]));
  scope.variables.set(name, isSame ? value : [unknownText]);
};

/** Records that a variable contains a secret, if its value was made of one. */
export const rememberSecret = (scope: Scope, name: string, madeBy: readonly string[]): void => {
  const mark = madeBy.find((source) => source === secretMark || source.startsWith(secretVariableMark));
  if (mark !== undefined) scope.secrets.set(`$${name}`, mark);
};

/** Variables with a conventional value. */
const conventions: Readonly<Record<string, (scope: Scope) => string>> = {
  HOME: ({ home }) => home,
  SHELL: () => '/bin/bash',
  BASH: () => '/bin/bash',
  PWD: ({ cwd }) => cwd,
  TMPDIR: () => '/tmp',
  TMP: () => '/tmp',
  TEMP: () => '/tmp',
  RUNNER_TEMP: () => '/tmp',
  IFS: () => ' ',
  XDG_CACHE_HOME: ({ home }) => `${home}/.cache`,
  GITHUB_WORKSPACE: ({ project }) => project,
  CI_PROJECT_DIR: ({ project }) => project,
  CLAUDE_PROJECT_DIR: ({ project }) => project,
};

/** Returns the value of a variable or positional parameter; `undefined` if the line does not set it. */
export const valueOf = (scope: Scope, name: string): readonly string[] | undefined => {
  if (name === '@' || name === '*') return scope.positional;
  if (/^[1-9]\d*$/.test(name)) {
    const position = Number(name) - 1;
    return scope.positional === undefined ? undefined : scope.positional.slice(position, position + 1);
  }
  const own = lookUp(scope, 'variables', name);
  if (own !== undefined) return own;
  return Object.hasOwn(conventions, name) ? [conventions[name]?.(scope) ?? unknownText] : undefined;
};
