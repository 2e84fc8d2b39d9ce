import { known, type Field } from '../words/field.js';
import type { Inner } from './inner.js';
import type { Input } from '../words/known-output.js';
import { textOfFile } from '../files/line-files.js';
import type { Scope } from '../scope.js';

/** `--pager command`, `--rsh-command=command` and `scripts.name=command`, of any program. */
export const namedPrograms = (args: readonly Field[]): readonly Inner[] =>
  args.flatMap(({ text }, index): readonly Inner[] => {
    const [, value] = /^(?:-|scripts\.|\w+::)/.test(text) ? (programOption.exec(text) ?? []) : [];
    const line = value ?? (takesProgram.test(text) ? args[index + 1]?.text : undefined);
    return line === undefined || !/^\S+\s/.test(line) ? [] : [{ kind: 'line', text: line, isGuess: true }];
  });

/** The last part of the name of an option whose value is a command. */
const ofPrograms = String.raw`(?:command|program|askpass|exec|cmd|pager|browser|wrapper|launcher|hook|invoke|preview|under|pre|pipe|info-script|vettool)`;
const programOption = new RegExp(
  String.raw`^(?:scripts\.[\w:-]{1,40}|-[\w.-]{0,40}${ofPrograms}|[\w-]{1,40}::[\w:-]{0,40}-invoke(?:::)?)=(\S+\s.+)$`,
  'is',
);
const takesProgram = new RegExp(`^--[\\w-]{0,40}${ofPrograms}$`);

/** Actions of a fuzzy finder, shell expansions of RPM and Kakoune, and calls of m4 that run the text in brackets. */
const finderAction =
  /\b(?:execute(?:-silent)?|become|reload(?:-sync)?|transform(?:-[\w-]{1,20})?|preview)[:([{@]([^)\]}@]{1,400})/g;
const expansion = /%(?:sh)?[({]([^)}]{1,400})[)}]/g;
const systemCall = /\b(?:m4_)?e?syscmd\([`[]?([^)]{1,400}?)['\]]?\)/g;

/** Aliases and settings of tools for versions. */
const shellAlias = /^!([^\n]{1,400})/g;
const hgSetting =
  /^(?:--config=)?(?:alias\.[\w-]{1,40}=!|(?:hooks|ui|merge-tools|extdiff)\.[\w.-]{1,40}=)(\S+\s[^\n]{1,400})/g;

const brackets: Readonly<Record<string, RegExp>> = {
  fzf: finderAction,
  sk: finderAction,
  rpm: expansion,
  rpmbuild: expansion,
  rpmspec: expansion,
  kak: expansion,
  m4: systemCall,
  autoconf: systemCall,
  gh: shellAlias,
  hg: hgSetting,
};

/** Maximum number of such texts. */
const maxTexts = 20;

/** Returns the commands in brackets that a program runs, from its arguments and its input. */
export const bracketedLines = (name: string, args: readonly Field[], input: Input | undefined): readonly Inner[] => {
  const pattern = Object.hasOwn(brackets, name) ? brackets[name] : undefined;
  if (pattern === undefined) return [];
  return [...args.map(({ text }) => text), input?.text ?? '']
    .flatMap((text) => [...text.matchAll(pattern)])
    .slice(0, maxTexts)
    .map(([, text = '']): Inner => ({ kind: 'line', text, isGuess: true }));
};

/** Programs whose arguments name files with lines that are arguments, too. */
const readsScripts = /^(?:g?sed|gdb|lldb|m4|autoconf|sqlite3|vim?|nvim|ex|kak)$/;

/** Returns the arguments of such a program with the lines of the files among them that the line has written. */
export const withScripts = (name: string, args: readonly Field[], scope: Scope): readonly Field[] =>
  scope.files.size > 0 && readsScripts.test(name) ? [...args, ...linesOfFiles(scriptsOf(name, args), scope)] : args;

/** Other operands of sed are files that it edits. */
const scriptsOf = (name: string, args: readonly Field[]): readonly Field[] =>
  name.endsWith('sed') ? args.filter((_, index) => /^-(?:\w*f|-file)$/.test(args[index - 1]?.text ?? '')) : args;

const linesOfFiles = (args: readonly Field[], scope: Scope): readonly Field[] =>
  args
    .slice(0, maxScriptArguments)
    .flatMap(({ text }) => textOfFile(scope, text)?.split('\n', maxScriptLines) ?? [])
    .map(known);

/** Maximum numbers of arguments that may name such a file, and of lines of a file. */
const maxScriptArguments = 20;
const maxScriptLines = 100;
