import type { MaybePromise } from '@h/turn';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import { whyItWrites } from './read-only.js';
import type { ShellCommand, ShellWord } from './shell-line.js';
import { effectiveCommands, programName } from './wrappers.js';

/** What a policy says about a command, in the shape that `judgeCommand` of `@h/hooks` returns. */
export interface CommandJudgement {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason?: string | undefined;
  readonly findings?: readonly { readonly why: string; readonly instead?: string | undefined }[] | undefined;
}

/** Judges a line of shell before it runs. */
export type CommandJudge = (command: string, context: { readonly cwd: string }) => MaybePromise<CommandJudgement>;

/**
 * Which commands may run. Every rule has to agree: the most restrictive one wins.
 *
 * This is a guard rail, not a boundary: a program that is allowed can do whatever it likes, and one that writes a script
 * and runs it was not seen. What must not happen at all is prevented by a sandbox.
 */
export interface BashPermissions {
  /**
   * Whether commands may write. `false` leaves a list of commands that are known only to read.
   *
   * @defaultValue `true`
   */
  readonly allowWrite?: boolean | undefined;
  /** Only these may run. `'git'` allows every git command, `'git status'` those that begin with these words. */
  readonly allowedCommands?: readonly string[] | undefined;
  /** These may not, wherever in a line they stand. `'git push'` also blocks `git -C x push`. */
  readonly blockedCommands?: readonly string[] | undefined;
  /** A policy with more to say, such as `judgeCommand` of `@h/hooks`. If it fails, the command is refused. */
  readonly judge?: CommandJudge | undefined;
}

/** What came of all rules together. */
export interface CommandVerdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Why not, in a sentence; empty for `allow`. */
  readonly reason: string;
}

/** Says of a line of shell whether it may run. */
export type CommandPolicy = (command: string, context: { readonly cwd: string }) => Promise<CommandVerdict>;

