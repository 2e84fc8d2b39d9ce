import {
  forEachChild,
  type Assignment,
  type Command,
  type CommandArgument,
  type For,
  type ParsedScript,
  type Redirect,
  type Redirection as RedirectNode,
  type Statement,
  type SyntaxNode,
} from 'unbash';
import { expandBody, expandText, expandWord, type Output, type RunScript } from './expand-word.js';
import { known, unknownText, type Field } from './field.js';
import { machineMark, ofMachine, type Input } from './known-output.js';
import type { Redirection } from './invocation.js';
import { isSecretPath, secretMark } from './secrets.js';
import { assign, innerScope, rememberSecret, valueOf, type FunctionBody, type Scope } from './scope.js';

/** Receives the findings of the reader. */
export interface ScriptEvents {
  readonly run: (
    argv: readonly Field[],
    redirections: readonly Redirection[],
    input: Input | undefined,
    scope: Scope,
    depth: number,
  ) => Output;
  readonly define: (name: string, body: FunctionBody, scope: Scope, isBomb: boolean) => void;
  /** A loop without end that starts processes, or appends to a file. */
  readonly exhausts: () => void;
  readonly isTooDeep: (depth: number) => boolean;
  readonly isTooMuch: () => boolean;
  readonly unparsable: (detail: string, text: string) => void;
  /** Data that the shell evaluates: the content of a variable in arithmetic. */
  readonly evaluate: (text: string, scope: Scope, depth: number) => void;
  /** The value of a variable that other programs run. */
  readonly program: (text: string, scope: Scope, depth: number) => void;
}

/** Variables whose value is a command line for the shell or another program. */
const programVariable =
  /^(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV|PAGER|MANPAGER|\w+_PAGER|EDITOR|VISUAL|\w+_EDITOR|BROWSER|LESSOPEN|LESSCLOSE|RSYNC_RSH|RSYNC_CONNECT_PROG|CVS_RSH|SVN_SSH|SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS|GIT_SSH|GIT_SSH_COMMAND|GIT_EXTERNAL_DIFF|GIT_PROXY_COMMAND|GIT_SEQUENCE_EDITOR|GIT_CONFIG_VALUE_\d+|TAR_OPTIONS|MAKEFLAGS|RUSTC_WRAPPER|LESS|ZIPOPT|CC|CXX|SHELL|GOFLAGS|\w+_(?:LAUNCHER|WRAPPER|COMMAND|CMD|ASKPASS|RSH)|npm_config_script_shell|LESSEDIT)$/;

/** Variables that name code which programs load: they are judged like an `export`. */
export const codeVariable =
  /^(?:LD|DYLD)_\w+$|^(?:PYTHONSTARTUP|NODE_OPTIONS|JAVA_TOOL_OPTIONS|BASH_ENV|ENV|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY|HISTFILE|HIST(?:FILE)?SIZE|PYTHONPATH|PERL5LIB|RUBYLIB|NODE_PATH|CLASSPATH|ANSIBLE_CONFIG|npm_config_(?:script_shell|userconfig|globalconfig|node_options)|SHELL|\w*(?:REGISTRY|INDEX_URL)|GOPROXY|PATH)$|^(?:PERL5|RUBY)OPT$|^(?:GIT|SSH|SUDO)_(?:ASKPASS|SSH|EXEC_PATH|TEMPLATE_DIR|CONFIG_GLOBAL|CONFIG_SYSTEM)$|^RUSTC_WRAPPER$/;

/** Returns the command line that the value of such a variable is, or is part of. */
const programIn = (name: string, value: string): string => {
  if (name === 'TAR_OPTIONS') return `tar ${value}`;
  if (name === 'MAKEFLAGS') return `make ${value}`;
  if (name === 'GOFLAGS') return `go build ${value}`;
  if (name === 'LESS') return `less '${value.replaceAll("'", '')}'`;
  if (name === 'ZIPOPT') return `zip ${value}`;
  return value.replace(/^\|/, '');
};

/** Reads a parsed script in the order of execution. */
export interface ScriptReader {
  script(script: ParsedScript, scope: Scope, depth: number, input?: Input): Output;
  node(node: SyntaxNode, scope: Scope, depth: number): Output;
}

interface Place {
  readonly scope: Scope;
  readonly depth: number;
  readonly input: Input | undefined;
  /** Whether the command certainly runs. */
  readonly isCertain: boolean;
}

/** Words of a `for` loop that are evaluated one by one. */
const maxRounds = 16;

const nothing: Output = { text: undefined, programs: [] };

