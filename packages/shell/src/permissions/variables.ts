import { forEachChild, type ArithmeticExpression, type Assignment, type SyntaxNode, type Word } from 'unbash';
import { noDash, type StaticWord } from './static-word.js';
import { refuse } from './refusal.js';

/** All values that a script assigns to one variable. */
type Definition =
  | { readonly kind: 'word' | 'each'; readonly word: Word }
  | { readonly kind: 'number' | 'unknown'; readonly word?: undefined };

/** The value of a variable, as far as all assignments in the script agree. */
interface VariableValue {
  readonly value: string | undefined;
  readonly start: string;
  readonly isMany: boolean;
  readonly isSplit?: boolean;
}

/**
 * Variables that the shell or common programs read: a new value changes the effect of a harmless command. Bash evaluates
 * those of numbers as arithmetic, and those of lists as arrays.
 */
const reserved =
  /^(?:PATH|IFS|ENV|HOME|S?RANDOM|SECONDS|LINENO|EPOCH.*|DIRSTACK|GROUPS|PIPESTATUS|FUNCNAME|MAPFILE|CDPATH|SHELL|PS[0-4]|PROMPT_.*|GLOBIGNORE|EXECIGNORE|FIGNORE|TMPDIR|TMP|TEMP|OLDPWD|PWD|USER|LOGNAME|MAIL.*|HIST.*|READLINE.*|COMP_.*|COMPREPLY|COPROC|FUNCNEST|INPUTRC|OPT(?:ARG|IND|ERR)|POSIX.*|REPLY|SHELLOPTS|TEXTDOMAIN.*|BASH.*|LD_.*|DYLD_.*|GIT_.*|SSH_.*|GPG.*|GNUPG.*|XDG_.*|LESS.*|MORE|MAN.*|PAGER|EDITOR|VISUAL|BROWSER|FCEDIT|GREP_OPTIONS|GZIP|BZIP.*|XZ_.*|ZSTD_.*|TAR_.*|TAPE|RSYNC_.*|NODE_.*|NPM_.*|YARN_.*|PNPM_.*|DENO_.*|BUN_.*|PYTHON.*|PIP_.*|PERL.*|RUBY.*|GEM_.*|BUNDLE_.*|JAVA_.*|JDK_.*|_JAVA_OPTIONS|GO[A-Z]+|CARGO.*|RUST.*|CC|CXX|CPP|LD|AR|MAKE.*|CMAKE.*|DOCKER_.*|KUBE.*|AWS_.*|GH_.*|GITHUB_.*|RIPGREP_.*|BAT_.*|FZF_.*|JQ_.*|LOCPATH|NLSPATH|MALLOC_.*|GLIBC_.*|GCONV_PATH|HOSTALIASES|RES_OPTIONS|TERMINFO.*|TERMCAP|LS_.*|SYSTEMD_.*|PG.*|MYSQL.*|.*_proxy|.*_PROXY|ZDOTDIR|FPATH|DISPLAY|DBUS_.*|LOCALE_.*|POSIXLY_CORRECT|_)$/;

/** Variables that may be set for a command: they only change its output format. */
const harmlessExports: ReadonlyMap<string, RegExp> = new Map([
  ...['LANG', 'LANGUAGE', 'TZ', 'COLUMNS', 'LINES', 'NO_COLOR', 'FORCE_COLOR', 'CLICOLOR', 'CI', 'TERM'].map(
    (name) => [name, /^[\w.+:/@-]*$/] as const,
  ),
  ...['PAGER', 'GIT_PAGER', 'MANPAGER', 'GH_PAGER', 'BAT_PAGER', 'SYSTEMD_PAGER'].map(
    (name) => [name, /^(?:cat)?$/] as const,
  ),
  ...['GIT_OPTIONAL_LOCKS', 'GIT_TERMINAL_PROMPT'].map((name) => [name, /^0$/] as const),
]);

/** Refuses an assignment that changes the effect of other commands. */
export const checkAssignment = (name: string, value: StaticWord | undefined, isExported: boolean): void => {
  if (!/^[A-Za-z_]\w*$/.test(name)) refuse(`the assignment to ${name}`);
  if (value?.value !== undefined && harmlessExports.get(name)?.test(value.value) === true) return;
  if (/^LC_[A-Z]+$/.test(name) && /^[\w.@-]*$/.test(value?.value ?? '/')) return;
  const isOwn = isExported ? /^[a-z][a-z0-9_]*$/.test(name) : true;
  if (!isOwn || reserved.test(name)) refuse(`the assignment to ${name}, which may change the effect of commands`);
};

/** All variables of a script. Order and branches are ignored: a value is known if all assignments agree. */
export class Variables {
  readonly #definitions = new Map<string, Definition[]>();
  readonly #arrays = new Set<string>();
  readonly #active = new Set<string>();
  #splitsElsewhere = false;

  constructor(script: SyntaxNode) {
    this.#collect(script);
  }

  /** Makes a variable unknown, because a builtin sets it. */
  forbid(name: string): void {
    checkAssignment(name, undefined, false);
    this.#add(name, { kind: 'unknown' });
  }

  /** Returns whether a variable may be an array. */
  isArray(name: string): boolean {
    return this.#arrays.has(name);
  }

