import {
  anyBoolean,
  anyFunction,
  arrayOf,
  checkOptions,
  instanceOf,
  integerFrom,
  nonEmptyString,
  oneOf,
  required,
  type OptionChecks,
} from '@h/options';
import type { JSONObject, MaybePromise } from '@h/turn';
import type { CommitSummary } from './commit-message.js';
import { GitRepository } from './repository.js';

/** Options of {@link git}. */
export interface GitOptions {
  /** The repository, from `createGitRepository()`. */
  readonly repository: GitRepository;
  /**
   * Whether turns work on a separate branch, `<branchPrefix><task>-<time>-<id>`.
   *
   * @defaultValue `true`
   */
  readonly autoBranch?: boolean | undefined;
  /**
   * The start of branch names.
   *
   * @defaultValue `'agent/'`
   */
  readonly branchPrefix?: string | undefined;
  /**
   * Whether the changes of a turn are committed at its end.
   *
   * @defaultValue `false`
   */
  readonly autoCommit?: boolean | undefined;
  /**
   * Whether uncommitted changes at the start of a turn are committed with its own. In a work tree for agents alone,
   * they are the work of a session whose process was killed.
   *
   * @defaultValue `false`: they belong to the user and stay uncommitted
   */
  readonly adoptUncommitted?: boolean | undefined;
  /**
   * Whether a person must approve each call of `git_push`.
   *
   * @defaultValue `true`
   */
  readonly requireApproval?: boolean | undefined;
  /**
   * How long to wait for the approval, in milliseconds. Afterwards the push is denied.
   *
   * @defaultValue `600_000`, the default of approvals in `@h/hooks`
   */
  readonly approvalTimeoutMs?: number | undefined;
  /**
   * `shared`: turns of the same `workflow` use one branch. While several of them run, each commits the files that its
   * file tools wrote, and the last one commits the rest. `per-agent`: each session has its own branch.
   *
   * Turns with different branches cannot run in one work tree at the same time; see {@link addWorkTree}.
   *
   * @defaultValue `'shared'`
   */
  readonly workflowBranchStrategy?: 'shared' | 'per-agent' | undefined;
  /**
   * Names the workflow of a turn: turns with the same name share a branch.
   *
   * @defaultValue the session; for a sub-agent, the session at the root of its tree
   */
  readonly workflow?: ((turn: WorkflowTurn) => string) | undefined;
  /**
   * Whether a turn without its branch ends as `blocked`. Otherwise it continues on the current branch, with a notice.
   *
   * @defaultValue `true`
   */
  readonly required?: boolean | undefined;
  /**
   * Writes the commit message, for example with a model. By default, and if it fails or takes longer than
   * `commitTimeoutMs`, the message lists task and files.
   */
  readonly message?: ((summary: CommitSummary) => MaybePromise<string>) | undefined;
  /**
   * Removes secrets from text. A file whose text it changes is not committed; it is also applied to commit messages.
   */
  readonly redact?: ((text: string) => string) | undefined;
  /** Patterns of paths that are never committed, as in `.gitignore`, besides secrets and artifacts. */
  readonly exclude?: readonly string[] | undefined;
  /**
   * The largest file that is committed, in bytes.
   *
   * @defaultValue `5_242_880` (5 MiB), more than source files have, and less than builds and dumps
   */
  readonly maxFileBytes?: number | undefined;
  /**
   * How long each part of a commit may take, in milliseconds: staging the files, with filters of a trusted repository;
   * `message`; and the commit, with hooks of a trusted repository. The end of the turn waits for all, so `closeGraceMs`
   * of `harness` must be longer.
   *
   * @defaultValue `4_000`, within the 5 s of `closeGraceMs`
   */
  readonly commitTimeoutMs?: number | undefined;
  /**
   * Receives errors that occur after the end of a turn: it was aborted, or `closeGraceMs` of `harness` has passed. A
   * commit that is created then has no event, and is reported as `git-late`.
   */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** What identifies the workflow of a turn. */
export interface WorkflowTurn {
  readonly session: string;
  readonly trigger: string;
  readonly metadata: JSONObject;
}

const checks: OptionChecks<GitOptions> = {
  repository: required(instanceOf(GitRepository, 'a repository that createGitRepository() returned')),
  autoBranch: anyBoolean,
  branchPrefix: nonEmptyString,
  autoCommit: anyBoolean,
  adoptUncommitted: anyBoolean,
  requireApproval: anyBoolean,
  approvalTimeoutMs: integerFrom(1),
  workflowBranchStrategy: oneOf('shared', 'per-agent'),
  workflow: anyFunction,
  required: anyBoolean,
  message: anyFunction,
  redact: anyFunction,
  exclude: arrayOf(nonEmptyString),
  maxFileBytes: integerFrom(1),
  commitTimeoutMs: integerFrom(1),
  onError: anyFunction,
};

type Defaults =
  | 'autoBranch'
  | 'branchPrefix'
  | 'autoCommit'
  | 'adoptUncommitted'
  | 'requireApproval'
  | 'approvalTimeoutMs'
  | 'workflow'
  | 'required'
  | 'exclude'
  | 'maxFileBytes'
  | 'commitTimeoutMs';

/** Options with their defaults. */
export type CheckedGitOptions = Omit<GitOptions, Defaults | 'workflowBranchStrategy'> & {
  readonly [Name in Defaults]-?: Exclude<GitOptions[Name], undefined>;
};

/** Checks options and fills in defaults. */
export const checkGitOptions = (options: GitOptions): CheckedGitOptions => {
  checkOptions('git()', options, checks);
  const { workflowBranchStrategy: strategy = 'shared', workflow = rootSession, ...rest } = options;
  return {
    ...rest,
    autoBranch: rest.autoBranch ?? true,
    branchPrefix: rest.branchPrefix ?? 'agent/',
    autoCommit: rest.autoCommit ?? false,
    adoptUncommitted: rest.adoptUncommitted ?? false,
    requireApproval: rest.requireApproval ?? true,
    approvalTimeoutMs: rest.approvalTimeoutMs ?? 600_000,
    workflow: strategy === 'shared' ? workflow : ({ session }) => session,
    required: rest.required ?? true,
    exclude: rest.exclude ?? [],
    maxFileBytes: rest.maxFileBytes ?? 5 * 1024 ** 2,
    commitTimeoutMs: rest.commitTimeoutMs ?? 4_000,
  };
};

/** The session that a person talks to: for a sub-agent, the one at the root of its tree. */
const rootSession = ({ session, metadata }: WorkflowTurn): string => {
  const { subagent } = metadata;
  const root = typeof subagent === 'object' && subagent !== null && 'root' in subagent ? subagent['root'] : undefined;
  return typeof root === 'string' ? root : session;
};

const configChecks = {
  auto_branch: anyBoolean,
  branch_prefix: nonEmptyString,
  auto_commit: anyBoolean,
  require_approval: anyBoolean,
  workflow_branch_strategy: oneOf('shared', 'per-agent'),
};

interface GitConfig {
  readonly auto_branch?: boolean;
  readonly branch_prefix?: string;
  readonly auto_commit?: boolean;
  readonly require_approval?: boolean;
  readonly workflow_branch_strategy?: 'shared' | 'per-agent';
}

/**
 * Reads options in the notation of configuration files: `auto_branch`, `branch_prefix`, `auto_commit`,
 * `require_approval` and `workflow_branch_strategy`.
 *
 * @throws InvalidOptionError for an unknown name or a wrong value
 *
 * @example
 * ```ts
 * git({ repository, ...gitConfig({ auto_commit: true, workflow_branch_strategy: 'per-agent' }) });
 * ```
 */
export const gitConfig = (config: unknown): Omit<GitOptions, 'repository'> => {
  checkOptions<object>('gitConfig()', config as object, configChecks);
  const { auto_branch, branch_prefix, auto_commit, require_approval, workflow_branch_strategy } = config as GitConfig;
  return {
    autoBranch: auto_branch,
    branchPrefix: branch_prefix,
    autoCommit: auto_commit,
    requireApproval: require_approval,
    workflowBranchStrategy: workflow_branch_strategy,
  };
};
