import { resolvePath } from '../files/resolve-path.js';
import { isKnown, programName, unknownText, type Field } from '../words/field.js';
import type { Input } from '../words/known-output.js';
import { readsVariables, readVariables } from './read-builtin.js';
import { assign, rememberSecret, setVariable, type Scope } from '../scope.js';
import { environmentMark, isSecretPath, secretMark } from '../files/secrets.js';

const setters: ReadonlySet<string> = new Set(['export', 'declare', 'local', 'readonly', 'typeset']);

/** Maximum number of folders that `pushd` remembers. */
const maxFolders = 16;

/** Applies the effects of a builtin on later commands: folder, variables, aliases, arguments. */
export const applyBuiltin = ([first, ...args]: readonly Field[], scope: Scope, input?: Input): void => {
  const name = programName(first?.text ?? '');
  const operands = args.map(({ text }) => text).filter((text) => !/^-./.test(text) || text === '-');
  if (name === 'cd' || name === 'pushd') {
    const folder = folderAfter(operands, args, scope);
    if (name === 'pushd') scope.folders = [...scope.folders, scope.cwd].slice(-maxFolders);
    scope.cwd = folder;
  }
  if (name === 'popd') {
    scope.cwd = (args.length === 0 ? scope.folders.at(-1) : undefined) ?? unknownText;
    scope.folders = scope.folders.slice(0, -1);
  }
  if (setters.has(name)) {
    // A name for another variable: its value changes with that one.
    const isReference = args.some(({ text }) => /^-[A-Za-z]*n/.test(text));
    for (const operand of operands) setFrom(isReference ? `${operand.split('=')[0]}=${unknownText}` : operand, scope);
    for (const { text, madeBy } of args) rememberSecret(scope, text.split('=', 1)[0] ?? '', madeBy);
  }
  if (name === 'alias') for (const operand of operands) setAlias(operand, scope);
  if (
    ((name === 'source' || name === '.') && isSecretPath(operands[0] ?? '', scope.cwd, scope)) ||
    // `export $(cat .env)`
    (name === 'export' && args.some(({ text, madeBy }) => !/^\w+=/.test(text) && madeBy.includes(secretMark)))
  ) {
    scope.secrets.set(environmentMark, secretMark);
  }
  if (name === 'unset') for (const operand of operands) scope.variables.set(operand, ['']);
  if (readsVariables(name)) readVariables(name, args, input, scope);
  if (name === 'getopts') for (const operand of operands) scope.variables.set(operand, [unknownText]);
  if (name === 'printf' && args[0]?.text === '-v' && args[1] !== undefined) {
    setVariable(scope, args[1].text, unknownText);
  }
  if (name === 'set') {
    const start = args.findIndex(({ text }) => text === '--' || !/^[-+]/.test(text));
    if (start !== -1) {
      scope.positional = args.slice(args[start]?.text === '--' ? start + 1 : start).map(({ text }) => text);
    }
  }
};

const folderAfter = ([folder]: readonly string[], args: readonly Field[], scope: Scope): string => {
  if (folder === undefined) return args.length === 0 ? scope.home : scope.cwd;
  if (folder === '-' || /^[-+]\d/.test(folder)) return unknownText;
  return resolvePath(folder, scope.cwd);
};

const setFrom = (operand: string, scope: Scope): void => {
  const [, name, index, value] = /^([A-Za-z_]\w*)(\[[^\]]*\])?\+?=([\s\S]*)$/.exec(operand) ?? [];
  if (name !== undefined && value !== undefined) assign(scope, name, [index === undefined ? value : unknownText], true);
};

const setAlias = (operand: string, scope: Scope): void => {
  const equals = operand.indexOf('=');
  if (equals > 0 && isKnown(operand)) scope.aliases.set(operand.slice(0, equals), operand.slice(equals + 1));
};
