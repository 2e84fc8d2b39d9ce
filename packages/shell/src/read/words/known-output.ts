import { isKnown, isWhollyUnknown, programName, unknownText, type Field } from './field.js';
import type { Output } from './expand-word.js';
import { hasFile, textOfFile } from '../files/line-files.js';
import { isOrdinary } from '../commands/ordinary.js';
import { resolvePath } from '../files/resolve-path.js';
import type { Scope } from '../scope.js';
import {
  isSecretPath,
  namesStored,
  passesInput,
  printsSecret,
  printsStored,
  secretMark,
  secretVariableMark,
  storedMark,
} from '../files/secrets.js';

/** The standard input of a command. */
export interface Input {
  readonly text: string | undefined;
  readonly programs: readonly string[];
  readonly paths?: readonly string[] | undefined;
  /** The file that is the input. */
  readonly file?: string | undefined;
}

/** Marks settings of the machine, in the list of programs that produced them: they name its users and services. */
export const machineMark = '(machine)';
export const ofMachine = /^\/etc\/(?:passwd|group|hosts|hostname|fstab|crontab|ssh|ssl|nginx|apache2?)(?:\/|$)/;

/** Marks settings or an environment, in the list of programs that produced them: some of their values are secrets. */
export const settingsMark = '(settings)';

/** Commands that print settings or an environment as a whole, with their arguments. */
const printsSettings =
  /^(?:ps -?[a-z]*e[a-z]*w|ps [a-z]*e[a-z]*$|(?:docker|podman) (?:container )?inspect\b|(?:docker|podman)[ -]compose .*config$|kubectl (?:get|describe) (?:cm|configmap)|npm config (?:list|ls)|helm get (?:values|all|manifest)|(?:terraform|tofu) (?:(?:state )?show|state pull)|cat \S*(?:\.npmrc|\.yarnrc\.yml|pip\.conf|gradle\.properties|\/settings\.xml)$|systemctl show|pm2 env |aws (?:lambda get-function-configuration|ecs describe-task-definition)|gcloud run services describe|compgen -[ve]|(?:python|node|ruby|perl|php)[\d.]* .*(?:os\.environ\b|process\.env\b(?!\.)|\bENV\b|\$_ENV))/;

/** Marks output without end, in the list of programs that produced it. */
const endlessMark = '(endless)';

/** Programs that print as much as they read. */
const passing = /^(?:cat|tee|tr|base64|gzip|bzip2|xz|zstd|pv|rev|dd)$/;

/** Returns whether a command prints without end: by itself, or because it passes on such an input. */
export const isEndless = (name: string, args: readonly string[], reads: readonly string[]): boolean =>
  name === 'yes' ||
  (passing.test(name) &&
    !args.some((word) => word.startsWith('count=')) &&
    (reads.includes(endlessMark) || args.some((word) => /^(?:if=)?\/dev\/(?:zero|u?random|full)$/.test(word))));

/** Number of characters of the arguments that are compared with commands that print settings. */
const maxArguments = 400;

/** The folder that stands for one that `mktemp` creates. */
export const temporaryFolder = '/tmp/made-by-mktemp';

/** Predicts the output of a command if it is certain. */
export const knownOutput = (argv: readonly Field[], input: Input | undefined, scope: Scope): Output => {
  const name = programName(argv[0]?.text ?? '');
  const args = argv.slice(1).map(({ text }) => text);
  const readsSecret =
    input?.programs.includes(secretMark) === true || argv.some(({ madeBy }) => madeBy.includes(secretMark));
  const isSecret = (path: string): boolean =>
    hasFile(scope.secrets, path, scope) || isSecretPath(path, scope.cwd, scope);
  const programs = [
    ...(input?.programs ?? []).filter(
      (program) =>
        program !== secretMark &&
        program !== endlessMark &&
        ((program !== storedMark && !program.startsWith(secretVariableMark)) || passesInput(name, args)),
    ),
    name,
    ...(/^(?:cat|head|tail|grep|awk|sed|base64|tar|gzip|xxd)$/.test(name) && args.some((word) => ofMachine.test(word))
      ? [machineMark]
      : []),
    ...(printsSettings.test(`${name} ${args.join(' ').slice(0, maxArguments)}`) ? [settingsMark] : []),
    ...(isEndless(name, args, input?.programs ?? []) ? [endlessMark] : []),
    ...(/^(?:echo|printf)$/.test(name)
      ? argv.flatMap(({ madeBy }) => madeBy.filter((mark) => mark.startsWith(secretVariableMark)))
      : []),
    ...(printsSecret(name, args, isSecret, readsSecret) ? [secretMark] : []),
    ...(printsStored(name, args.join(' ').slice(0, maxArguments)) ||
    (!isOrdinary(name) && namesStored(args.filter((word) => !word.startsWith('-'))))
      ? [storedMark]
      : []),
  ];
  const file = /^(?:cat|pv)$/.test(name) && args.length === 1 ? args[0] : undefined;
  return { text: textOf(name, args, input, scope), programs, paths: pathsOf(name, args, input), file };
};

