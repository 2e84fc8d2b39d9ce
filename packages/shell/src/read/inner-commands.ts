import { isKnown, isWhollyUnknown, known, programName, unknownField, unknownText, type Field } from './field.js';
import { readFind } from './find-targets.js';
import { readCode } from './inline-code.js';
import type { Input } from './known-output.js';
import type { Scope } from './scope.js';
import { generators, downloaders } from './sources.js';
import { joined, wrappedCommands, xargsCommand } from './wrapped-commands.js';
import { interpreters, shells, wrappers, type Wrapper } from './wrappers.js';

/** Why a command cannot be judged, or must not be. */
export type ShellProblem =
  | 'unparsable'
  | 'too-complex'
  | 'unknown-program'
  | 'unknown-text'
  | 'runs-download'
  | 'fork-bomb';

/** What a command runs besides itself. */
export type Inner =
  | { readonly kind: 'command'; readonly argv: readonly Field[] }
  | {
      readonly kind: 'line';
      readonly text: string;
      /** Whether what it sets stays set. */
      readonly isSameShell?: boolean | undefined;
      readonly isElsewhere?: boolean | undefined;
      readonly positional?: readonly string[] | undefined;
      /** Text that may be a line or not. */
      readonly isGuess?: boolean | undefined;
    }
  | { readonly kind: 'problem'; readonly problem: ShellProblem };

/** What a command with these arguments runs: through wrappers, shells, `eval`, `find`, `xargs`, code of other languages. */
export const innerCommands = (argv: readonly Field[], input: Input | undefined, scope: Scope): readonly Inner[] => {
  const [first, ...args] = argv;
  const name = programName(first?.text ?? '');
  // Behind `time` with options of its own the name is missing: the parser takes it for the keyword.
  if (name.startsWith('-')) return ofWrapper('time', argv);
  if (shells.has(name)) return ofShell(args, input, scope);
  const direct = Object.hasOwn(runners, name) ? runners[name]?.(args, input, scope) : undefined;
  if (direct !== undefined) return direct;
  const language = /^(?:python|pypy|node|ruby|perl|php|lua)[\d.]*$/.test(name) ? name.replace(/[\d.]+$/, '') : name;
  const wrapped = ofWrapper(name, args);
  return Object.hasOwn(interpreters, language)
    ? [...wrapped, ...ofCode(language, args, input, scope)]
    : [...wrapped, ...ofFile(first, scope)];
};

const runners: Readonly<
  Record<string, (args: readonly Field[], input: Input | undefined, scope: Scope) => readonly Inner[]>
> = {
  eval: (args) => (args.length === 0 ? [] : ofText(joined(args), { isSameShell: true })),
  source: (args, input, scope) => ofScript(args[0], scope, true, input),
  '.': (args, input, scope) => ofScript(args[0], scope, true, input),
  trap: ([text, ...signals]) =>
    text === undefined || signals.length === 0 || text.text === '-' ? [] : ofText(text, { isSameShell: true }),
  find: (args) => readFind(args).commands.map((argv) => ({ kind: 'command', argv })),
  xargs: (args, input) => [{ kind: 'command', argv: xargsCommand(args, input?.paths, input?.text) }],
  parallel: (args, input) => [{ kind: 'command', argv: xargsCommand(args, input?.paths, input?.text) }],
  at: (_, input) => ofInput(input),
  batch: (_, input) => ofInput(input),
  ssh: (args) => ofRemote(args),
  adb: ([first, ...rest]) => (first?.text === 'shell' ? ofText(joined(rest), { isElsewhere: true }) : []),
  git: (args) => ofGit(args),
  tmux: (args) => args.map(({ text }) => ({ kind: 'line', text, isGuess: true })),
  'nix-shell': (args) => ofOption(args, ['--run', '--command']),
  su: (args) => ofOption(args, ['-c', '--command']),
  tar: (args) =>
    ofOption(args.map(withoutExec), ['--to-command', '--checkpoint-action', '-I', '--use-compress-program']),
  fd: (args) => ofFd(args),
  fdfind: (args) => ofFd(args),
};

/** Options of a shell whose value is the next word. */
const shellValues: ReadonlySet<string> = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file']);

