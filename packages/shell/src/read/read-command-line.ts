import { isKnown, isWhollyUnknown, known, programName, show, unknownText, type Field } from './words/field.js';
import { containerOf } from './commands/containers.js';
import { engines, rememberEngine, usesOtherEngine } from './commands/engines.js';
import { applyBuiltin } from './commands/builtins.js';
import { readFind } from './commands/find-targets.js';
import type { Inner, ShellProblem } from './commands/inner.js';
import { innerCommands, type GitAliases } from './commands/inner-commands.js';
import { knownOutput, type Input } from './words/known-output.js';
import type { CommandLine, Invocation, Redirection } from './invocation.js';
import { skipsHooks } from './commands/git-hooks.js';
import { functionsOf, likelyProgram } from './words/given.js';
import { textOfFile } from './files/line-files.js';
import { followLinks, followPath, rememberLinks } from './files/links.js';
import { parseLine } from './parse-line.js';
import { resolvePath } from './files/resolve-path.js';
import { rememberFiles } from './files/remember-files.js';
import { firstScope, innerScope, lookUp, rememberArguments, valueOf, type FunctionBody, type Scope } from './scope.js';
import { isShownAt, isTeeToTerminal } from './redirections.js';
import { scriptReader } from './script-reader.js';
import { addSecrets, environmentOf, isRootIn, serversOf } from './files/surroundings.js';
import { withHome, type Output } from './words/expand-word.js';

/** Maximum nesting of commands that run commands. */
const maxDepth = 24;

/** Maximum number of commands; a longer line is a program. */
const maxCommands = 5_000;

/** Maximum number of programs that are remembered as the source of a text. */
const maxPrograms = 32;

/** Maximum number of words of all commands; words behind a wrapper count twice. */
const maxWords = 500_000;

/** Maximum length of all text that is read as shell, including that of `bash -c` and similar commands. */
const maxChars = 1_000_000;

/**
 * Returns all commands that a shell line runs, with the known parts of their arguments.
 *
 * The line is followed as by a shell: variables, functions, aliases, `cd`, pipes of known text, wrappers. Nothing is
 * run and no file is accessed. The time is proportional to the length of the line.
 */
