import { isWhollyUnknown, known, unknownField, type Field } from '../words/field.js';
import { ofInput, ofScript, ofText, unknownInput, type Inner } from '../commands/inner.js';
import { onlyPrints, readCode, runsPrograms } from './inline-code.js';
import type { Input } from '../words/known-output.js';
import { textOfFile } from '../files/line-files.js';
import type { Scope } from '../scope.js';
import { secretMark } from '../files/secrets.js';
import { interpreters } from '../commands/wrappers.js';

/** Maximum number of arguments that are searched for code. */
const maxArguments = 20;

/** `-we`: in Perl and Ruby the letter may close a cluster of options, but not the name of a module: `-rdate`. */
const isCodeOption = (language: string, text: string): boolean =>
  /^(?:perl|ruby)$/.test(language) && /^-(?![IMmr])[A-Za-z0-9]*[eE]$/.test(text);

/** Options of awk whose next word is their value. */
const awkValue = /^(?:-[vFi]|--(?:assign|field-separator|include))$/;

/** A file that a program writes without a redirection. */
export const written = (path: string | undefined): readonly Inner[] =>
  path === undefined ? [] : [withPath('tee', path)];

/** A command with a path from code. Code may expand a tilde itself. */
const withPath = (command: string, path: string): Inner =>
  /^~(?:\/|$)/.test(path)
    ? { kind: 'line', text: `${command} ~'${path.slice(1).replaceAll("'", '')}'` }
    : { kind: 'command', argv: [...command.split(' ').map(known), known(path)] };

/** `--eval=code` and `-c'code'`: code in the same word as its option. */
const attachedCode = (options: readonly string[], args: readonly Field[]): Field | undefined => {
  for (const field of args.slice(0, maxArguments)) {
    const option = options.find((name) =>
      name.startsWith('--')
        ? /^[=:]/.test(field.text.startsWith(name) ? field.text.slice(name.length) : '')
        : name.length === 2 && field.text.startsWith(name),
    );
    if (option === undefined) continue;
    return { ...field, text: field.text.slice(option.length + (option.startsWith('--') ? 1 : 0)) };
  }
  return undefined;
};

/** Returns what code in the arguments or the input of an interpreter runs. */
export const ofCode = (
  language: string,
  args: readonly Field[],
  input: Input | undefined,
  scope: Scope,
): readonly Inner[] => {
  const options = interpreters[language] ?? [];
  const isAwk = options.length === 0;
  const isJavaScript = /^(?:node|nodejs|deno|bun|tsx|ts-node|zx|mongosh)$/.test(language);
  const module = language.startsWith('python') ? args.findIndex(({ text }) => text === '-m') : -1;
  if (module !== -1) return [{ kind: 'command', argv: args.slice(module + 1) }];
  const at = isAwk
    ? args.findIndex(({ text }, index) => !text.startsWith('-') && !awkValue.test(args[index - 1]?.text ?? ''))
    : args.findIndex(({ text }) => options.includes(text) || isCodeOption(language, text));
  const option = isAwk ? args.findIndex(({ text }) => /^(?:-f|--file)$/.test(text)) : -1;
  const file = option === -1 ? undefined : args[option + 1];
  const script = file === undefined ? undefined : textOfFile(scope, file.text);
  const code =
    script === undefined ? (at === -1 ? attachedCode(options, args) : args[isAwk ? at : at + 1]) : known(script);
  if (code !== undefined) {
    if (isWhollyUnknown(code.text)) return ofText(code, {}).filter(({ kind }) => kind === 'problem');
    const rest = args.slice(at + (isAwk ? 1 : 2));
    const own = at === -1 ? [] : ofArguments(code.text, rest);
    const isPrinted = language === 'node' && /^-[a-z]*p|^--print/.test(args[at]?.text ?? '');
    return [...own, ...fromCode(isPrinted ? `console.log(${code.text})` : code.text, isJavaScript, input)];
  }
  // The first operand of a client may be an address.
  const operand =
    args.slice(0, maxArguments).find(({ text }) => textOfFile(scope, text) !== undefined) ??
    args.find(({ text }) => (!text.startsWith('-') && text !== 'run') || text === '-');
  if (input?.text !== undefined && args.some(({ text }) => /^(?:c|console|shell(?:_plus)?|tinker|fsi)$/.test(text))) {
    return fromCode(input.text, isJavaScript);
  }
  const rest = operand === undefined ? [] : args.slice(args.indexOf(operand) + 1);
  const read = (inner: Inner): readonly Inner[] =>
    inner.kind === 'line'
      ? [
          ...(runsPrograms(inner.text, isJavaScript) ? ofArguments(inner.text, rest) : []),
          ...fromCode(inner.text, isJavaScript),
        ]
      : [inner];
  if (operand !== undefined && operand.text !== '-') return ofScript(operand, scope, false).flatMap(read);
  // The input of awk is data, and some options only print.
  const isData = isAwk || args.some(({ text }) => /^(?:-[hVv]|--(?:help|version))$/.test(text));
  return operand === undefined && isData ? [] : ofInput(input).flatMap(read);
};

