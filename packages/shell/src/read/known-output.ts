import { isKnown, programName, unknownText, type Field } from './field.js';
import type { Output } from './expand-word.js';
import type { Scope } from './scope.js';

/** What a command reads. */
export interface Input {
  readonly text: string | undefined;
  readonly programs: readonly string[];
  readonly paths?: readonly string[] | undefined;
}

/** What a command prints, where that is plain without running it. */
export const knownOutput = (argv: readonly Field[], input: Input | undefined, scope: Scope): Output => {
  const name = programName(argv[0]?.text ?? '');
  const args = argv.slice(1).map(({ text }) => text);
  const programs = [...(input?.programs ?? []), name];
  return { text: textOf(name, args, input, scope), programs, paths: pathsOf(name, input) };
};

const textOf = (name: string, args: readonly string[], input: Input | undefined, scope: Scope): string | undefined => {
  switch (name) {
    case 'echo':
      return `${args.filter((arg, index) => index > 0 || !/^-[neE]+$/.test(arg)).join(' ')}\n`;
    case 'printf':
      return printed(args);
    case 'pwd':
      return scope.cwd;
    case 'mktemp':
      return `/tmp/made-by-mktemp`;
    case 'cat':
      return args.length === 0 || (args.length === 1 && args[0] === '-') ? input?.text : scope.files.get(args[0] ?? '');
    case 'tee':
      return input?.text;
    case 'git':
      return args.join(' ') === 'rev-parse --show-toplevel' ? scope.project : undefined;
    default:
      return undefined;
  }
};

const printed = ([format, ...values]: readonly string[]): string | undefined => {
  if (format === undefined || !isKnown(format)) return undefined;
  const rest = [...values];
  const once = (): string =>
    format.replaceAll(/%(?:%|[-0-9.]*[a-zA-Z])/g, (code) => (code === '%%' ? '%' : (rest.shift() ?? '')));
  let text = once();
  while (rest.length > 0 && rest.length < values.length && text.length < 10_000) text += once();
  return text
    .replaceAll(String.raw`\n`, '\n')
    .replaceAll(String.raw`\t`, '\t')
    .replaceAll(/\\x([0-9a-fA-F]{2})|\\0?([0-7]{3})/g, escaped);
};

const escaped = (_: string, hex: string | undefined, octal: string | undefined): string =>
  String.fromCharCode(hex === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(hex, 16));

/** Filters pass on paths that were listed before them. */
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

/** Programs that list paths within the folder that they run in. */
const listers: ReadonlySet<string> = new Set(['fd', 'fdfind', 'rg', 'grep', 'git']);

const pathsOf = (name: string, input: Input | undefined): readonly string[] | undefined => {
  if (input?.paths !== undefined && filters.has(name)) return input.paths;
  return input === undefined && listers.has(name) ? [`./listed/${unknownText}`] : undefined;
};