const ofShell = (args: readonly Field[], input: Input | undefined, scope: Scope): readonly Inner[] => {
  let takesText = false;
  let readsInput = false;
  let index = 0;
  for (; index < args.length; index += 1) {
    const text = args[index]?.text ?? '';
    if (!/^[-+]./.test(text)) break;
    if (/^-[A-Za-z]*c/.test(text)) takesText = true;
    if (/^-[A-Za-z]*s/.test(text)) readsInput = true;
    if (shellValues.has(text)) index += 1;
  }
  const [operand, ...rest] = args.slice(index).filter(({ text }, place) => place > 0 || text !== '-');
  if (takesText && operand !== undefined) return ofText(operand, { positional: rest.slice(1).map(({ text }) => text) });
  return operand === undefined || readsInput ? ofInput(input) : ofScript(operand, scope, false, input);
};

const ofText = (field: Field, how: Partial<Extract<Inner, { kind: 'line' }>>): readonly Inner[] => {
  if (!isWhollyUnknown(field.text)) return [{ ...how, kind: 'line', text: field.text }];
  if (field.madeBy.some((name) => downloaders.has(name))) return [{ kind: 'problem', problem: 'runs-download' }];
  return field.madeBy.length > 0 && field.madeBy.every((name) => generators.has(name))
    ? []
    : [{ kind: 'problem', problem: 'unknown-text' }];
};

const ofInput = (input: Input | undefined): readonly Inner[] => {
  if (input === undefined) return [];
  if (input.text !== undefined && isKnown(input.text)) return [{ kind: 'line', text: input.text }];
  if (input.programs.some((name) => downloaders.has(name))) return [{ kind: 'problem', problem: 'runs-download' }];
  if (input.text !== undefined && !isWhollyUnknown(input.text)) return [{ kind: 'line', text: input.text }];
  return input.programs.length === 0 ? [] : [{ kind: 'problem', problem: 'unknown-text' }];
};

/** A script in a file is a program of its own, unless this very line wrote or fetched it. */
const ofScript = (field: Field | undefined, scope: Scope, isSameShell: boolean, input?: Input): readonly Inner[] => {
  if (field === undefined) return [];
  if (field.text === '/dev/stdin') return ofInput(input);
  if (field.madeBy.length > 0 && isWhollyUnknown(field.text)) return ofText(field, { isSameShell });
  return ofPath(field.text, scope).map((inner) => (inner.kind === 'line' ? { ...inner, isSameShell } : inner));
};

