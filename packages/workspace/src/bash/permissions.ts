import type { MaybePromise } from '@h/turn';
import * as z from 'zod';
import { commandPermissions, type CommandPermissionOptions } from '@h/shell/permissions';
import { parseOptions } from '../options.js';

/** Judges a command line before it runs, as `judgeCommand` of `@h/shell` does. */
export type CommandJudge = (command: string, context: { readonly cwd: string }) => MaybePromise<Judgement>;

interface Judgement {
  readonly decision: 'allow' | 'ask' | 'deny';
  readonly reason?: string | undefined;
  readonly findings?: readonly { readonly why: string; readonly instead?: string | undefined }[] | undefined;
}

/**
 * Which commands may run. All rules must agree.
 *
 * `allowWrite: false` and `allowedCommands` accept a positive grammar and deny unknown commands. They do not confine a
 * program that may run; use a sandbox for that.
 */
export interface BashPermissions extends CommandPermissionOptions {
  /** An additional policy, such as `judgeCommand` of `@h/shell`. If it fails, the command is denied. */
  readonly judge?: CommandJudge | undefined;
}

/** The strictest decision of all rules. */
export interface CommandVerdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The reason if the command was denied or needs an approval; empty for `allow`. */
  readonly reason: string;
}

/** Checks {@link BashPermissions}. */
const bashPermissionsSchema = z.strictObject({
  allowWrite: z.boolean().default(true),
  allowedCommands: z.array(z.string()).readonly().optional(),
  blockedCommands: z.array(z.string()).readonly().optional(),
  judge: z.custom<CommandJudge>((value) => typeof value === 'function', 'must be a function').optional(),
});

/**
 * Combines all rules into one function: the permissions of `@h/shell`, then the judge.
 *
 * @throws WorkspaceOptionsError for an option that is unknown or of the wrong type
 * @throws InvalidOptionError `invalid-option` for an entry of a list that is not a plain command
 *
 * @example
 * ```ts
 * const policy = createBashPolicy({ allowedCommands: ['npm test', 'git'], blockedCommands: ['git push'] });
 * await policy('npm test && git -C . push', { cwd: '/work' }); // { decision: 'deny', reason: … }
 * ```
 */
export const createBashPolicy = (
  permissions: BashPermissions = {},
): ((command: string, context: { readonly cwd: string }) => Promise<CommandVerdict>) => {
  const { allowWrite, allowedCommands, blockedCommands, judge } = parseOptions(
    'createBashPolicy',
    bashPermissionsSchema,
    permissions,
  );
  const permitted = commandPermissions({ allowWrite, allowedCommands, blockedCommands });
  return async (line, context) => {
    const verdict = permitted(line, context);
    if (verdict.decision === 'deny' || judge === undefined) return verdict;
    return judged(judge, line, context);
  };
};

const configSchema = z.strictObject({
  allow_write: z.boolean().optional(),
  allowed_commands: z.array(z.string()).optional(),
  blocked_commands: z.array(z.string()).optional(),
});

/**
 * Reads the keys of configuration files: `allow_write`, `allowed_commands` and `blocked_commands`.
 *
 * @throws WorkspaceOptionsError for an unknown key or an invalid value
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
