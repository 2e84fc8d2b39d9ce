import { isAbsolute, resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import { anyFunction, nonEmptyString, checkOptions, arrayOf, objectOf, oneOf } from '@h/options';
import { requiresApproval } from '@h/shell';
import { matchesWildcard } from '@h/wildcard';
import { coversCall } from '../approvals/pattern.js';
import type { Hook } from '../hook.js';

/** A finding about a command, as `judgeCommand` and `commandPolicy` return it. */
export interface CommandFinding {
  readonly argv: readonly string[];
  readonly why: string;
}

/** A tool whose calls require approval. */
export interface ApprovalTool {
  /** The name of the tool; `*` matches any characters. */
  readonly tool: string;
  /** The reason that the user reads. */
  readonly why: string;
}

/** Options of {@link approvals}. */
export interface ApprovalsOptions {
  /**
   * Which calls require approval. `never`: none. `on-risk`: commands with findings, calls of the listed `tools`, and
   * calls with the effect `destructive`. `always`: these, and all calls without the effect `read-only`.
   *
   * @defaultValue `'on-risk'`
   */
  readonly mode?: 'always' | 'never' | 'on-risk' | undefined;
  /**
   * Judges a command. Every finding requires approval, including findings that the judge would deny.
   *
   * @defaultValue `requiresApproval`: pushes, pull requests, deployments, migrations, releases and destructive commands
   */
  readonly judge?:
    | ((
        command: string,
        context: { readonly cwd: string },
      ) => readonly CommandFinding[] | { readonly findings: readonly CommandFinding[] })
    | undefined;
  /**
   * Tools whose calls require approval if their input contains no command.
   *
   * @defaultValue `approvalTools`
   */
  readonly tools?: readonly ApprovalTool[] | undefined;
  /**
   * The folder of the project; relative folders of calls start there.
   *
   * @defaultValue the working directory of the process
   */
  readonly cwd?: string | undefined;
}

/** Common names of tools whose effects other people can see. */
export const approvalTools: readonly ApprovalTool[] = [
  ...['create', 'merge', 'close', 'update'].flatMap((verb) =>
    ['pull_request', 'pull-request', 'merge_request'].map((what) => ({
      tool: `*${verb}_${what}*`,
      why: 'It opens or changes a pull request.',
    })),
  ),
  ...[
    '*push_files*',
    '*git_push*',
    '*create_or_update_file*',
    '*delete_file*',
    '*create_release*',
    '*create_repository*',
    '*fork_repository*',
  ].map((tool) => ({ tool, why: 'It changes something that others see.' })),
  ...['deploy', '*_deploy', 'deploy_*', '*_deploy_*', '*publish*'].map((tool) => ({ tool, why: 'It deploys.' })),
  ...['*apply_migration*', '*run_migration*', '*migrate_database*'].map((tool) => ({
    tool,
    why: 'It migrates a database.',
  })),
];

const checks = {
  mode: oneOf('always', 'never', 'on-risk'),
  judge: anyFunction,
  tools: arrayOf(objectOf({ tool: nonEmptyString, why: nonEmptyString })),
  cwd: nonEmptyString,
};

/**
 * Requests approval for calls that are public or irreversible: pushes, pull requests, deployments, migrations.
 *
 * This hook never denies a call. To deny commands, add a hook such as `destructiveCommands()`.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([approvals({ mode: 'on-risk', cwd: '/work' })], { approvalStore: memoryApprovalStore() });
 * ```
 */
export const approvals = (options: ApprovalsOptions = {}): Hook => {
  checkOptions('approvals()', options, checks);
  const { mode = 'on-risk', judge = requiresApproval, tools = approvalTools, cwd = process.cwd() } = options;
  const reasonsFor = (
    call: ToolCall,
  ): { readonly reasons: readonly string[]; readonly patterns: readonly string[] } => {
    const command = memberOf(call.input, 'command');
    if (command !== undefined) {
      const found = judge(command, { cwd: folderOf(call.input, cwd) });
      const findings = 'findings' in found ? found.findings : found;
      return {
        reasons: findings.map(({ why }) => why),
        patterns: findings.flatMap(({ argv }) => patternsFor(argv, call.input)),
      };
    }
    const known = tools.find(({ tool }) => matchesWildcard(tool, call.name));
    if (known) return { reasons: [known.why], patterns: [] };
    return {
      reasons: call.effect === 'destructive' ? [`The effects of the tool ${call.name} cannot be undone.`] : [],
      patterns: [],
    };
  };
  return {
    name: 'approvals',
    ...(mode !== 'never' && {
      beforeTool: ({ call }) => {
        const { reasons, patterns } = reasonsFor(call);
        if (reasons.length > 0) {
          return { decision: 'ask', reason: [...new Set(reasons)].join('\n'), patterns: [...new Set(patterns)] };
        }
        if (mode !== 'always' || call.effect === 'read-only') return undefined;
        return { decision: 'ask', reason: `The agent wants to use the tool ${call.name}.` };
      },
    }),
  };
};

const memberOf = (input: unknown, key: string): string | undefined => {
  const value: unknown =
    typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>)[key] : undefined;
  return typeof value === 'string' ? value : undefined;
};

const folderOf = (input: unknown, cwd: string): string => {
  const own = memberOf(input, 'cwd');
  return resolve(own === undefined || isAbsolute(own) ? (own ?? cwd) : resolve(cwd, own));
};

/** Returns a pattern that the user can allow for longer, if the pattern covers the whole command. */
const patternsFor = (argv: readonly string[], input: unknown): readonly string[] => {
  const words = argv.findIndex((word, index) => index > 0 && !/^[a-z][\w:-]*$/i.test(word));
  const pattern = `${argv.slice(0, Math.min(words === -1 ? argv.length : words, 2)).join(' ')} *`;
  return coversCall(pattern, input) ? [pattern] : [];
};
