import {
  type Assignment,
  type Command,
  type CommandArgument,
  type Redirection,
  type SyntaxNode,
  type TestExpression,
} from 'unbash';
import { programName } from '../read/words/field.js';
import { parseLine } from '../read/parse-line.js';
import { Refusal, refuse } from './refusal.js';
import { checkDialect, dialectOf, type Dialect } from './dialects.js';
import { checkArithmetic, checkParts, staticWord, type ReadScript } from './evaluate-word.js';
import { neverPrintsOptions, printsCommits, printsNothing } from './printed-text.js';
import { gitSubcommand } from './read-only-git.js';
import { noDash, type StaticWord } from './static-word.js';
import type { StrictCommand, StrictLine, StrictReading } from './strict-line.js';
import { commandBehind } from './strict-wrappers.js';
import { checkAssignment, Variables } from './variables.js';

const maxChars = 20_000;
const maxDepth = 12;
const maxCommands = 1_000;

/** Files that can be written without an effect. */
const sinks: ReadonlySet<string | undefined> = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty']);

/** Folders whose programs match their names. */
const programFolder = /^\/(?:usr\/)?(?:local\/)?bin\/[^/]+$/;

/**
 * Reads a line by a positive grammar: any syntax that is not known to be harmless is a problem.
 *
 * The result contains every command that can run: in branches, functions and substitutions, behind wrappers, in `sh
 * -c`, for `find -exec` and for `xargs`. Unlike the reader of `judgeCommand`, it ignores the order and makes no
 * guesses.
 */
export const readStrictly = (text: string): StrictReading => {
  try {
    const reader = new StrictReader();
    reader.text(text, 0);
    return { ok: true, line: reader };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, problem: error.message };
    throw error;
  }
};

class StrictReader implements StrictLine {
  readonly commands: StrictCommand[] = [];
  readonly writes: string[] = [];
  readonly folders: (string | undefined)[] = [];

  /**
   * Reads a line, or the script of `sh -c`, which has separate variables.
   *
   * @param dialect the shell that runs it
   * @param isChild whether it knows no functions of the line: only Bash passes them to Bash
   */
  text(text: string, depth: number, dialect: Dialect = 'bash', isChild = false): void {
    if (depth > maxDepth) refuse('commands that are nested too deeply');
    if (text.length > maxChars) refuse(`more than ${maxChars} characters`);
    if (text.includes('\r')) refuse('a carriage return');
    const parsed = parseLine(text);
    if (!parsed.ok) return refuse(parsed.problem);
    checkDialect(parsed.script, dialect);
    new ScriptWalk(this, parsed.script, depth, !isChild && dialect === 'bash').node(parsed.script);
  }

  add(command: StrictCommand): void {
    if (this.commands.length >= maxCommands) refuse(`more than ${maxCommands} commands`);
    this.commands.push(command);
  }
}

/** Reads one script. Each of its variables has one value throughout. */
class ScriptWalk {
  readonly #line: StrictReader;
  readonly #script: SyntaxNode;
  readonly #variables: Variables;
  /** Functions that are certainly defined at this point. */
  readonly #functions = new Set<string>();
  readonly #depth: number;
  readonly #isBash: boolean;

  constructor(line: StrictReader, script: SyntaxNode, depth: number, isBash: boolean) {
    this.#line = line;
    this.#script = script;
    this.#variables = new Variables(script);
    this.#depth = depth;
    this.#isBash = isBash;
  }

