import type { StaticWord } from './static-word.js';

/** The options that a command accepts; any other argument is a problem. */
export interface OptionGrammar {
  /** Letters of short options without a value. */
  readonly flags?: string;
  /** Letters of short options with a value. */
  readonly values?: string;
  /** Letters of short options with an optional value in the same word: `-M90%`. */
  readonly attached?: string;
  /**
   * Long options, separated by spaces: `all`, `format=` for one with a value, `stat stat=` for one with an optional value,
   * which is in the same word. `-name` for options with one dash.
   */
  readonly long?: string;
  /** Maximum number of operands. */
  readonly operands?: number;
  /** Pattern that each operand must match. Without it an operand may be any word that is not an option. */
  readonly operand?: RegExp;
}

/** The reason why a command is outside the grammar, and the argument that causes it. */
export interface GrammarProblem {
  readonly reason: string;
  /** Index of the argument; `-1` for the whole command. */
  readonly at: number;
  /** Whether the argument selects what the command does: a subcommand, or a script of `npm run`. */
  readonly isAction?: true;
}

/** Checks the arguments of one command. */
export type Check = (args: readonly StaticWord[]) => GrammarProblem | undefined;

/** Creates a problem with one argument. */
export const problemAt = (args: readonly StaticWord[], at: number, reason: string): GrammarProblem => ({
  at,
  reason: `${args[at]?.source ?? ''} ${reason}`.trim(),
});

/** Accepts every option, for commands whose options never write files or run programs. */
export const anyOptions: Check = () => undefined;

/** Creates a check from a grammar. */
export const options = (grammar: OptionGrammar): Check => {
  const names = (grammar.long ?? '').split(' ');
  const long = new Set(names);
  return (args) => {
    let operands = 0;
    let isOpen = true;
    for (let index = 0; index < args.length; index += 1) {
      const { value, start, isMany } = args[index] as StaticWord;
      if (isOpen && value === '--') {
        isOpen = false;
      } else if (isOpen && (start === '' || start.startsWith('-')) && value !== '' && value !== '-') {
        if (start === '') return problemAt(args, index, 'may be an option');
        const next = optionAt(args, index, grammar, long);
        if (next === undefined) return problemAt(args, index, 'is not an option that is known only to read');
        index = next;
      } else {
        operands += isMany ? Number.POSITIVE_INFINITY : 1;
        if (operands > (grammar.operands ?? Number.POSITIVE_INFINITY)) {
          const problem = problemAt(args, index, 'exceeds the number of arguments, and may be a file to write');
          return grammar.operands === 0 ? { ...problem, isAction: true } : problem;
        }
        if (grammar.operand?.test(value ?? '\0') === false) return problemAt(args, index, 'is not known only to read');
      }
    }
    return undefined;
  };
};

/** Returns the index of the last word of an option; `undefined` if the option is not in the grammar. */
const optionAt = (
  args: readonly StaticWord[],
  index: number,
  { flags = '', values = '', attached = '' }: OptionGrammar,
  long: ReadonlySet<string>,
): number | undefined => {
  const { value, start, isMany } = args[index] as StaticWord;
  const name = start.split('=', 1)[0] ?? '';
  // `--format="$x"`: the option is known, even if its value is not.
  const plain = name.replace(/^--/, '');
  if (start.includes('=') && long.has(`${plain}=`)) return isMany ? undefined : index;
  if (value !== undefined && !start.includes('=')) {
    if (long.has(plain)) return index;
    if (long.has(`${plain}=`)) return args[index + 1] === undefined ? index : endOfValue(args, index + 1, name);
  }
  if (name.startsWith('--')) return undefined;
  if (value !== undefined && /^-\d+$/.test(value)) return index;
  for (let place = 0; place < start.length - 1; place += 1) {
    const letter = start.charAt(place + 1);
    if (flags.includes(letter)) continue;
    if (attached.includes(letter)) return isMany ? undefined : index;
    if (!values.includes(letter)) return undefined;
    const isLast = place === start.length - 2;
    if (!isLast) return isMany ? undefined : index;
    return value === undefined ? (isMany ? undefined : index) : endOfValue(args, index + 1, `-${letter}`);
  }
  return value === undefined ? undefined : index;
};

/**
 * Returns the index of the value of an option; `undefined` if it could be another option, because some versions of the
 * program take the value from the same word only. A pattern may start with a dash.
 */
const endOfValue = (args: readonly StaticWord[], index: number, option: string): number | undefined => {
  const word = args[index];
  if (word === undefined || word.isMany) return undefined;
  return /^-(?!\d|$)/.test(word.start) && !/^(?:-e|--regexp)$/.test(option) ? undefined : index;
};

/** Chooses the check by the first argument, the subcommand. */
export const subcommands =
  (table: Readonly<Record<string, Check>>): Check =>
  (args) => {
    const name = args[0]?.value ?? '';
    const check = Object.hasOwn(table, name) ? table[name] : undefined;
    if (check === undefined) {
      const reason = 'is not a subcommand that is known only to read';
      return { ...problemAt(args, args.length > 0 ? 0 : -1, reason), isAction: true };
    }
    const problem = check(args.slice(1));
    return problem === undefined ? undefined : { ...problem, reason: `${name} ${problem.reason}`, at: problem.at + 1 };
  };

/** Accepts these subcommands with the same options. */
export const listsOnly = (words: string, grammar: OptionGrammar): Check => subcommands(each(words, options(grammar)));

/** Returns the same check under several names. */
export const each = (names: string, check: Check): Readonly<Record<string, Check>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, check]));
