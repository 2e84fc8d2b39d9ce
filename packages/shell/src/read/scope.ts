import type { BraceGroup, CompoundCommand, CompoundList, Redirected } from 'unbash';
import type { Container } from './commands/containers.js';
import { isKnown, programName, unknownText, type Field } from './words/field.js';
import { secretMark, secretVariableMark } from './files/secrets.js';

/** The body of a function. */
export type FunctionBody = BraceGroup | CompoundCommand | CompoundList | Redirected;

/** The values of a variable; an array has several. */
export type Values = readonly string[] & {
  /** If branches assign different values, the value is unknown, but one of these. */
  readonly alternatives?: readonly Values[];
  /** Whether the caller of the line gives the unknown parts: they are variables of the environment or arguments. */
  readonly isGiven?: boolean;
};

/** Where a name that the line makes leads. */
export interface Link {
  readonly target: string;
  /** Whether a folder is mounted there: deleting it, or a folder above it, deletes the content of the target. */
  readonly isMount: boolean;
}

/** The state of a shell at one point of a line. A subshell has a separate scope. */
export interface Scope {
  readonly parent: Scope | undefined;
  readonly home: string;
  /** The folder in which the line starts. */
  readonly project: string;
  /** The current folder. */
  cwd: string;
  /** The folders to which `popd` returns. */
  folders: readonly string[];
  positional: readonly string[] | undefined;
  /** Values of variables; an array has several. */
  readonly variables: Map<string, Values>;
  readonly functions: Map<string, FunctionBody>;
  readonly aliases: Map<string, string>;
  /** Links and mounts that the line has made, by path. */
  readonly links: Map<string, Link>;
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
  folders: [],
  positional: undefined,
  variables: new Map(),
  functions: new Map(),
  aliases: new Map(),
  links: new Map(),
  files: new Map(),
  // Bash reads connections as files in these folders.
  downloads: new Set(['/dev/tcp/', '/dev/udp/']),
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

/** Assignments before a command end with it; its other effects on the shell remain. */
export const keepEffects = (inner: Scope, scope: Scope, assigned: readonly string[]): void => {
  for (const [name, value] of inner.variables) if (!assigned.includes(name)) scope.variables.set(name, value);
  for (const [name, body] of inner.functions) scope.functions.set(name, body);
  for (const [name, text] of inner.aliases) scope.aliases.set(name, text);
  scope.cwd = inner.cwd;
  scope.folders = inner.folders;
  scope.positional = inner.positional;
};

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
 * both are equal. A stable value, which is the same whenever the assignment runs, is an
 * alternative to the earlier one.
 */
export const assign = (scope: Scope, name: string, value: Values, isCertain: boolean, isStable = false): void => {
  const before = isCertain ? undefined : lookUp(scope, 'variables', name);
  scope.variables.set(
    name,
    before === undefined || areEqual(before, value) ? value : isStable ? oneOfValues([before, value]) : [unknownText],
  );
};

const areEqual = (one: Values, other: Values): boolean =>
  one.length === other.length &&
  one.every((text, index) => text === other[index]) &&
  one.isGiven === other.isGiven &&
  one.alternatives === other.alternatives;

/** Maximum number of alternatives of a variable. */
const maxAlternatives = 4;

/** Returns an unknown path with the name that all values have, as of a program in one of several folders. */
const commonName = (values: readonly Values[]): string => {
  const [[first = ''] = []] = values;
  const name = programName(first);
  const isCommon = values.every(([text = '', ...others]) => others.length === 0 && programName(text) === name);
  return isCommon && isKnown(name) && /^[\w.+-]+$/.test(name) && !values.some(([text = '']) => /\s/.test(text))
    ? `${unknownText}/${name}`
    : unknownText;
};

/** Creates a value that is one of these; it is unknown if there are too many, or one is unknown and not given. */
export const oneOfValues = (values: readonly Values[]): Values => {
  const alternatives: Values[] = [];
  for (const value of values.flatMap((each) => each.alternatives ?? [each])) {
    if (!alternatives.some((other) => areEqual(other, value))) alternatives.push(value);
  }
  const isClear =
    alternatives.length <= maxAlternatives &&
    alternatives.every((value) => value.isGiven === true || value.every(isKnown));
  if (!isClear) return [commonName(alternatives)];
  return alternatives.length === 1 && alternatives[0] !== undefined
    ? alternatives[0]
    : Object.assign([unknownText], { alternatives });
};

/** An array with the keys of its values, in the order of assignment; the keys of a list are its indexes. */
export interface ShellArray {
  readonly values: Values;
  readonly keys: readonly string[];
}

/** Creates an array whose keys are indexes. */
export const arrayOf = (values: readonly string[]): ShellArray => ({
  values,
  keys: values.map((_, index) => String(index)),
});

/** No variable can have this name. */
const keysName = (name: string): string => `!${name}`;

/** Sets an array, or makes it unknown, as {@link assign} does. */
export const setArray = (
  scope: Scope,
  name: string,
  { values, keys }: ShellArray,
  isCertain = true,
  isStable = false,
): void => {
  assign(scope, name, values, isCertain, isStable);
  scope.variables.set(keysName(name), scope.variables.get(name) === values ? keys : ['0']);
};

/** Returns an array; an ordinary variable is one with a single value. */
export const arrayIn = (scope: Scope, name: string): ShellArray | undefined => {
  const values = valueOf(scope, name);
  if (values === undefined) return undefined;
  const keys = lookUp(scope, 'variables', keysName(name));
  return keys?.length === values.length ? { values, keys } : arrayOf(values);
};

/** Sets a variable that a builtin names. With a subscript, the whole array becomes unknown. */
export const setVariable = (scope: Scope, name: string, value: string): void => {
  const [base = ''] = name.split('[', 1);
  scope.variables.set(base, [base === name ? value : unknownText]);
};

const secretIn = (madeBy: readonly string[]): string | undefined =>
  madeBy.find((source) => source === secretMark || source.startsWith(secretVariableMark));

/** Records that a variable contains a secret, if its value was made of one. */
export const rememberSecret = (scope: Scope, name: string, madeBy: readonly string[]): void => {
  const mark = secretIn(madeBy);
  if (mark !== undefined) scope.secrets.set(`$${name}`, mark);
};

/** Names of positional parameters. */
const parameters = ['@', '*', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/** Records which arguments of a function contain secrets; returns what restores those of its caller. */
export const rememberArguments = ({ secrets }: Scope, args: readonly Field[]): (() => void) => {
  const before = parameters.map((name) => secrets.get(`$${name}`));
  const set = (marks: readonly (string | undefined)[]): void => {
    for (const [index, name] of parameters.entries()) {
      const mark = marks[index];
      if (mark === undefined) secrets.delete(`$${name}`);
      else secrets.set(`$${name}`, mark);
    }
  };
  const marks = args.map(({ madeBy }) => secretIn(madeBy));
  const any = marks.find((mark) => mark !== undefined);
  set([any, any, ...marks]);
  return () => set(before);
};

/** Variables with a conventional value. */
const conventions: Readonly<Record<string, (scope: Scope) => string>> = {
  HOME: ({ home }) => home,
  SHELL: () => '/bin/bash',
  0: () => 'bash',
  BASH_SOURCE: (scope) => lookUp(scope, 'variables', '0')?.[0] ?? 'bash',
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
