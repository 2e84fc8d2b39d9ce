import type { ShellCommand, ShellWord } from './shell-line.js';

/** What an otherwise harmless command must not be given. */
interface Limits {
  /** Options as they are written, long ones also when they are shortened; `-o` also within `-uo` and `-ofile`. */
  readonly options?: readonly string[];
  /** How many arguments besides options there may be; one more would be written to. */
  readonly operands?: number;
  /** The first argument has to be one of these. */
  readonly first?: readonly string[];
}

const harmless = [
  '[',
  ':',
  'basename',
  'break',
  'builtin',
  'cat',
  'cd',
  'cmp',
  'comm',
  'command',
  'continue',
  'cut',
  'declare',
  'df',
  'diff',
  'dirname',
  'du',
  'echo',
  'egrep',
  'env',
  'exit',
  'export',
  'expr',
  'false',
  'fgrep',
  'fold',
  'grep',
  'head',
  'hexdump',
  'id',
  'join',
  'jq',
  'local',
  'ls',
  'md5sum',
  'nice',
  'nl',
  'nproc',
  'od',
  'paste',
  'printenv',
  'printf',
  'pwd',
  'readlink',
  'readonly',
  'realpath',
  'return',
  'rev',
  'seq',
  'set',
  'sha1sum',
  'sha256sum',
  'sha512sum',
  'shift',
  'sleep',
  'stat',
  'stdbuf',
  'strings',
  'tac',
  'tail',
  'test',
  'time',
  'timeout',
  'tr',
  'true',
  'type',
  'uname',
  'unset',
  'wc',
  'which',
  'whoami',
  'xargs',
] as const;

const gitOptions = [
  '-c',
  '--config-env',
  '--exec-path',
  '--output',
  '--ext-diff',
  '--textconv',
  '--open-files-in-pager',
  '-O',
  '-p',
  '--paginate',
];

/** Commands that only read. A command that is missing here counts as one that writes. */
const readers: ReadonlyMap<string, Limits> = new Map<string, Limits>([
  ...harmless.map((name): [string, Limits] => [name, {}]),
  ['date', { options: ['-s', '--set'], operands: 0 }],
  ['file', { options: ['-C', '--compile'] }],
  ['find', { options: ['-delete', '-fls', '-fprint', '-fprint0', '-fprintf'] }],
  [
    'git',
    {
      options: gitOptions,
      first: ['blame', 'describe', 'diff', 'log', 'ls-files', 'rev-parse', 'shortlog', 'show', 'status'],
    },
  ],
  ['rg', { options: ['--pre', '--hostname-bin', '-z', '--search-zip'] }],
  ['sort', { options: ['-o', '--output', '--compress-program', '-T', '--temporary-directory'] }],
  ['tree', { options: ['-o'] }],
  ['uniq', { operands: 1 }],
  ['xxd', { options: ['-r', '-revert'], operands: 1 }],
]);

/** Where output may go without anything being written. */
const sinks: ReadonlySet<string | undefined> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr']);

/** Why a command is not one that only reads; `undefined` if it is. */
export const whyItWrites = ({ words, writesTo }: ShellCommand): string | undefined => {
  const target = writesTo.find(({ value }) => !sinks.has(value));
  if (target !== undefined) return `it writes to ${target.value ?? 'a file'}`;
  const [first, ...args] = words;
  if (first === undefined) return undefined;
  if (first.value === undefined) return 'it runs a command whose name is only known when it runs';
  if (first.value === 'sed') {
    return printsLines(args) ? undefined : 'sed may write; only "sed -n 5,10p" is known to read';
  }
  const limits = readers.get(first.value);
  if (limits === undefined) return `${first.value} is not known only to read`;
  return whyLimited(first.value, limits, args);
};

const printsLines = ([option, script, ...files]: readonly ShellWord[]): boolean =>
  option?.value === '-n' &&
  /^\d+(?:,(?:\d+|\$))?p$/.test(script?.value ?? '') &&
  files.every(({ start }) => /^[^-]/.test(start));

const whyLimited = (
  name: string,
  { options = [], operands, first }: Limits,
  args: readonly ShellWord[],
): string | undefined => {
  const isLimited = options.length > 0 || operands !== undefined || first !== undefined;
  if (isLimited && args.some(({ value, start }) => value === undefined && /^(?:-.*)?$/.test(start))) {
    return `${name} gets an argument that is only known when it runs`;
  }
  const refused = args.find(({ start }) => options.some((option) => isOption(start, option)));
  if (refused !== undefined) return `${name} ${refused.start} may write or run something`;
  if (first !== undefined && !first.includes(args[0]?.value ?? '')) {
    return `only ${name} ${first.join(', ')} are known only to read`;
  }
  const count = args.filter(({ start }) => !/^[-+]./.test(start)).length;
  return operands !== undefined && count > operands ? `${name} writes to its second file` : undefined;
};

/** Whether a word is this option: long ones may be shortened and have a value, single letters may stand in a cluster. */
const isOption = (word: string, option: string): boolean => {
  const [name = ''] = word.split('=', 1);
  if (option.startsWith('--')) return name.length > 2 && (option.startsWith(name) || name === option);
  return option.length === 2 ? /^-[A-Za-z0-9]/.test(word) && word.includes(option.slice(1)) : name === option;
};