const entry = z
  .string()
  .regex(
    /^[^\s*?[\]{}$`'"|&;<>()\\~]+(?: [^\s*?[\]{}$`'"|&;<>()\\~]+)*$/,
    'it has to be plain words, such as "git" or "npm run test"; wildcards do not exist, because "git" covers all of git',
  )
  .transform((text) => text.split(' '));

/** Checks {@link BashPermissions}. */
export const bashPermissionsSchema = z.strictObject({
  allowWrite: z.boolean().default(true),
  allowedCommands: z.array(entry).readonly().optional(),
  blockedCommands: z.array(entry).readonly().default([]),
  judge: z.custom<CommandJudge>((value) => typeof value === 'function', 'it has to be a function').optional(),
});

/**
 * Makes one policy of all rules.
 *
 * Lines are parsed as shell, so that quoting, lists, substitutions and `env`, `sudo`, `xargs`, `bash -c` and their like
 * hide nothing; a line that cannot be parsed is refused as soon as there is any rule.
 *
 * @throws WorkspaceOptionsError for an option that is unknown or wrong.
 *
 * @example
 * ```ts
 * const policy = createCommandPolicy({ allowedCommands: ['npm test', 'git'], blockedCommands: ['git push'] });
 * await policy('npm test && git -C . push', { cwd: '/work' }); // { decision: 'deny', reason: … }
 * ```
 */
export const createCommandPolicy = (permissions: BashPermissions = {}): CommandPolicy => {
  const { allowWrite, allowedCommands, blockedCommands, judge } = parseOptions(
    'createCommandPolicy',
    bashPermissionsSchema,
    permissions,
  );
  const hasRules = !allowWrite || allowedCommands !== undefined || blockedCommands.length > 0;

  const whyNot = (line: string): string | undefined => {
    if (!hasRules) return undefined;
    const effective = effectiveCommands(line);
    if (!effective.ok) return `The command cannot be checked: ${effective.problem}.`;
    for (const command of effective.commands) {
      const problem =
        (blockedCommands.length > 0 ? whyBlocked(command, blockedCommands) : undefined) ??
        (allowedCommands === undefined ? undefined : whyNotAllowed(command, allowedCommands)) ??
        (allowWrite ? undefined : whyReadOnly(command));
      if (problem !== undefined) return problem;
    }
    return undefined;
  };

  return async (line, context) => {
    const reason = whyNot(line);
    if (reason !== undefined) return { decision: 'deny', reason };
    return judge === undefined ? { decision: 'allow', reason: '' } : judged(judge, line, context);
  };
};

const configSchema = z.strictObject({
  allow_write: z.boolean().optional(),
  allowed_commands: z.array(z.string()).optional(),
  blocked_commands: z.array(z.string()).optional(),
});

/**
 * Reads the words that configuration files use: `allow_write`, `allowed_commands` and `blocked_commands`.
 *
 * @throws WorkspaceOptionsError for a word that is unknown, or a wrong value.
 */
export const bashConfig = (
  config: unknown,
): Pick<BashPermissions, 'allowWrite' | 'allowedCommands' | 'blockedCommands'> => {
  const { allow_write, allowed_commands, blocked_commands } = parseOptions('bashConfig', configSchema, config);
  return { allowWrite: allow_write, allowedCommands: allowed_commands, blockedCommands: blocked_commands };
};

const judged = async (
  judge: CommandJudge,
  line: string,
  context: { readonly cwd: string },
): Promise<CommandVerdict> => {
  try {
    const { decision, reason, findings = [] } = await judge(line, context);
    if (decision === 'allow') return { decision, reason: '' };
    const details = findings.map(({ why, instead }) => (instead === undefined ? why : `${why} ${instead}`));
    const text = [reason, ...details].filter((part) => part !== undefined && part !== '').join(' ');
    return { decision: decision === 'ask' ? 'ask' : 'deny', reason: text || 'The policy does not allow this command.' };
  } catch (error) {
    return {
      decision: 'deny',
      reason: `The policy could not judge this command: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
};

const whyReadOnly = (command: ShellCommand): string | undefined => {
  const reason = whyItWrites(command) ?? whyDangerous(command);
  return reason === undefined
    ? undefined
    : `Only commands that read are allowed here (allowWrite is false): ${reason}.`;
};

/** Variables that decide what a command is, or what it runs. */
const powerful =
  /^(?:PATH|IFS|ENV|BASH_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|LD_.*|DYLD_.*|GIT_.*|NODE_OPTIONS|PYTHON.*|PERL.*|RUBY.*|JAVA_TOOL_OPTIONS|PAGER|EDITOR|VISUAL|LESSOPEN|LESSCLOSE|RIPGREP_CONFIG_PATH)$/;

const whyDangerous = ({ assigns }: ShellCommand): string | undefined => {
  const name = assigns.find((one) => powerful.test(one));
  return name === undefined ? undefined : `it sets ${name}, which decides what commands do`;
};

const whyNotAllowed = (command: ShellCommand, allowed: readonly (readonly string[])[]): string | undefined => {
  const dangerous = whyDangerous(command);
  if (dangerous !== undefined) return `The command is not allowed: ${dangerous}.`;
  const { words } = command;
  if (words.length === 0 || allowed.some((entry) => entry.every((word, index) => words[index]?.value === word))) {
    return undefined;
  }
  const shown =
    words[0]?.value === undefined ? 'A command whose name is only known when it runs' : JSON.stringify(words[0].value);
  return `${shown} is not among the allowed commands: ${allowed.map((entry) => entry.join(' ')).join(', ') || 'there are none'}.`;
};

const whyBlocked = ({ words }: ShellCommand, blocked: readonly (readonly string[])[]): string | undefined => {
  const [first, ...args] = words;
  if (first === undefined) return undefined;
  if (first.value === undefined) {
    return 'A command whose name is only known when it runs cannot be checked against blockedCommands.';
  }
  const name = sameName(first.value);
  const found = blocked.find(([program = '', ...rest]) => sameName(program) === name && mayContain(args, rest));
  return found === undefined ? undefined : `"${found.join(' ')}" is blocked.`;
};

const sameName = (program: string): string => programName(program).toLowerCase();

/** Whether these words are among the arguments, in this order. A word that is not known may be the first one. */
const mayContain = (args: readonly ShellWord[], wanted: readonly string[]): boolean => {
  let found = 0;
  let isFirst = true;
  for (const { value, start } of args) {
    if (found === wanted.length) return true;
    if (value === wanted[found] || (value === undefined && isFirst)) found += 1;
    if (!start.startsWith('-')) isFirst = false;
  }
  return found === wanted.length;
};
