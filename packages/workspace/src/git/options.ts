import type { MaybePromise } from '@h/turn';
import * as z from 'zod';
import { parseOptions } from '../options.js';
import type { CommitSummary } from './commit-message.js';
import { GitRepository } from './repository.js';

/** Options of {@link git}. */
export interface GitOptions {
  readonly repository: GitRepository;
  /**
   * Whether turns work on a branch of their own, `<branchPrefix><task>-<time>-<id>`.
   *
   * @defaultValue `true`
   */
  readonly autoBranch?: boolean | undefined;
  /**
   * What the names of branches begin with.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
  /**
   * Whether what a turn changed is committed at its end.
   *
   * @defaultValue `false`
   */
  readonly autoCommit?: boolean | undefined;
  /**
   * Whether what is not committed when a turn begins is the turn's as well, to be committed with its changes: in a work tree
   * that agents have for themselves, it is what a session left behind whose process died.
   *
   * @defaultValue `false`: it is the user's, and stays uncommitted
   */
  readonly adoptUncommitted?: boolean | undefined;
  /**
   * Whether a person has to approve each call of `git_push`.
   *
   * @defaultValue `true`
   */
  readonly requireApproval?: boolean | undefined;
  /**
   * How long to wait for that, in milliseconds; then the answer is no.
   *
   * @defaultValue `600_000`
   */
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * `shared`: all turns on this repository work on one branch, one after the other or at the same time; while several do,
   * each commits what its file tools wrote, and the last one the rest. `per-agent`: each session has its own; sessions that run at the same time need work trees of their own ({@link addWorkTree}).
   *
   * @defaultValue `'shared'`
   */
  readonly workflowBranchStrategy?: 'shared' | 'per-agent' | undefined;
  /**
   * Whether a turn that cannot have its branch is ended (`blocked`). Otherwise it goes on where it is, with a notice.
   *
   * @defaultValue `true`
   */
  readonly required?: boolean | undefined;
  /** Writes the message of a commit, with a model for example. Without one, or if it fails, it is made of task and files. */
  readonly message?: ((summary: CommitSummary) => MaybePromise<string>) | undefined;
  /** Takes secrets out of text. A file whose text it changes is not committed, and messages go through it. */
  readonly redact?: ((text: string) => string) | undefined;
  /** Patterns of paths that are never committed, as in `.gitignore`, besides those of secrets and artifacts. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * Largest file that is committed, in bytes.
   *
   * @defaultValue `5_242_880` (5 MiB)
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * How long a commit may take, in milliseconds, hooks of a trusted repository included. A turn waits for it at its end, so
   * `closeGraceMs` of `harness` has to be longer.
   *
   * @defaultValue `4_000`
   */
  readonly commitTimeoutMs?: number | undefined;
  /** Told what failed after a turn was abandoned, when nobody listens to it any more. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const func = <Type>() => z.custom<Type>((value) => typeof value === 'function', 'it has to be a function');

const schema = z.strictObject({
  repository: z.custom<GitRepository>(
    (value) => value instanceof GitRepository,
    'it has to be what createGitRepository returns',
  ),
  autoBranch: z.boolean().default(true),
  branchPrefix: z.string().min(1).default('agent/'),
  autoCommit: z.boolean().default(false),
  adoptUncommitted: z.boolean().default(false),
  requireApproval: z.boolean().default(true),
  approvalTimeoutMs: z.int().positive().default(600_000),
  workflowBranchStrategy: z.enum(['shared', 'per-agent']).default('shared'),
  required: z.boolean().default(true),
  message: func<NonNullable<GitOptions['message']>>().optional(),
  redact: func<NonNullable<GitOptions['redact']>>().optional(),
  exclude: z.array(z.string().min(1)).readonly().default([]),
  maxFileBytes: z
    .int()
    .positive()
    .default(5 * 1024 ** 2),
  commitTimeoutMs: z.int().positive().default(4_000),
  onError: func<NonNullable<GitOptions['onError']>>().optional(),
});

/** Options with their defaults. */
export type CheckedGitOptions = z.output<typeof schema>;

/** Checks options and fills in defaults. */
export const checkGitOptions = (options: GitOptions): CheckedGitOptions => parseOptions('git', schema, options);

const configSchema = z.strictObject({
  auto_branch: z.boolean().optional(),
  branch_prefix: z.string().min(1).optional(),
  auto_commit: z.boolean().optional(),
  require_approval: z.boolean().optional(),
  workflow_branch_strategy: z.enum(['shared', 'per-agent']).optional(),
});

/**
 * Reads the words that configuration files use: `auto_branch`, `branch_prefix`, `auto_commit`, `require_approval` and
 * `workflow_branch_strategy`.
 *
 * @throws WorkspaceOptionsError for a word that is unknown, or a wrong value.
 *
 * @example
 * ```ts
 * git({ repository, ...gitConfig({ auto_commit: true, workflow_branch_strategy: 'per-agent' }) });
 * ```
 */
export const gitConfig = (config: unknown): Omit<GitOptions, 'repository'> => {
  const { auto_branch, branch_prefix, auto_commit, require_approval, workflow_branch_strategy } = parseOptions(
    'gitConfig',
    configSchema,
    config,
  );
  return {
    autoBranch: auto_branch,
    branchPrefix: branch_prefix,
    autoCommit: auto_commit,
    requireApproval: require_approval,
    workflowBranchStrategy: workflow_branch_strategy,
  };
};
