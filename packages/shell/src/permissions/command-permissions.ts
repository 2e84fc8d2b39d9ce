import { resolve } from 'node:path';
import { anyBoolean, arrayOf, checkOptions, type OptionCheck } from '@h/options';
import { isKnown } from '../read/words/field.js';
import { readCommandLine } from '../read/read-command-line.js';
import { gitSubcommand } from './read-only-git.js';
import { whyProjectRuns } from './project-programs.js';
import { readOnlyCommands } from './read-only-commands.js';
import type { StrictCommand } from './strict-line.js';
import { readStrictly } from './strict-reader.js';

/** Options of {@link commandPermissions}. All rules must agree. */
export interface CommandPermissionOptions {
  /**
   * Whether commands may write. `false` allows only commands, options and syntax that are known to read.
   *
   * @defaultValue `true`
   */
  readonly allowWrite?: boolean | undefined;
  /**
   * The commands that may run, as plain words: `'git'` allows every git command, `'git status'` those that start with
   * these words, `'docker compose'` all of its subcommands. For a command that is known to read, only read-only options
   * are allowed, unless an entry names others: `'sort'` does not allow `sort -o file`, `'sort -o'` does. The entry `'>'`
   * allows redirections into files.
   */
  readonly allowedCommands?: readonly string[] | undefined;
  /**
   * Commands that are denied wherever they appear in a line. A block list prevents mistakes but not attacks, because
   * the same effect has other names. Against attacks, use `allowedCommands` or a sandbox.
   */
  readonly blockedCommands?: readonly string[] | undefined;
}

/** Whether a line may run, with the reason. */
export interface PermissionVerdict {
  readonly decision: 'allow' | 'deny';
  /** Empty for `allow`. */
  readonly reason: string;
}

/** Decides about a line that would run in `cwd`. Never throws for a string; its time is proportional to the length. */
export type CommandPermissions = (command: string, context: { readonly cwd: string }) => PermissionVerdict;

