import { isWhollyUnknown, known, unknownField, type Field } from './field.js';
import { ofInput, ofScript, ofText, type Inner } from './inner.js';
import { readCode } from './inline-code.js';
import type { Input } from './known-output.js';
import type { Scope } from './scope.js';
import { secretMark } from './secrets.js';
import { interpreters } from './wrappers.js';

/** Maximum number of arguments that are searched for code. */
const maxArguments = 20;

/** `-we`: in Perl and Ruby the letter may close a cluster of options. */
const isCodeOption = (language: string, text: string): boolean =>
  /^(?:perl|ruby)$/.test(language) && /^-[A-Za-z0-9]*[eE]$/.test(text);

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
      name.startsWith('--') ? field.text.startsWith(`${name}=`) : name.length === 2 && field.text.startsWith(name),
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
  const module = language.startsWith('python') ? args.findIndex(({ text }) => text === '-m') : -1;
  if (module !== -1) return [{ kind: 'command', argv: args.slice(module + 1) }];
  const at = args.findIndex(({ text }) =>
    isAwk ? !text.startsWith('-') : options.includes(text) || isCodeOption(language, text),
  );
  const code = at === -1 ? attachedCode(options, args) : args[isAwk ? at : at + 1];
  if (code !== undefined) {
    if (isWhollyUnknown(code.text)) return ofText(code, {}).filter(({ kind }) => kind === 'problem');
    // The other arguments are a command if the code runs its arguments.
    const rest = args.slice(at + (isAwk ? 1 : 2));
    const own: readonly Inner[] =
      at !== -1 && rest.length > 0 && /\bargv\b|\bARGV\b/.test(code.text)
        ? [{ kind: 'command', argv: rest, isGuess: true }]
        : [];
    const isPrinted = language === 'node' && /^-[a-z]*p|^--print/.test(args[at]?.text ?? '');
    return [...own, ...fromCode(isPrinted ? `console.log(${code.text})` : code.text)];
  }
  const operand = args.find(({ text }) => (!text.startsWith('-') && text !== 'run') || text === '-');
  if (input?.text !== undefined && args.some(({ text }) => /^(?:c|console|shell(?:_plus)?|tinker)$/.test(text))) {
    return fromCode(input.text);
  }
  if (operand !== undefined && operand.text !== '-') {
    return ofScript(operand, scope, false).flatMap((inner) => (inner.kind === 'line' ? fromCode(inner.text) : [inner]));
  }
  return args.length > 0 && operand === undefined
    ? []
    : ofInput(input).flatMap((inner) => (inner.kind === 'line' ? fromCode(inner.text) : [inner]));
};

/** Returns what code in another language runs, deletes, writes, sends and displays. */
export const fromCode = (code: string): readonly Inner[] => {
  const { lines, deletes, sends, sendsEnvironment, writes, pipes, shows, showsVariables, sql, runsUnknown, forks } =
    readCode(code);
  return [
    ...writes.flatMap(written),
    ...pipes.map((text): Inner => ({
      kind: 'line',
      text,
      isGuess: true,
      input: { text: undefined, programs: ['awk'] },
    })),
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