/** Creates a reader that reports its findings. */
export const scriptReader = (events: ScriptEvents): ScriptReader => {
  const script = ({ commands, errors, source }: ParsedScript, place: Place): Output => {
    const error = errors?.[0];
    if (error !== undefined) events.unparsable(error.message, source ?? '');
    return statements(commands, place);
  };

  const statements = (list: readonly Statement[], place: Place): Output => {
    const outputs: Output[] = [];
    for (const statement of list) {
      if (events.isTooMuch()) break;
      outputs.push(visit(statement.command, place));
    }
    return together(outputs);
  };

  const visit = (node: SyntaxNode, place: Place): Output => {
    if (events.isTooDeep(place.depth)) return nothing;
    const maybe: Place = { ...place, isCertain: false };
    switch (node.type) {
      case 'Statement':
        return visit(node.command, place);
      case 'CompoundList':
        return statements(node.commands, place);
      case 'Command':
        return command(node, place);
      case 'AndOr':
        return together(node.commands.map((part, index) => visit(part, index === 0 ? place : maybe)));
      case 'Pipeline':
        return pipeline(node.commands, place);
      case 'Redirected': {
        const { redirections, input } = redirects(node.redirects, place);
        const { scope } = place;
        const wasShown = scope.isShown;
        scope.isShown &&= !redirections.some(({ isOutput }) => isOutput);
        const output = visit(node.command, { ...place, input: input ?? place.input });
        scope.isShown = wasShown;
        if (redirections.length > 0) events.run([], redirections, output, place.scope, place.depth);
        return output;
      }
      case 'Function':
        events.define(node.name.value, node.body, place.scope, isBomb(node.name.value, node.body));
        return nothing;
      case 'Subshell':
        return statements(node.body.commands, { ...place, scope: innerScope(place.scope) });
      case 'BraceGroup':
        return statements(node.body.commands, place);
      case 'If':
        return together([
          statements(node.clause.commands, place),
          ...[
            node.then,
            ...node.elif.flatMap(({ clause, then }) => [clause, then]),
            ...(node.else === undefined ? [] : [node.else]),
          ].map((branch) => statements(branch.commands, maybe)),
        ]);
      case 'While':
        if (isEndlessLoop(node.clause, node.body)) events.exhausts();
        return together([statements(node.clause.commands, maybe), statements(node.body.commands, maybe)]);
      case 'For':
      case 'Select':
        return loop(node, maybe);
      case 'Case':
        within(node.word, place);
        return together(node.items.map(({ body }) => statements(body.commands, maybe)));
      case 'ArithmeticFor':
        return statements(node.body.commands, maybe);
      case 'Coproc':
        return visit(node.body, place);
      default:
        within(node, place);
        return nothing;
    }
  };

  /** Reads substitutions within tests and arithmetic. */
  const within = (node: SyntaxNode, place: Place): void => {
    if (events.isTooMuch()) return;
    evaluated(node, place);
    if (
      node.type === 'CommandExpansion' ||
      node.type === 'ProcessSubstitution' ||
      node.type === 'ArithmeticCommandExpansion'
    ) {
      if (node.script !== undefined) substituted(node.script, place);
    } else {
      forEachChild(node, (child) => within(child, place));
    }
  };

  /** Evaluates arithmetic and tests: the content of variables, and subscripts. */
  const evaluated = (node: SyntaxNode, { scope, depth }: Place): void => {
    if (node.type === 'ArithmeticWord') {
      for (const text of valueOf(scope, node.value.replace(/^\$\{?|\}$/g, '')) ?? []) {
        events.evaluate(text, scope, depth);
      }
    } else if (node.type === 'TestUnary' && node.operator === '-v') {
      events.evaluate(node.operand.value, scope, depth);
    } else if (node.type === 'TestBinary' && /^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) {
      for (const { value } of [node.left, node.right]) {
        for (const text of valueOf(scope, value.replace(/^\$\{?|\}$/g, '')) ?? []) events.evaluate(text, scope, depth);
      }
    }
  };

  const substituted = (inner: ParsedScript, place: Place): Output =>
    events.isTooDeep(place.depth + 1)
      ? nothing
      : script(inner, { ...place, scope: hidden(place.scope), depth: place.depth + 1, input: undefined });

  const runIn =
    (place: Place): RunScript =>
    (inner, scope) => {
      if (typeof inner !== 'string') return substituted(inner, { ...place, scope });
      events.evaluate(inner, scope, place.depth + 1);
      return nothing;
    };

  const pipeline = (commands: readonly SyntaxNode[], place: Place): Output => {
    let output: Output | undefined;
    for (const [index, part] of commands.entries()) {
      if (events.isTooMuch()) break;
      const isLast = index === commands.length - 1;
      const scope = commands.length === 1 ? place.scope : isLast ? innerScope(place.scope) : hidden(place.scope);
      output = visit(part, { ...place, scope, input: output ?? place.input });
    }
    return output ?? nothing;
  };

  const loop = ({ name, wordlist, body }: Pick<For, 'body' | 'name' | 'wordlist'>, place: Place): Output => {
    const words = wordlist?.flatMap((word) => expandWord(word, place.scope, runIn(place)));
    const rounds = words === undefined ? (place.scope.positional ?? [unknownText]) : words.map(({ text }) => text);
    const outputs = (rounds.length > maxRounds ? [unknownText] : rounds).map((value) => {
      place.scope.variables.set(name.value, [value]);
      return statements(body.commands, place);
    });
    return together(outputs);
  };

  const command = (node: Command, place: Place): Output => {
    const { scope, depth } = place;
    const assignments = node.prefix.filter((part) => part.type === 'Assignment');
    const words: readonly CommandArgument[] = [...(node.name === undefined ? [] : [node.name]), ...node.args];
    const own = words.length === 0 || assignments.length === 0 ? scope : innerScope(scope);
    for (const assignment of assignments) {
      set(assignment, own, { ...place, isCertain: place.isCertain || own !== scope });
    }
    const argv = words.flatMap((word) =>
      word.type === 'Word' ? expandWord(word, scope, runIn(place)) : [assigned(word, place)],
    );
    const { redirections, input } = redirects(node.redirects, place);
    // `$(<file)` is the content of the file.
    if (argv.length === 0 && redirections.length === 0) return input ?? nothing;
    const inner = own === scope ? scope : Object.assign(own, { positional: scope.positional });
    for (const word of words) {
      if (word.type === 'Assignment' && word.value.type === 'ArrayValue') set(word, scope, place);
    }
    return events.run(argv, redirections, input ?? place.input, inner, depth);
  };

  const set = ({ name, value, append, index }: Assignment, scope: Scope, place: Place): void => {
    const run = runIn(place);
    if (index !== undefined) expandWord(index, scope, run);
    const words = value.type === 'Word' ? expandWord(value, scope, run) : [];
    for (const { madeBy } of words) rememberSecret(scope, name, madeBy);
    const values =
      value.type === 'Word'
        ? [words.map(({ text }) => text).join(' ')]
        : value.elements.flatMap((word) => expandWord(word, scope, run).map(({ text }) => text));
    if (programVariable.test(name) && value.type === 'Word') {
      events.program(programIn(name, words.map(({ text }) => text).join(' ')), scope, place.depth);
    }
    if (codeVariable.test(name)) {
      const field = known(`${name}=${words.map(({ text }) => text).join(' ')}`);
      events.run([known('export'), field], [], undefined, innerScope(scope), place.depth);
    }
    const before = append === true ? (scope.variables.get(name) ?? [unknownText]) : [];
    const isScalar = value.type === 'Word' && index === undefined;
    const after =
      append !== true ? values : isScalar ? [`${before[0] ?? ''}${values[0] ?? ''}`] : [...before, ...values];
    assign(scope, name, index === undefined ? after : [unknownText], place.isCertain);
  };

  /** An assignment among arguments, as after `export` and `alias`: it is one word. */
  const assigned = ({ name, value, text, index }: Assignment, place: Place): Field => {
    const run = runIn(place);
    if (programVariable.test(name) && value.type === 'Word') {
      events.program(programIn(name, expandText(value, place.scope, run)), place.scope, place.depth);
    }
    if (index !== undefined) expandWord(index, place.scope, run);
    const words = value.type === 'Word' ? expandWord(value, place.scope, run) : [known(unknownText)];
    return {
      text: `${name}=${words.map((word) => word.text).join(' ')}`,
      shown: text,
      madeBy: words.flatMap(({ madeBy }) => madeBy),
    };
  };

  const redirects = (
    nodes: readonly RedirectNode[],
    place: Place,
  ): { readonly redirections: readonly Redirection[]; readonly input: Input | undefined } => {
    const run = runIn(place);
    const redirections: Redirection[] = [];
    let input: Input | undefined;
    for (const node of nodes) {
      if (node.type === 'HereDoc') {
        const body = expandBody(node.body, place.scope, run);
        input = { text: body.text, programs: body.madeBy };
      } else if (node.target !== undefined) {
        const outputs: Output[] = [];
        const target =
          expandWord(node.target, place.scope, (inner, scope) => {
            const output = run(inner, scope);
            outputs.push(output);
            return output;
          })[0] ?? known('');
        if (node.operator === '<' && node.target.text.startsWith('<(')) input = outputs[0];
        else if (node.type === 'HereString') input = { text: target.text, programs: target.madeBy };
        else if (node.operator === '<') input = fromFile(target, place.scope);
        else if (!/^(?:\d+-?|-)$/.test(target.text)) {
          redirections.push({ operator: node.operator, target, isOutput: isOutput(node, target) });
        }
      }
    }
    return { redirections, input };
  };

  return {
    script: (parsed, scope, depth, input) => script(parsed, { scope, depth, input, isCertain: true }),
    node: (node, scope, depth) => visit(node, { scope, depth, input: undefined, isCertain: true }),
  };
};