const ofPath = (path: string, scope: Scope): readonly Inner[] => {
  const name = path.replace(/^\.\//, '');
  const text = scope.files.get(name);
  if (scope.downloads.has(name)) return [{ kind: 'problem', problem: 'runs-download' }];
  return text === undefined ? [] : [{ kind: 'line', text }];
};

const ofFile = (first: Field | undefined, scope: Scope): readonly Inner[] =>
  first?.text.includes('/') === true ? ofPath(first.text, scope) : [];

const ofWrapper = (name: string, args: readonly Field[]): readonly Inner[] => {
  const found = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (found === undefined) return [];
  const [wrapper, rest] = isWrapper(found) ? [found, args] : subcommand(found, args);
  if (wrapper === undefined) return [];
  const { commands, lines } = wrappedCommands(wrapper, rest);
  const split = name === 'env' ? rest.flatMap(splitString) : [];
  return [
    ...commands.map((argv): Inner => ({ kind: 'command', argv })),
    ...[...lines, ...split].flatMap((line) => ofText(line, {})),
  ];
};

/** `env -S'rm -rf /'`, in one word. */
const splitString = (field: Field): readonly Field[] =>
  /^-[a-z]*S./.test(field.text) ? [{ ...field, text: field.text.replace(/^-[a-z]*S/, '') }] : [];

const isWrapper = (value: Wrapper | Readonly<Record<string, Wrapper>>): value is Wrapper =>
  Object.values(value).every((part) => typeof part !== 'object');

const subcommand = (
  table: Readonly<Record<string, Wrapper>>,
  args: readonly Field[],
): readonly [Wrapper | undefined, readonly Field[]] => {
  for (const [index, { text }] of args.entries()) {
    if (Object.hasOwn(table, text)) return [table[text], args.slice(index + 1)];
    const pair = `${text} ${args[index + 1]?.text ?? ''}`;
    if (Object.hasOwn(table, pair)) return [table[pair], args.slice(index + 2)];
    if (index >= 6) break;
  }
  return [undefined, []];
};

const ofCode = (language: string, args: readonly Field[], input: Input | undefined, scope: Scope): readonly Inner[] => {
  const options = interpreters[language] ?? [];
  const isAwk = options.length === 0;
  const at = isAwk
    ? args.findIndex(({ text }) => !text.startsWith('-'))
    : args.findIndex(({ text }) => options.includes(text)) + 1;
  const code = isAwk || at > 0 ? args[at] : undefined;
  if (code !== undefined) {
    if (isWhollyUnknown(code.text)) return ofText(code, {}).filter(({ kind }) => kind === 'problem');
    return fromCode(code.text);
  }
  const operand = args.find(({ text }) => !text.startsWith('-') || text === '-');
  if (operand !== undefined && operand.text !== '-') {
    return ofScript(operand, scope, false).flatMap((inner) => (inner.kind === 'line' ? fromCode(inner.text) : [inner]));
  }
  return args.length > 0 && operand === undefined
    ? []
    : ofInput(input).flatMap((inner) => (inner.kind === 'line' ? fromCode(inner.text) : [inner]));
};

const fromCode = (code: string): readonly Inner[] => {
  const { lines, deletes } = readCode(code);
  return [
    ...lines.map((text): Inner => ({ kind: 'line', text, isGuess: true })),
    ...deletes.map((path): Inner => ({
      kind: 'command',
      argv: [known('rm'), known('-rf'), path === undefined ? unknownField('(a path in the code)') : known(path)],
    })),
  ];
};

const sshValues = /^-[BbcDEeFIiJLlmOopQRSWw]$/;

const ofRemote = (args: readonly Field[]): readonly Inner[] => {
  let index = 0;
  while (args[index]?.text.startsWith('-') === true) index += sshValues.test(args[index]?.text ?? '') ? 2 : 1;
  const rest = args.slice(index + 1);
  return rest.length === 0 ? [] : ofText(joined(rest), { isElsewhere: true });
};

const ofOption = (args: readonly Field[], options: readonly string[]): readonly Inner[] =>
  args.flatMap(({ text }, index) => {
    const value = args[index + 1];
    if (options.includes(text) && value !== undefined) return ofText(value, {});
    const option = options.find((name) => text.startsWith(`${name}=`));
    return option === undefined ? [] : ofText(known(text.slice(option.length + 1)), {});
  });

/** `--checkpoint-action=exec=command` */
const withoutExec = (field: Field): Field => ({ ...field, text: field.text.replace('-action=exec=', '-action=') });

/** `fd pattern -x command`: what it finds is somewhere in the folders that it is given. */
const ofFd = (args: readonly Field[]): readonly Inner[] => {
  const at = args.findIndex(({ text }) => /^(?:-x|-X|--exec|--exec-batch)$/.test(text));
  const folders = args.slice(1, Math.max(at, 1)).filter(({ text }) => !text.startsWith('-'));
  const found = (folders.length > 0 ? folders : [known('.')]).map(({ text }) => known(`${text}/**/found`));
  return at === -1
    ? []
    : [{ kind: 'command', argv: [...args.slice(at + 1).filter(({ text }) => !text.includes('{')), ...found] }];
};

/** Settings of git whose value is a program to run. */
const programSetting =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor)|sequence\.editor|diff\.external|pager\.\w+|credential\.helper)=(.+)$/is;

/** Git runs lines of shell for some of its commands, and those of aliases that are given with it. */
const ofGit = (args: readonly Field[]): readonly Inner[] => {
  const texts = args.map(({ text }) => text);
  const aliases = texts.flatMap((text, index): readonly Inner[] => {
    const [, program] = programSetting.exec(text) ?? [];
    if (program !== undefined) return [{ kind: 'line', text: program, isGuess: true }];
    const next = texts[index + 1] ?? '';
    const [, body] =
      /^alias\.[^=]+=([\s\S]+)$/.exec(text) ?? (/^alias\.\S+$/.test(text) && next.startsWith('!') ? [text, next] : []);
    if (body === undefined || body === '') return [];
    return [{ kind: 'line', text: body.startsWith('!') ? body.slice(1) : `git ${body}` }];
  });
  const foreach = texts.indexOf('foreach');
  const bisect = texts.indexOf('bisect');
  return [
    ...aliases,
    ...(foreach > 0 && texts.includes('submodule')
      ? ofText(joined(args.slice(foreach + 1).filter(({ text }) => text !== '--recursive')), {})
      : []),
    ...(bisect !== -1 && texts[bisect + 1] === 'run'
      ? [{ kind: 'command' as const, argv: args.slice(bisect + 2) }]
      : []),
    ...(texts.includes('rebase') ? ofOption(args, ['-x', '--exec']) : []),
    ...(texts.includes('filter-branch')
      ? ofOption(args, ['--tree-filter', '--index-filter', '--msg-filter', '--commit-filter'])
      : []),
  ];
};

/** Where nothing is known of the folder. */
export const somewhere = unknownText;