const textOf = (name: string, args: readonly string[], input: Input | undefined, scope: Scope): string | undefined => {
  switch (name) {
    case 'echo':
      return echoed(args);
    case 'printf':
      return printed(args);
    case ':':
    case 'true':
    case 'test':
    case '[':
    case 'set':
    case 'export':
    case 'local':
    case 'shift':
      return args.length === 0 && (name === 'set' || name === 'export') ? undefined : '';
    case 'declare':
    case 'typeset':
      // A shell that the line starts knows its functions anyway.
      return args[0] === '-f' ? ':\n' : args.some((word) => word.includes('=')) ? '' : undefined;
    case 'pwd':
      return scope.cwd;
    case 'which':
      return args.length === 1 ? `${args[0]}\n` : undefined;
    case 'command':
    case 'type':
      return args.length === 2 && /^-[vpP]$/.test(args[0] ?? '') ? `${args[1]}\n` : undefined;
    // Only these folders certainly exist, and are no links within the project.
    case 'cd':
      return isAbove(scope.cwd, scope) ? '' : undefined;
    case 'readlink':
    case 'realpath': {
      const [last = ''] = args.slice(-1);
      const path = resolvePath(last, scope.cwd);
      if (args.length === 1 && name === 'realpath' && isAbove(path, scope)) return `${path}\n`;
      // A link may lead to any folder, but rarely to another name.
      const isPlain = args.length === (name === 'realpath' ? 1 : 2) && (name === 'realpath' || args[0] === '-f');
      return isPlain && path !== '/' ? `${unknownText}/${programName(path)}\n` : undefined;
    }
    case 'dirname':
      return args.length === 1 ? `${folderOf(args[0] ?? '')}\n` : undefined;
    case 'basename':
      return args.length === 1 ? `${programName((args[0] ?? '').replace(/\/+$/, ''))}\n` : undefined;
    case 'mktemp':
      return temporaryFolder;
    case 'cat':
      return args.length === 0 || (args.length === 1 && args[0] === '-')
        ? input?.text
        : textOfFile(scope, args[0] ?? '');
    case 'tee':
      return input?.text;
    case 'git':
      if (/^rev-parse --git-path [^ ]+$/.test(args.join(' '))) return `.git/${args[2]}\n`;
      return gitFolders[args.join(' ')]?.(scope);
    default:
      return undefined;
  }
};

/** Returns whether a path is the folder of the project, or one that contains it. */
const isAbove = (path: string, { project }: Scope): boolean =>
  `${project}/`.startsWith(path === '/' ? path : `${path}/`);

const folderOf = (path: string): string => {
  const [, folder] = /^(.*?)\/+[^/]*\/*$/s.exec(path) ?? [];
  if (folder !== undefined) return folder === '' ? '/' : folder;
  return isKnown(path) ? '.' : unknownText;
};

const gitFolders: Readonly<Record<string, (scope: Scope) => string>> = {
  'rev-parse --show-toplevel': ({ project }) => project,
  'rev-parse --git-dir': ({ project }) => `${project}/.git`,
};

const echoed = (args: readonly string[]): string => {
  const text = `${args.filter((arg, index) => index > 0 || !/^-[neE]+$/.test(arg)).join(' ')}\n`;
  return /^-[nE]*e/.test(args[0] ?? '') ? unescaped(text) : text;
};

const printed = ([format, ...values]: readonly string[]): string | undefined => {
  if (format === undefined || !isKnown(format)) return undefined;
  const rest = [...values];
  const once = (): string =>
    format.replaceAll(/%(?:%|[-0-9.]*[a-zA-Z])/g, (code) => (code === '%%' ? '%' : (rest.shift() ?? '')));
  let text = once();
  while (rest.length > 0 && rest.length < values.length && text.length < 10_000) text += once();
  return unescaped(text);
};

/** Replaces escape sequences. Lists that \0 separates are split like lines. */
const unescaped = (text: string): string =>
  text
    .replaceAll(/\\(?:n|0(?![0-7]{2}))/g, '\n')
    .replaceAll(String.raw`\t`, '\t')
    .replaceAll(/\\x([0-9a-fA-F]{1,2})|\\0?([0-7]{2,3})/g, escaped);

const escaped = (_: string, hex: string | undefined, octal: string | undefined): string =>
  String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16));