const entryPattern = /^(?:>|\[|[^\s*?[\]{}$`'"|&;<>()\\~]+(?: [^\s*?[\]{}$`'"|&;<>()\\~]+)*)$/;
const entry: OptionCheck = {
  accepts: (value) => typeof value === 'string' && entryPattern.test(value),
  expected: 'plain words, such as "git" or "npm run test"; "git" covers all of git, so there are no wildcards',
};
const checks = { allowWrite: anyBoolean, allowedCommands: arrayOf(entry), blockedCommands: arrayOf(entry) };

const allowed: PermissionVerdict = { decision: 'allow', reason: '' };

/**
 * Creates a permission check from a read-only switch, an allow list and a block list.
 *
 * `allowWrite: false` and `allowedCommands` accept a positive grammar: known syntax, known commands, known options.
 * Everything unknown is denied. The file system is accessed for one purpose: to check whether a folder in which the
 * line runs a program belongs to another repository or names a program in a file, such as `yarn-path` in `.yarnrc`.
 *
 * @throws InvalidOptionError `invalid-option` for an unknown or invalid option
 *
 * @example
 * ```ts
 * const permissions = commandPermissions({ allowedCommands: ['npm test', 'git'], blockedCommands: ['git push'] });
 * permissions('npm test && git -C . push', { cwd: '/work' }); // { decision: 'deny', reason: '"git push" is blocked.' }
 * ```
 */
export const commandPermissions = (given: CommandPermissionOptions = {}): CommandPermissions => {
  checkOptions('commandPermissions()', given, checks);
  const { allowWrite = true, allowedCommands, blockedCommands = [] } = given;
  const allowList = allowedCommands?.map((text) => text.split(' '));
  const blockList = blockedCommands.map((text) => text.split(' '));
  return (command, { cwd }) => {
    const reason =
      (blockList.length > 0 ? whyBlocked(command, cwd, blockList) : undefined) ??
      (allowList !== undefined || !allowWrite ? whyNotAllowed(command, cwd, allowList, allowWrite) : undefined);
    return reason === undefined ? allowed : { decision: 'deny', reason };
  };
};

const whyNotAllowed = (
  command: string,
  cwd: string,
  allowList: readonly Words[] | undefined,
  allowWrite: boolean,
): string | undefined => {
  const reading = readStrictly(command);
  if (!reading.ok) return `The command cannot be checked: ${reading.problem}.`;
  const { line } = reading;
  const [target] = line.writes;
  if (target !== undefined && (!allowWrite || allowList?.some(([word]) => word === '>') !== true)) {
    return allowWrite
      ? `The command writes to ${target}, but allowedCommands has no entry ">".`
      : `Only read-only commands are allowed (allowWrite is false), but it writes to ${target}.`;
  }
  const program = whyProjectRuns(line, { cwd, allowWrite });
  if (program !== undefined) return program;
  for (const one of line.commands) {
    const reason =
      (allowList === undefined ? undefined : whyNotListed(one, allowList)) ??
      (allowWrite ? undefined : whyItWrites(one));
    if (reason !== undefined) return reason;
  }
  return undefined;
};

type Words = readonly string[];

const whyItWrites = ({ name, args, hasNoInput }: StrictCommand): string | undefined => {
  if (name === 'openssl' && args[0]?.value === 's_client' && !hasNoInput) {
    return 'Only read-only commands are allowed (allowWrite is false), but openssl s_client sends its input to another machine; add < /dev/null.';
  }
  const check = Object.hasOwn(readOnlyCommands, name) ? readOnlyCommands[name] : undefined;
  const problem = check === undefined ? 'is not known to be read-only' : check(args)?.reason;
  return problem === undefined
    ? undefined
    : `Only read-only commands are allowed (allowWrite is false): ${name} ${problem}.`;
};

const whyNotListed = ({ name, args }: StrictCommand, allowList: readonly Words[]): string | undefined => {
  const words = [name, ...args.map(({ value }) => value)];
  const entries = allowList.filter((one) => one.every((word, index) => words[index] === word));
  if (entries.length === 0) {
    const list = allowList.map((one) => one.join(' ')).join(', ');
    return `"${name}" is not among the allowed commands: ${list === '' ? 'the list is empty' : list}.`;
  }
  const check = Object.hasOwn(readOnlyCommands, name) ? readOnlyCommands[name] : undefined;
  const problem = check?.(args);
  if (problem === undefined) return undefined;
  const longest = Math.max(...entries.map(({ length }) => length));
  // The entry names the argument that may write.
  if (problem.at !== -1 && longest > problem.at + 1) return undefined;
  // `docker compose` covers `docker compose up`, and `git stash` covers `git stash pop`.
  const isCovered = longest === 1 || ((problem.isAction === true || name === 'git') && isPlain(args[problem.at]));
  if (isCovered && isWholeProgram(name, args)) return undefined;
  const shown = allowList.filter(([word]) => word === name).map((one) => one.join(' '));
  return `"${shown.join('", "')}" does not allow this: ${name} ${problem.reason}.`;
};

/** Returns whether an argument is certainly no option. */
const isPlain = (word: StrictCommand['args'][number] | undefined): boolean =>
  word?.value !== undefined && !word.value.startsWith('-');

/** Programs that an entry covers completely. For others, options that are not known to read may write. */
const isWholeProgram = (name: string, args: StrictCommand['args']): boolean => {
  if (name !== 'git') {
    return !/^(?:\[|test|printf|read|unset|export|declare|typeset|local|readonly|set|shopt|find|sort|uniq|sed|gsed|awk|gawk|mawk|nawk|date|file|tree|rg|fd|xxd|less|more|most|tar|tee|iconv|shuf)$/.test(
      name,
    );
  }
  const { at, problem } = gitSubcommand(args);
  return (
    problem === undefined && at !== -1 && isGitCommand(args[at]?.value ?? '') && !readsAsGit(args[at]?.value ?? '')
  );
};

const gitWriting =
  'add am apply archive bisect branch bundle checkout cherry-pick clean clone commit config fetch format-patch gc init merge mv notes prune pull push rebase remote reset restore revert rm sparse-checkout stash submodule switch tag worktree';
const isGitCommand = (name: string): boolean => gitWriting.split(' ').includes(name);
const readsAsGit = (name: string): boolean => /^(?:diff|log|show|status|grep|blame)$/.test(name);

const whyBlocked = (command: string, cwd: string, blockList: readonly Words[]): string | undefined => {
  const { invocations, problems } = readCommandLine(command, resolve('/', cwd), '/home/user');
  const [problem] = problems;
  if (problem !== undefined) {
    return `The command cannot be checked against blockedCommands: ${problem.detail ?? problemTexts[problem.problem]}.`;
  }
  for (const { argv } of invocations) {
    const [first, ...args] = argv.map(({ text }) => text);
    if (first === undefined) continue;
    if (!isKnown(first)) {
      return 'A command whose name is unknown until it runs cannot be checked against blockedCommands.';
    }
    const name = baseName(first);
    const found = blockList.find(([program = '', ...rest]) => baseName(program) === name && mayContain(args, rest));
    if (found !== undefined) return `"${found.join(' ')}" is blocked.`;
  }
  return undefined;
};

const problemTexts: Readonly<Record<string, string>> = {
  'too-complex': 'it runs too many commands, or is nested too deeply',
  'unknown-program': 'it runs a program whose name is unknown until it runs',
  'unknown-text': 'it runs text that is unknown until it runs',
  'runs-download': 'it runs what it downloads',
  'fork-bomb': 'it starts itself without end',
};

const baseName = (program: string): string => program.slice(program.lastIndexOf('/') + 1).toLowerCase();

/** Returns whether the arguments contain these words in this order. An unknown word may match the first of them. */
const mayContain = (args: readonly string[], wanted: Words): boolean => {
  let found = 0;
  let isFirst = true;
  for (const word of args) {
    if (found === wanted.length) return true;
    if (word === wanted[found] || (!isKnown(word) && isFirst)) found += 1;
    if (!word.startsWith('-')) isFirst = false;
  }
  return found === wanted.length;
};