  node(node: SyntaxNode): void {
    switch (node.type) {
      case 'Script':
        if ('errors' in node && (node.errors?.length ?? 0) > 0) refuse('a substitution that cannot be read');
        for (const statement of node.commands) {
          this.node(statement);
          const { command, background } = statement;
          if (node === this.#script && command.type === 'Function' && background !== true) {
            this.#functions.add(command.name.value);
          }
        }
        return undefined;
      case 'Statement':
        return this.node(node.command);
      case 'CompoundList':
      case 'AndOr':
        return this.#all(node.commands);
      case 'Pipeline':
        for (const [index, part] of node.commands.entries()) {
          const before = node.commands[index - 1];
          if (part.type === 'Command') this.#command(part, before !== undefined && printsNothing(before, this.#script));
          else this.node(part);
        }
        return undefined;
      case 'Command':
        return this.#command(node);
      case 'Redirected':
        this.#redirections(node.redirects);
        return this.node(node.command);
      case 'Function':
        if (!/^[A-Za-z_][\w-]*$/.test(node.name.value) || node.name.value === 'git') {
          refuse(`a function called ${node.name.value}`);
        }
        return this.node(node.body);
      case 'Subshell':
      case 'BraceGroup':
        return this.node(node.body);
      case 'If':
        this.#all([node.clause, node.then]);
        for (const { clause, then } of node.elif) this.#all([clause, then]);
        return node.else === undefined ? undefined : this.node(node.else);
      case 'While':
        return this.#all([node.clause, node.body]);
      case 'For':
        checkAssignment(node.name.value, undefined, false);
        for (const word of node.wordlist ?? []) this.#word(word);
        return this.node(node.body);
      case 'ArithmeticFor':
        for (const part of [node.initialize, node.test, node.update]) {
          if (part !== undefined) checkArithmetic(part, this.#variables);
        }
        return this.node(node.body);
      case 'ArithmeticCommand':
        return checkArithmetic(node.expression, this.#variables);
      case 'Case':
        this.#word(node.word);
        for (const { pattern, body } of node.items) {
          for (const word of pattern) this.#word(word);
          this.node(body);
        }
        return undefined;
      case 'TestCommand':
        return this.#test(node.expression);
      default:
        return refuse(`syntax that cannot be checked (${node.type})`);
    }
  }

  #all(nodes: readonly SyntaxNode[]): void {
    for (const node of nodes) this.node(node);
  }

  readonly #read = (script: SyntaxNode): ReturnType<ReadScript> => {
    const before = this.#line.commands.length;
    this.node(script);
    const inner = this.#line.commands.slice(before);
    return { mayBeOption: !neverPrintsOptions(inner), isMany: printsCommits(inner) };
  };

  #word(word: Parameters<typeof staticWord>[0]): StaticWord {
    return staticWord(word, this.#variables, this.#read);
  }