/** Creates a scope for commands whose output is not displayed. */
const hidden = (scope: Scope): Scope => Object.assign(innerScope(scope), { isShown: false });

/** Returns whether a redirection hides the standard output. */
const isOutput = ({ operator, descriptor }: Redirect, { text }: Field): boolean =>
  operator.includes('>') &&
  (descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 1)) &&
  !/^\/dev\/(?:stdout|stderr|tty|fd\/[12])$/.test(text);

const fromFile = ({ text, madeBy }: Field, scope: Scope): Input => {
  const path = text.replace(/^\.\//, '');
  const isSecret = scope.secrets.has(path) || isSecretPath(text, scope.cwd, scope);
  const programs = scope.downloads.has(path) ? ['curl'] : madeBy;
  return {
    text: scope.files.get(path),
    file: path,
    programs: [...programs, ...(isSecret ? [secretMark] : []), ...(ofMachine.test(text) ? [machineMark] : [])],
  };
};

const together = (outputs: readonly Output[]): Output => {
  const [only] = outputs;
  if (outputs.length === 1 && only !== undefined) return only;
  const texts = outputs.map(({ text }) => text);
  return {
    text: texts.length === 0 || texts.includes(undefined) ? undefined : texts.join(''),
    programs: outputs.flatMap(({ programs }) => programs).slice(0, 32),
  };
};

/** Returns whether a loop never ends or pauses, and starts processes in the background or appends to a file. */
const isEndlessLoop = (clause: SyntaxNode, body: SyntaxNode): boolean => {
  const names: string[] = [];
  let grows = false;
  const visit = (node: SyntaxNode): void => {
    if (names.length > 100) return;
    if (node.type === 'Statement' && node.background === true) {
      // The loop does not wait for it.
      grows = true;
      return;
    }
    if (node.type === 'Subshell' && node.body.commands.some(({ background }) => background === true)) {
      grows = true;
      return;
    }
    if (node.type === 'Command') names.push(node.name?.value ?? '');
    if (node.type === 'Command' || node.type === 'Redirected') {
      grows ||= node.redirects.some((redirect) => redirect.operator === '>>' && redirect.target?.value !== '/dev/null');
      grows ||= node.type === 'Command' && /^(?:cp|mkdir|touch|mktemp|fallocate|dd)$/.test(node.name?.value ?? '');
    }
    forEachChild(node, visit);
  };
  visit(clause);
  if (names.length !== 1 || !/^(?:true|:)$/.test(names[0] ?? '')) return false;
  visit(body);
  return (
    grows &&
    !names.some((name) => /^(?:sleep|wait|read|break|exit|return|timeout|inotifywait|tail|nc|date|usleep)$/.test(name))
  );
};

/** Returns whether a function starts itself in the background, or twice in one pipe. */
const isBomb = (name: string, body: SyntaxNode): boolean => {
  let left = 1_000;
  const callsIn = (node: SyntaxNode): number => {
    left -= 1;
    if (left < 0) return 0;
    let calls = node.type === 'Command' && node.name?.value === name ? 1 : 0;
    forEachChild(node, (child) => {
      calls += callsIn(child);
    });
    return calls;
  };
  const starts = (node: SyntaxNode): boolean => {
    if (left < 0) return false;
    if (node.type === 'Statement' && node.background === true && callsIn(node) > 0) return true;
    if (node.type === 'Pipeline' && node.commands.length > 1 && callsIn(node) > 1) return true;
    let found = false;
    forEachChild(node, (child) => {
      found ||= starts(child);
    });
    return found;
  };
  return starts(body);
};
