import { resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, arrayOf, oneOf } from '@h/options';
import { commandPolicy, type CommandPolicyOptions, type JudgementFinding } from '@h/shell';
import type { Hook } from '../hook.js';
import { commandOfCall } from './command-of-call.js';

/** Options of {@link destructiveCommands}; those of a policy besides. */
export interface DestructiveCommandsOptions extends CommandPolicyOptions {
  /**
   * The folder of the project.
   *
   * @defaultValue the folder of the process
   */
  readonly cwd?: string | undefined;
  /**
   * Names of the tools that run commands.
   *
   * @defaultValue every tool whose input has a `command`
   */
  readonly tools?: readonly string[] | undefined;
  /**
   * The line of shell that a call would run; nothing for a call that runs none.
   *
   * @defaultValue `command`, `cmd`, `commands` or `script` of the input: a text, or a list of words
   */
  readonly commandOf?: ((call: ToolCall) => string | undefined) | undefined;
  /**
   * The decision about a command that needs approval: `deny` if no user is present.
   *
   * @defaultValue `'ask'`
   */
  readonly doubtful?: 'ask' | 'deny' | undefined;
}

const checks = {
  cwd: nonEmptyString,
  tools: arrayOf(nonEmptyString),
  commandOf: anyFunction,
  doubtful: oneOf('ask', 'deny'),
};

/** More findings than this are not reported. */
const maxTold = 5;

/**
 * Denies tool calls that run destructive commands, and asks about doubtful ones.
 *
 * The model reads which command it is, what it would do and what to do instead. This is a guard rail and not a sandbox;
 * see `judgeCommand`.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([destructiveCommands({ cwd: '/work', decisions: { 'git/clean': 'allow' } })]);
 * ```
 */
export const destructiveCommands = (options: DestructiveCommandsOptions = {}): Hook => {
  const { cwd, tools, commandOf, doubtful = 'ask', ...policy } = options;
  checkOptions('destructiveCommands()', { cwd, tools, commandOf, doubtful }, checks);
  const project = resolve(cwd ?? process.cwd());
  const judge = commandPolicy(policy);
  return {
    name: 'destructive-commands',
    beforeTool: ({ call }) => {
      if (tools !== undefined && !tools.includes(call.name)) return undefined;
      const found = commandOfCall(call, project);
      const command = commandOf === undefined ? found?.command : commandOf(call);
      if (command === undefined) return undefined;
      const { decision, findings } = judge(command, { cwd: found?.cwd ?? project, project });
      if (decision === 'allow') return undefined;
      return { decision: decision === 'ask' ? doubtful : 'deny', reason: reasonOf(findings) };
    },
  };
};

const reasonOf = (findings: readonly JudgementFinding[]): string => {
  const told = findings
    .slice(0, maxTold)
    .map(({ argv, why, instead }) => `${short(argv.join(' '))}: ${why}${instead === undefined ? '' : ` ${instead}`}`);
  const rest = findings.length - told.length;
  return [...told, ...(rest > 0 ? [`And ${rest} more.`] : [])].join('\n');
};

const short = (text: string): string => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text);
