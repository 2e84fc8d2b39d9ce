import { resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, arrayOf, oneOf } from '@h/options';
import { commandPolicy, type CommandPolicyOptions, type JudgementFinding } from '@h/shell';
import type { Hook } from '../hook.js';
import { commandOfCall } from './command-of-call.js';

/** Options of {@link destructiveCommands}, in addition to those of a command policy. */
export interface DestructiveCommandsOptions extends CommandPolicyOptions {
  /**
   * The folder of the project.
   *
   * @defaultValue the working directory of the process
   */
  readonly cwd?: string | undefined;
  /**
   * Names of the tools that run commands.
   *
   * @defaultValue every tool with a command in its input; see `commandOf`
   */
  readonly tools?: readonly string[] | undefined;
  /**
   * Returns the shell command that a call would run, or `undefined` if the call runs none.
   *
   * @defaultValue `command`, `cmd`, `commands` or `script` of the input: a string, or an array of arguments
   */
  readonly commandOf?: ((call: ToolCall) => string | undefined) | undefined;
  /**
   * The decision about a command that needs approval. Use `'deny'` if no user is present.
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

/** The maximum number of findings in a reason. */
const maxReported = 5;

/**
 * Denies tool calls that run destructive commands, and requests approval for doubtful ones.
 *
 * The reason for the model contains the command, its effect and, if there is one, an alternative. This hook is a
 * guardrail, not a sandbox; see `judgeCommand`.
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
  const reported = findings
    .slice(0, maxReported)
    .map(({ argv, why, instead }) => `${short(argv.join(' '))}: ${why}${instead === undefined ? '' : ` ${instead}`}`);
  const rest = findings.length - reported.length;
  return [...reported, ...(rest > 0 ? [`And ${rest} more.`] : [])].join('\n');
};

const short = (text: string): string => (text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text);