/** The arguments of code are a command, or a line, if it runs them. */
const ofArguments = (code: string, args: readonly Field[]): readonly Inner[] => {
  const [first] = args;
  if (first === undefined || !/\bargv\b|\bARGV\b|\bDeno\.args\b/.test(code)) return [];
  return /\s/.test(first.text) ? ofText(first, { isGuess: true }) : [{ kind: 'command', argv: args, isGuess: true }];
};

/** In Perl, `unlink` without an argument deletes the file that the line names. */
const deletesLine = /\bunlink\b(?:\s*\(?\s*\$_\b)?\s*\)?\s*(?:[;}]|$)/;

/** Returns what code in another language runs, deletes, writes, sends and displays. */
export const fromCode = (code: string, isJavaScript = false, input?: Input): readonly Inner[] => {
  if (isJavaScript && onlyPrints.test(code)) return [];
  const read = readCode(code, isJavaScript);
  const { lines, deletes, sends, sendsEnvironment, writes, pipes, shows, showsVariables, sql, runsUnknown, forks } =
    read;
  return [
    ...read.runs.map((text): Inner => ({ kind: 'line', text, mayBeInvalid: true })),
    ...writes.flatMap(written),
    ...pipes.map((text): Inner => ({
      kind: 'line',
      text,
      isGuess: true,
      input: { text: undefined, programs: ['awk'] },
    })),
    ...(deletesLine.test(code) ? [{ kind: 'command' as const, argv: ['xargs', 'rm'].map(known) }] : []),
    ...(read.runsInput ? ofInput(input ?? unknownInput) : []),
    ...(read.sendsInput
      ? [{ kind: 'command' as const, argv: ['curl', '-d', '@-', 'https://other.machine'].map(known) }]
      : []),
    ...(sendsEnvironment
      ? [{ kind: 'command' as const, argv: [known('curl'), unknownField('(the environment)', [secretMark])] }]
      : []),
    ...shows.map((path): Inner => ({ kind: 'command', argv: [known('cat'), known(path)] })),
    ...showsVariables.map((name): Inner => ({ kind: 'command', argv: [known('printenv'), known(name)] })),
    ...sql.map(statement),
    ...(forks ? [{ kind: 'problem' as const, problem: 'fork-bomb' as const }] : []),
    ...(runsUnknown ? [{ kind: 'problem' as const, problem: 'unknown-text' as const }] : []),
    ...sends.map((path): Inner => ({ kind: 'command', argv: [known('curl'), known('-T'), known(path)] })),
    ...lines.map((text): Inner => ({ kind: 'line', text, isGuess: true })),
    ...deletes.map(deletion),
  ];
};

/** SQL that code sends. */
export const statement = (text: string): Inner => ({
  kind: 'command',
  argv: [known('psql'), known('-c'), known(text)],
});

/** The deletion of a path by code; `undefined` for a path that is unknown until it runs. */
export const deletion = (path: string | undefined): Inner =>
  path === undefined
    ? { kind: 'command', argv: [known('rm'), known('-rf'), unknownField('(a path in the code)')] }
    : withPath('rm -rf', path);