/** Filters pass paths that were listed before them. */
const filters: ReadonlySet<string> = new Set([
  'grep',
  'egrep',
  'sort',
  'uniq',
  'head',
  'tail',
  'tac',
  'rg',
  'tee',
  'cat',
  'shuf',
]);

/** Programs that list paths in their current folder, with the arguments that list every file. */
const listers: Readonly<Record<string, (words: readonly string[], operands: readonly string[]) => boolean>> = {
  fd: (words, operands) =>
    isWide(operands[0]) && !words.some((word) => /^-(?:e|E|d)$|^--(?:extension|size|changed)/.test(word)),
  fdfind: (words, operands) =>
    isWide(operands[0]) && !words.some((word) => /^-(?:e|E|d)$|^--(?:extension|size|changed)/.test(word)),
  rg: (words, operands) =>
    (words.includes('--files') || (words.some((word) => /^-[A-Za-z]*l/.test(word)) && isWide(operands[0]))) &&
    !words.some((word) => /^-(?:g|t)|^--(?:glob|type)/.test(word)),
  grep: (words, operands) => words.some((word) => /^-[A-Za-z]*l/.test(word)) && isWide(operands[0]),
  git: (words, operands) =>
    (words[0] === 'ls-files'
      ? operands.slice(1).every(isWide)
      : words[0] === 'ls-tree' && words.some((word) => /^-[a-z]*r/.test(word)) && operands.slice(2).every(isWide)) &&
    !words.some((word) => /^-x|^--exclude=/.test(word)) &&
    // Deleted files are gone already, but each further letter adds others.
    (!words.some((word) => /^-[a-z]*d[a-z]*$|^--deleted$/.test(word)) ||
      words.some((word) => /^-[a-z]*[cmo][a-z]*$|^--(?:cached|modified|others)$/.test(word))),
  ls: (words, operands) => operands.every(isWide) && !words.includes('-d'),
};

/** Returns whether a pattern matches every name. */
export const isWide = (pattern: string | undefined): boolean =>
  pattern === undefined || /^[.*?/\\^$+]*$/.test(pattern) || isWhollyUnknown(pattern);

const pathsOf = (name: string, args: readonly string[], input: Input | undefined): readonly string[] | undefined => {
  if (input?.paths !== undefined && filters.has(name)) {
    // The matches of a pattern are among the listed paths.
    const isNarrow = /grep$|^rg$/.test(name) && !args.some((word) => /^-[A-Za-z]*v/.test(word));
    return isNarrow ? input.paths.map((path) => `${path.replace(/\/+$/, '')}/**/found`) : input.paths;
  }
  const isComplete = Object.hasOwn(listers, name) ? listers[name] : undefined;
  if (isComplete === undefined || (input !== undefined && name !== 'ls' && name !== 'git')) return undefined;
  const isValue = (index: number): boolean =>
    name.startsWith('fd') && /^(?:-t|--type|-d|-c|-j)$/.test(args[index - 1] ?? '');
  const operands = args.filter((word, index) => !word.startsWith('-') && !isValue(index));
  if (isComplete(args, operands)) return ['.'];
  // The shell replaces the pattern by the names that `ls` prints.
  if (name === 'ls') return operands.every((word) => /\*\.\w+$|\/[\w.*-]+$/.test(word)) ? operands : undefined;
  // The first operand is a pattern.
  const [first, ...folders] = name === 'git' ? [] : operands.slice(name === 'rg' && args.includes('--files') ? 0 : 1);
  return first === undefined ? [`./listed/${unknownText}`] : [first, ...folders].map((folder) => `${folder}/**/found`);
};