  /** Returns whether a variable always contains a number. */
  isNumber(name: string): boolean {
    const definitions = this.#definitions.get(name);
    return (
      definitions !== undefined &&
      definitions.every(
        (definition) =>
          definition.kind === 'number' ||
          (definition.word !== undefined &&
            /^["']?-?\d{1,15}["']?$|^"?\$\(\([^()`]*\)\)"?$|^"?\$(?:#|\{#\w*\})"?$/.test(definition.word.text)),
      )
    );
  }

  /** Returns the value of a parameter expansion. */
  valueOf(name: string, isQuoted: boolean, evaluate: (word: Word) => StaticWord): VariableValue {
    const definitions = this.#definitions.get(name);
    if (definitions === undefined) {
      return /^(?:HOME|PWD|TMPDIR)$/.test(name)
        ? { value: undefined, start: '/', isMany: false }
        : { value: undefined, start: '', isMany: !isQuoted || name === '@', isSplit: !isQuoted || name === '@' };
    }
    if (this.#active.has(name)) return { value: undefined, start: '', isMany: !isQuoted, isSplit: !isQuoted };
    this.#active.add(name);
    const values = definitions.map((definition): VariableValue => {
      if (definition.kind === 'number') return { value: undefined, start: noDash, isMany: false };
      return definition.word === undefined
        ? { value: undefined, start: '', isMany: !isQuoted, isSplit: !isQuoted }
        : split(evaluate(definition.word), isQuoted, definition.kind === 'each', this.#splitsElsewhere);
    });
    this.#active.delete(name);
    const [first] = values;
    if (first !== undefined && values.length === 1) return first;
    const isSafe = values.every(({ start, isMany }) => !isMany && start !== '' && !start.startsWith('-'));
    const isMany = !isSafe && !isQuoted;
    return { value: undefined, start: isSafe ? noDash : '', isMany, isSplit: isMany };
  }

  #collect(node: SyntaxNode): void {
    if (node.type === 'Assignment') this.#assignment(node);
    if (node.type === 'For') {
      for (const word of node.wordlist ?? []) this.#add(node.name.value, { kind: 'each', word });
      if (node.wordlist === undefined || node.wordlist.length === 0) this.#add(node.name.value, { kind: 'unknown' });
    }
    if (node.type === 'Select') this.#add(node.name.value, { kind: 'unknown' });
    if (node.type === 'Command') this.#builtin(node.name?.value, node.args);
    if (isArithmetic(node)) this.#arithmetic(node);
    forEachChild(node, (child) => this.#collect(child));
  }

  #assignment({ name, value, append, index }: Assignment): void {
    if (name === 'IFS') this.#splitsElsewhere = true;
    if (value.type === 'ArrayValue' || index !== undefined) this.#arrays.add(name);
    if (value.type === 'Word' && append !== true && index === undefined) this.#add(name, { kind: 'word', word: value });
    else this.#add(name, { kind: 'unknown' });
  }

  /** Builtins that set the variables named in their arguments. */
  #builtin(name: string | undefined, args: readonly SyntaxNode[]): void {
    if (
      name === undefined ||
      !/^(?:read|mapfile|readarray|getopts|local|declare|typeset|export|readonly|unset)$/.test(name)
    ) {
      return;
    }
    const makesArrays =
      /^(?:mapfile|readarray)$/.test(name) || args.some((word) => word.type === 'Word' && /^-\w*[aA]/.test(word.value));
    for (const word of args) {
      if (word.type === 'Assignment' && makesArrays) this.#arrays.add(word.name);
      if (word.type !== 'Word' || !/^[A-Za-z_]\w*$/.test(word.value)) continue;
      this.#add(word.value, { kind: 'unknown' });
      if (makesArrays) this.#arrays.add(word.value);
    }
  }

  #arithmetic(node: ArithmeticExpression): void {
    if (node.type === 'ArithmeticBinary' && /^[^=!<>]*=$|^<<=$|^>>=$/.test(node.operator)) this.#number(node.left);
    if (node.type === 'ArithmeticUnary' && /^(?:\+\+|--)$/.test(node.operator)) this.#number(node.operand);
  }

  #number(target: ArithmeticExpression): void {
    if (target.type === 'ArithmeticWord') this.#add(target.value, { kind: 'number' });
  }

  #add(name: string, definition: Definition): void {
    const known = this.#definitions.get(name);
    if (known === undefined) this.#definitions.set(name, [definition]);
    else known.push(definition);
  }
}

const isArithmetic = (node: SyntaxNode): node is ArithmeticExpression =>
  node.type.startsWith('Arithmetic') &&
  'pos' in node &&
  node.type !== 'ArithmeticExpansion' &&
  node.type !== 'ArithmeticFor' &&
  node.type !== 'ArithmeticCommand';

/** Returns the result of splitting and pattern matching. */
const split = (word: StaticWord, isQuoted: boolean, isEach: boolean, splitsElsewhere: boolean): VariableValue => {
  // A loop variable contains one of the words; an assigned one contains the unsplit word.
  const one = isEach && word.isMany ? { value: undefined, start: word.start, isMany: false } : word;
  const value = isEach ? one.value : word.value;
  if (isQuoted) return { value, start: one.start, isMany: false };
  const isPlain = value !== undefined && value !== '' && /^[\w./:@%+,=~^{}-]+$/.test(value) && !splitsElsewhere;
  if (isPlain) return { value, start: value, isMany: false };
  // Names of files may be split; the hashes of a list of commits are not.
  const isWhole = !word.isMany || (isEach && /^\$\(git rev-list [^()]*\)$/.test(word.source));
  const isNumberLike = one.start === noDash && isWhole && !splitsElsewhere;
  return isNumberLike
    ? { value: undefined, start: noDash, isMany: false }
    : { value: undefined, start: '', isMany: true, isSplit: true };
};