export const readCommandLine = (
  line: string,
  cwd: string,
  home: string,
  project = cwd,
  aliases: GitAliases = new Map(),
): CommandLine => {
  const gitAliases = new Map(aliases);
  const invocations: Invocation[] = [];
  const problems: CommandLine['problems'][number][] = [];
  const left = { commands: maxCommands, words: maxWords, chars: maxChars };
  const active = new Set<FunctionBody | string>();
  const called = new Set<FunctionBody>();
  const defined: { readonly body: FunctionBody; readonly scope: Scope }[] = [];
  const atEnd: (() => void)[] = [];
  let isTooComplex = false;

  const report = (problem: ShellProblem, argv: readonly string[], detail?: string): void => {
    if (problem === 'too-complex' && isTooComplex) return;
    isTooComplex ||= problem === 'too-complex';
    problems.push({ problem, argv, detail });
  };

  const readText = (text: string, scope: Scope, depth: number, isGuess: boolean, input?: Input): Output => {
    left.chars -= text.length;
    if (left.chars < 0 || depth > maxDepth) {
      report('too-complex', [shorten(text)]);
      return nothing;
    }
    // A file that runs itself with the same input, such as a script with the name of the command in it.
    const key = input?.text === undefined ? text : `${text}\0${input.text}`;
    if (active.has(key)) return nothing;
    const parsed = parseLine(text);
    if (!parsed.ok) {
      if (!isGuess) report('unparsable', [shorten(text)], parsed.problem);
      return nothing;
    }
    active.add(key);
    const output = reader.script(parsed.script, scope, depth + 1, input);
    active.delete(key);
    return output;
  };

  const runInner = (
    inner: Inner,
    argv: readonly Field[],
    input: Input | undefined,
    scope: Scope,
    depth: number,
  ): Output => {
    switch (inner.kind) {
      case 'problem':
        report(inner.problem, argv.map(show));
        return nothing;
      case 'command': {
        const own = innerScope(scope);
        const program = argv[0]?.text;
        addSecrets(argv, own);
        if (inner.folder !== undefined) own.cwd = resolvePath(inner.folder, own.cwd);
        for (const [name, value] of inner.variables ?? []) own.variables.set(name, [value]);
        own.isGuess ||= inner.isGuess === true;
        own.isElsewhere ||= inner.isElsewhere === true;
        own.isRoot = isRootIn(argv, scope.isRoot);
        if (engines.test(programName(program ?? ''))) {
          own.container = containerOf(argv.slice(1, argv.length - inner.argv.length), scope.cwd, scope.project);
          own.cwd = own.container.folder ?? own.cwd;
        }
        return runCommand(inner.argv, [], inner.input ?? input, own, depth + 1, true);
      }
      case 'line': {
        if (inner.isAtEnd === true) {
          atEnd.push(() => runInner({ ...inner, isAtEnd: false }, argv, input, scope, depth));
          return nothing;
        }
        const own = inner.isSameShell === true ? scope : innerScope(scope, inner.positional ?? []);
        if (inner.name !== undefined) own.variables.set('0', [inner.name]);
        if (inner.isElsewhere === true) {
          own.isElsewhere = true;
          own.cwd = unknownText;
        }
        own.isGuess ||= inner.isGuess === true;
        addSecrets(argv.slice(0, 1), own);
        if (own === scope && inner.positional !== undefined) {
          const { positional } = scope;
          scope.positional = inner.positional;
          const output = readText(inner.text, own, depth, inner.isGuess === true, inner.input ?? input);
          scope.positional = positional;
          return output;
        }
        // A word that may be a program may as well be a file of data.
        const isData = own.isGuess && inner.name === argv[0]?.text && !inner.text.startsWith('#!');
        const mayBeInvalid = inner.isGuess === true || inner.mayBeInvalid === true || isData;
        return readText(inner.text, own, depth, mayBeInvalid, inner.input ?? input);
      }
    }
  };

  const callFunction = (body: FunctionBody, argv: readonly Field[], scope: Scope, depth: number): Output => {
    called.add(body);
    if (active.has(body)) return nothing;
    active.add(body);
    // A function sets the variables of its caller; only its arguments are separate.
    const { positional } = scope;
    const args = argv.slice(1);
    scope.positional = args.map(({ text }) => text);
    const restore = rememberArguments(scope, args);
    const output = reader.node(body, scope, depth + 1);
    restore();
    scope.positional = positional;
    active.delete(body);
    return output;
  };

  const runCommand = (
    argv: readonly Field[],
    redirections: readonly Redirection[],
    input: Input | undefined,
    scope: Scope,
    depth: number,
    // The expansion of an alias is not expanded again; commands of other programs are neither aliases nor functions.
    isProgram = false,
  ): Output => {
    left.commands -= 1;
    left.words -= argv.length;
    if (left.commands < 0 || left.words < 0 || depth > maxDepth) {
      report('too-complex', [shorten(line)]);
      return nothing;
    }
    const [first, ...rest] = argv;
    const alias = first === undefined || isProgram ? undefined : lookUp(scope, 'aliases', first.text);
    if (alias !== undefined && /[;&|"'$`]/.test(alias)) {
      const own = innerScope(scope);
      own.aliases.set(first?.text ?? '', '');
      return readText(`${alias} ${rest.map(({ text }) => text).join(' ')}`, own, depth + 1, false, input);
    }
    if (alias !== undefined && alias !== '') {
      const words = alias
        .split(/\s+/)
        .filter((word) => word !== '')
        .map((word) => known(withHome(word, word, scope)));
      return runCommand([...words, ...rest], redirections, input, scope, depth + 1, true);
    }
    const body = first === undefined || isProgram ? undefined : lookUp(scope, 'functions', first.text);
    if (body !== undefined) return callFunction(body, argv, scope, depth);

    const script = scriptOf(argv, scope) ?? input;
    const followed = followLinks(argv, scope);
    invocations.push({
      argv: followed,
      redirections: redirections.map((each) => {
        const text = followPath(each.target.text, scope, true);
        return text === each.target.text ? each : { ...each, target: { ...each.target, text } };
      }),
      input: script,
      cwd: followPath(scope.cwd, scope, true),
      secrets: scope.secrets,
      isShown: scope.isShown,
      skipsHooks: skipsHooks(argv, scope),
      environment: environmentOf(scope),
      servers: serversOf(scope),
      isGuess: scope.isGuess,
      isRoot: scope.isRoot,
      isElsewhere: scope.isElsewhere || usesOtherEngine(programName(first?.text ?? ''), rest, scope),
      container: scope.container,
    });
    if (first !== undefined && !isKnown(programName(first.text))) {
      return runUnknown(argv, redirections, input, scope, depth);
    }
    if (first !== undefined && isPattern(first, scope.isGuess, rest.length > 0)) {
      report('unknown-program', argv.map(show));
    }
    const inside = innerCommands(followed, script, scope, gitAliases).map((inner) =>
      runInner(inner, argv, input, scope, depth),
    );
    evaluateNames(argv, scope, depth);
    applyBuiltin(argv, scope, input);
    rememberEngine(argv, scope);
    // Without a command, the output of a group is redirected.
    const output = argv.length === 0 && input !== undefined ? input : withInner(outputOf(argv, input, scope), inside);
    rememberFiles(argv, redirections, output, input, scope);
    rememberLinks(argv, scope);
    return output;
  };

  /** A command whose name is a variable. It may be empty, as `$SUDO` often is; then the next word is the command. */
  const runUnknown = (
    argv: readonly Field[],
    redirections: readonly Redirection[],
    input: Input | undefined,
    scope: Scope,
    depth: number,
  ): Output => {
    const [first, ...rest] = argv;
    const isEnvironment = first?.madeBy.length === 0 && /^"?\$\{?(?:[A-Za-z_]\w*|0)\}?"?$/.test(first.shown);
    const values = isEnvironment ? lookUp(scope, 'variables', first.shown.replaceAll(/["${}]/g, '')) : undefined;
    const isOwnArguments =
      first?.madeBy.length === 0 &&
      (scope.positional === undefined ? /^"?\$[@*1-9]"?$/ : /^"?\$[@*]"?$/).test(first.shown);
    const functions = functionsOf(first?.text ?? '', scope);
    if (functions.length > 0) {
      for (const body of functions) callFunction(body, argv, scope, depth);
      return { text: undefined, programs: ['?'] };
    }
    // A word of another program that is unknown is rarely a command.
    const isGuess = scope.isGuess && first?.madeBy.length === 0;
    const isGiven =
      values === undefined || (values.isGiven === true && isWhollyUnknown(programName(first?.text ?? '')));
    const isTrusted = isGuess || (isEnvironment && isGiven);
    // `bash -c '$LINE'`: the whole text that a program runs is unknown.
    const isWholeText =
      first !== undefined &&
      [...active].some((text) => typeof text === 'string' && text !== line && text.split('\0', 1)[0] === first.shown);
    const isDestructive = rest.some(({ text }) => /^\/+\*?$|^-[A-Za-z]*(?:rf|fr)/i.test(text));
    if (isDestructive || !(isOwnArguments || isTrusted)) report('unknown-program', argv.map(show));
    else if (isWholeText && isTrusted && !isGuess) report('unknown-text', argv.map(show));
    if (isTrusted && !isGuess) {
      const likely = known(likelyProgram(first?.shown ?? '', rest, input));
      const sources = redirections.filter(({ isOutput }) => !isOutput);
      runCommand([likely, ...rest], sources, input, innerScope(scope), depth + 1, true);
    }
    const next = rest.findIndex(({ text }) => isKnown(programName(text)) && !text.startsWith('-'));
    if (next !== -1) runCommand(rest.slice(next), [], input, innerScope(scope), depth + 1);
    return { text: undefined, programs: ['?'] };
  };

  /** Reads substitutions in text that the shell evaluates like a double-quoted string. */
  const evaluate = (text: string, scope: Scope, depth: number): void => {
    if (!/\$\(|`/.test(text)) return;
    readText(`: "${text.replaceAll('"', '')}"`, innerScope(scope), depth + 1, true);
  };

  /** Builtins that accept names of variables evaluate the subscripts in them, and the texts of arrays. */
  const evaluateNames = ([first, ...args]: readonly Field[], scope: Scope, depth: number): void => {
    if (first === undefined || !namers.has(first.text)) return;
    const isArithmetic =
      first.text === 'let' || (/^(?:declare|typeset|local)$/.test(first.text) && args.some(isInteger));
    for (const { text } of args) {
      for (const name of isArithmetic ? (text.slice(0, maxExpression).match(/[A-Za-z_]\w*/g) ?? []) : []) {
        for (const value of valueOf(scope, name) ?? []) evaluate(value, scope, depth);
      }
      const start = text.search(/[[(]/);
      if (start !== -1 && /\$\(|`/.test(text.slice(start))) evaluate(text, scope, depth);
    }
  };

  const reader = scriptReader({
    evaluate,
    program: (text, scope, depth) => {
      evaluate(text, scope, depth);
      readText(text, innerScope(scope), depth + 1, true);
    },
    run: (argv, redirections, input, scope, depth) => {
      const wasShown = scope.isShown;
      scope.isShown = isShownAt(redirections, scope) || isTeeToTerminal(argv);
      const output = runCommand(argv, redirections, input, scope, depth);
      scope.isShown = wasShown;
      const isDiscarded = redirections.some(({ isOutput, target }) => isOutput && target.text === '/dev/null');
      return isDiscarded ? { ...output, text: '' } : output;
    },
    define: (name, body, scope, bombs) => {
      scope.functions.set(name, body);
      defined.push({ body, scope: innerScope(scope, undefined) });
      if (bombs) report('fork-bomb', [name]);
    },
    exhausts: () => report('fork-bomb', [shorten(line)]),
    isTooDeep: (depth) => {
      if (depth > maxDepth) report('too-complex', [shorten(line)]);
      return depth > maxDepth;
    },
    isTooMuch: () => {
      left.commands -= 1;
      if (left.commands < 0) report('too-complex', [shorten(line)]);
      return left.commands < 0;
    },
    unparsable: (detail, text) => report('unparsable', [shorten(text)], detail),
  });

  readText(line, firstScope(cwd, home, project), 0, false);
  for (const run of atEnd) run();
  // Functions that are not called here may be called by later lines.
  for (const { body, scope } of defined) if (!called.has(body)) reader.node(body, scope, 1);
  return { invocations, problems };
};

const nothing: Output = { text: undefined, programs: [] };

/** Returns whether a pattern of paths selects the program: `/bin/r?`, but neither `[` nor a quoted name. */
const isPattern = ({ text, shown }: Field, isGuess: boolean, hasArguments: boolean): boolean =>
  (!isGuess || (hasArguments && text.includes('/'))) &&
  !/^(?:npm|yarn|pnpm|bun|deno|node):/.test(text) &&
  /^[^'"\\]*(?:[*?]|\[[^[\]\s]+\])/.test(shown) &&
  text === shown;

/** The option of `declare` for variables whose value is arithmetic. */
const isInteger = ({ text }: Field): boolean => /^-\w*i/.test(text);

/** Number of characters of an expression in which variables are searched. */
const maxExpression = 200;

/** Builtins that accept names of variables. */
const namers: ReadonlySet<string> = new Set([
  'test',
  '[',
  'let',
  'unset',
  'read',
  'printf',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'wait',
]);

const readers =
  /^(?:psql|mysql|mariadb|usql|cqlsh|duckdb|mongosh|sqlcmd|snowsql|kubectl|oc|g?make|n?vim|ex|pandoc|sqlite3)$/;

/** `psql -f file` and `make -f <(command)`: a file that the line itself has written takes the place of the input. */
const scriptOf = (argv: readonly Field[], scope: Scope): Input | undefined => {
  if (!readers.test(programName(argv[0]?.text ?? ''))) return undefined;
  for (const [index, { text }] of argv.entries()) {
    const path =
      /^--[\w-]+=(\/dev\/fd\/\d+)$|^--file=(.+)$/.exec(text)?.slice(1).find(Boolean) ??
      (/^(?:-f|-i|-S|-l|-L|-F|--file|--filename|--lua-filter)$/.test(text) ? argv[index + 1]?.text : undefined);
    const content = path === undefined ? undefined : textOfFile(scope, path);
    if (content !== undefined) return { text: content, programs: [] };
  }
  return undefined;
};

/** Adds what the commands inside a command print. */
const withInner = (own: Output, inside: readonly Output[]): Output => {
  if (inside.length === 0) return own;
  const programs = [...new Set([...own.programs, ...inside.flatMap((inner) => inner.programs)])].slice(0, maxPrograms);
  return { ...own, programs, text: own.text ?? (inside.length === 1 ? inside[0]?.text : undefined) };
};

const outputOf = (argv: readonly Field[], input: Input | undefined, scope: Scope): Output => {
  const output = knownOutput(argv, input, scope);
  return argv[0]?.text === 'find' ? { ...output, paths: readFind(argv.slice(1)).paths } : output;
};

const shorten = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);