  #command(node: Command, isPipeEmpty = false): void {
    this.#redirections(node.redirects);
    const sources = node.redirects.filter(({ operator }) => operator.startsWith('<'));
    const hasNoInput =
      sources.length === 0
        ? isPipeEmpty
        : sources.every((source) => source.type === 'Redirect' && source.target?.text === '/dev/null');
    const name = node.name === undefined ? undefined : this.#word(node.name);
    const prefix = node.prefix.filter((part): part is Assignment => part.type === 'Assignment');
    for (const assignment of prefix) {
      // The separator of words applies to one `read` only.
      if (assignment.name === 'IFS' && name?.value === 'read' && assignment.index === undefined) {
        if (assignment.value.type === 'Word') this.#word(assignment.value);
      } else {
        this.#assign(assignment, name !== undefined);
      }
    }
    if (name === undefined) return;
    if (name.value === undefined) return refuse(`a command whose name is unknown until it runs, ${name.source}`);
    const isDeclaration = /^(?:export|declare|typeset|local|readonly)$/.test(name.value);
    const args = node.args.map((word) => this.#argument(word, name.value === 'export', isDeclaration));
    if (!this.#functions.has(name.value)) this.#run([name, ...args], hasNoInput, this.#isBash ? undefined : 'sh -c');
  }

  #argument(word: CommandArgument, isExported: boolean, isDeclaration: boolean): StaticWord {
    if (word.type === 'Word') return this.#word(word);
    if (isDeclaration) {
      // `declare x='($(touch y))'` evaluates the text, if x is an array.
      const isText = word.value.type === 'Word' && this.#variables.isArray(word.name);
      if (isText && /^(?:\(|\u{FFFF}|$)/u.test(this.#word(word.value).start)) {
        refuse(`${word.text}, whose value may be evaluated as an array`);
      }
      this.#assign(word, isExported);
    }
    // `export A=b` is checked as an assignment; elsewhere the word is an ordinary argument.
    return { value: isDeclaration ? word.name : undefined, start: word.name, isMany: false, source: word.text };
  }

  #assign({ name, value, index }: Assignment, isExported: boolean): void {
    if (index !== undefined && !/^\d+$/.test(index.text) && !this.#variables.isNumber(index.text.replace(/^\$/, ''))) {
      refuse(`the subscript ${name}[${index.text}], which is evaluated as arithmetic`);
    }
    if (value.type === 'Word') {
      // `x=(a)b` is an array, and a command.
      if (value.text.startsWith('(')) refuse(`text behind an array, ${value.text}`);
      return checkAssignment(name, this.#word(value), isExported);
    }
    for (const element of value.elements) {
      if (element.text.startsWith('[')) refuse(`the subscript in ${element.text}`);
      this.#word(element);
    }
    return checkAssignment(name, undefined, isExported);
  }

  /**
   * Records a command, and the commands that it runs in turn.
   *
   * @param runner what runs it, if that is not the shell, whose functions it does not know
   */
  #run(words: readonly StaticWord[], hasNoInput: boolean, runner?: string): void {
    const [first, ...args] = words;
    if (first?.value === undefined) return refuse('a command whose name is unknown until it runs');
    const name = programFolder.test(first.value) ? programName(first.value) : first.value;
    if (name === 'git' && (runner !== undefined || first.value !== 'git')) {
      refuse(
        `git behind ${runner ?? 'its path'}, where the programs in the settings of a repository are not disabled; call it as git`,
      );
    }
    this.#line.add({ name, args, hasNoInput });
    if (this.#line.commands.length > maxCommands) return refuse(`more than ${maxCommands} commands`);
    if (/^(?:read|unset|mapfile|readarray)$/.test(name)) {
      for (const { value } of args) {
        // Without a variable of this name, `unset` removes the function that replaces git.
        if (name === 'unset' && value === 'git') refuse('unset git');
        if (/^[A-Za-z_]\w*$/.test(value ?? '')) checkAssignment(value ?? '', undefined, false);
      }
    }
    this.#line.folders.push(...foldersOf(name, args));
    const behind = commandBehind(name, args);
    for (const { name: assigned, value } of behind.assigns) checkAssignment(assigned, value, true);
    for (const command of behind.commands) this.#run(command, hasNoInput, name);
    for (const text of behind.lines) {
      this.#line.text(text, this.#depth + 1, dialectOf(name) ?? 'sh', runner !== undefined);
    }
  }

  #redirections(redirections: readonly Redirection[]): void {
    for (const redirection of redirections) {
      if (redirection.descriptor?.type === 'FileDescriptorVariable') refuse('a file descriptor in a variable');
      if (redirection.type === 'HereDoc') {
        checkParts(redirection.body.parts ?? [], this.#variables, this.#read);
        continue;
      }
      if (redirection.target === undefined) return refuse('a redirection without a target');
      const target = this.#word(redirection.target);
      if (redirection.type === 'HereString') continue;
      const isDescriptor = /^(?:\d{1,3}-?|-)$/.test(target.value ?? '');
      if (/^[<>]&$/.test(redirection.operator) && isDescriptor) continue;
      if (redirection.operator === '<') {
        if (/^\/dev\/(?:tcp|udp)(?:\/|$)/.test(target.start)) refuse('a network connection');
      } else if (!sinks.has(target.value)) {
        this.#line.writes.push(target.value ?? target.source);
      }
    }
  }

  #test(node: TestExpression): void {
    switch (node.type) {
      case 'TestLogical':
        for (const operand of node.operands) this.#test(operand);
        return;
      case 'TestNot':
        return this.#test(node.operand);
      case 'TestGroup':
        return this.#test(node.expression);
      case 'TestUnary': {
        const { value } = this.#word(node.operand);
        if (/^-[vR]$/.test(node.operator) && !/^[A-Za-z_]\w*$/.test(value ?? '')) {
          refuse(`${node.operator} ${node.operand.text}, which evaluates a subscript`);
        }
        return;
      }
      case 'TestBinary':
        for (const side of [node.left, node.right]) {
          const { value, start } = this.#word(side);
          if (!/^-(?:eq|ne|lt|le|gt|ge)$/.test(node.operator)) continue;
          if (/^-?\d{1,18}$/.test(value ?? '')) continue;
          const name = side.text.replace(/^"?\$\{?|\}?"?$/g, '');
          if (!this.#variables.isNumber(name) && !/^"?\$(?:[#?$!]|\{#\w*(?:\[@\])?\})"?$/.test(side.text)) {
            refuse(`${side.text} in a comparison of numbers, which evaluates it${start === noDash ? '; use [ ]' : ''}`);
          }
        }
    }
  }
}

/** Represents the folder that `git rev-parse --show-toplevel` prints. */
export const repositoryRoot = '\0repository';

/** Returns the folders that a command changes to, or runs in. */
const foldersOf = (name: string, args: readonly StaticWord[]): readonly (string | undefined)[] => {
  if (name === 'popd') return [undefined];
  if (name === 'find') return args.some(({ value }) => value === '-execdir' || value === '-okdir') ? [undefined] : [];
  if (name === 'git') {
    const { at, problem } = gitSubcommand(args);
    // Behind the subcommand, -C is an option of its own.
    const own = problem === undefined && at !== -1 ? args.slice(0, at) : args;
    return own.flatMap(({ value }, index) => (value === '-C' ? [args[index + 1]?.value] : []));
  }
  if (name !== 'cd' && name !== 'pushd') return [];
  const folder = args.find(({ value }) => value === undefined || !/^-./.test(value));
  if (folder?.source === '"$(git rev-parse --show-toplevel)"') return [repositoryRoot];
  return [folder?.value === '-' || folder?.value === '' ? undefined : folder?.value];
};
