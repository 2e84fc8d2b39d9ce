import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { ToolCall } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  nonEmptyString,
  checkOptions,
  arrayOf,
  numberFrom,
  required,
  integerFrom,
} from '@h/options';
import { commitsIn, wordPattern, type CommitCommand, type EarlierCommand } from '@h/shell';
import type { Denial, Hook } from '../hook.js';
import { commandOfCall } from './command-of-call.js';
import { localChecks, type CheckEnd, type CheckRunner } from '@h/process';
import { currentBranch, gitAliases } from './git-queries.js';

/** Options of {@link commitGate}. */
export interface CommitGateOptions {
  /** The command that must succeed before a commit, such as `npm test`. */
  readonly command: string;
  /**
   * The folder of the project; the command runs there.
   *
   * @defaultValue the working directory of the process
   */
  readonly cwd?: string | undefined;
  /**
   * Runs the command. The model may have written the code that runs; use a sandbox.
   *
   * @defaultValue `localChecks()`, on this machine, without the secrets of the environment
   */
  readonly run?: CheckRunner | undefined;
  /**
   * Time limit of the command in milliseconds. After it, the runner kills the process group, and the gate denies the
   * commit.
   *
   * @defaultValue `600_000`, the limit of a hook command in Claude Code
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The maximum number of characters, from the end of the output, that the model reads after a failure.
   *
   * @defaultValue `4_000`, about 60 lines
   */
  readonly maxChars?: number | undefined;
  /**
   * Patterns of agent branches, where work in progress can be committed without a test, so that a session with failing
   * tests can still end with a commit. A commit is work in progress if its message begins with `wip`, `fixup!` or
   * `squash!`.
   *
   * @defaultValue `['agent/*']`, the branches that `@h/git` creates
   */
  readonly wipBranches?: readonly string[] | undefined;
  /**
   * Whether a command line can commit after other commands that may change files. The test runs before these changes.
   *
   * @defaultValue `false`; the reason asks the model to run these commands first and to commit in a separate call
   */
  readonly allowMixed?: boolean | undefined;
  /**
   * Returns the shell command that a call would run, or `undefined` if the call runs none.
   *
   * @defaultValue `command`, `cmd`, `commands` or `script` of the input: a string, or an array of arguments
   */
  readonly commandOf?: ((call: ToolCall) => string | undefined) | undefined;
}

const checks = {
  command: required(nonEmptyString),
  cwd: nonEmptyString,
  run: anyFunction,
  timeoutMs: numberFrom(1, Infinity),
  maxChars: integerFrom(1, Infinity),
  wipBranches: arrayOf(nonEmptyString),
  allowMixed: anyBoolean,
  commandOf: anyFunction,
};

/** Extra time for the gate, because the runner itself stops the command at `timeoutMs`. */
const reserveMs = 10_000;

/**
 * Denies a `git commit` unless a command succeeds first, and reports the failure to the model.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * hooks([commitGate({ command: 'npm test', cwd: '/work', timeoutMs: 300_000 })]);
 * ```
 */
export const commitGate = (options: CommitGateOptions): Hook => {
  checkOptions('commitGate()', options, checks);
  const {
    command,
    cwd = process.cwd(),
    run = localChecks(),
    timeoutMs = 600_000,
    maxChars = 4_000,
    wipBranches = ['agent/*'],
    allowMixed = false,
    commandOf,
  } = options;
  const project = resolve(cwd);
  const isAgentBranch = wipBranches.map((pattern) => wordPattern(pattern, false));

  const isExempt = async (commit: CommitCommand, signal: AbortSignal): Promise<boolean> => {
    if (!isWorkInProgress(commit) || commit.folder === undefined || commit.before.some(changesBranch)) return false;
    const branch = await currentBranch(commit.folder, signal);
    return branch !== undefined && isAgentBranch.some((matches) => matches([branch]));
  };
  const test = async (signal: AbortSignal): Promise<Denial | undefined> => {
    const end = await run({ command, cwd: project, timeoutMs, maxChars, signal });
    return end.exitCode === 0 ? undefined : { decision: 'deny', reason: reasonOf(command, end, timeoutMs) };
  };
  const judge = async (commits: readonly CommitCommand[], signal: AbortSignal): Promise<Denial | undefined> => {
    const exempt = await Promise.all(commits.map((commit) => isExempt(commit, signal)));
    return commits.length > 0 && exempt.every(Boolean) ? undefined : test(signal);
  };

  return {
    name: 'commit-gate',
    // Other gates run first, because a call that they deny needs no test.
    priority: -100,
    timeoutMs: { beforeTool: timeoutMs + reserveMs },
    beforeTool: async ({ call, signal }) => {
      const found = commandOfCall(call, project);
      const line = commandOf === undefined ? found?.command : commandOf(call);
      if (line === undefined) return undefined;
      if (!/\bgit\b/.test(line) && !mayHideGit.test(line)) return undefined;
      const folder = found?.cwd ?? project;
      const aliases = await gitAliases(folder, signal);
      const { commits, isUnclear } = commitsIn(line, { cwd: folder, home: homedir(), aliases });
      if (commits.length === 0 && !isUnclear) return undefined;
      const mixed = allowMixed
        ? undefined
        : commits.flatMap(({ before }) => before).find((earlier) => mayChangeFiles(earlier, command));
      if (mixed !== undefined) return { decision: 'deny', reason: mixedReason(mixed.argv) };
      return judge(commits, signal);
    },
  };
};

/** Characters that can hide the word `git` in a command line: quotes, expansions, patterns. */
const mayHideGit = /[\\'"$`{*?[]/;

const isWorkInProgress = ({ message, isFixup }: CommitCommand): boolean =>
  isFixup || /^\s*(?:wip\b|\[wip\]|fixup!|squash!)/i.test(message ?? '');

const changesBranch = ({ argv: [program, ...args] }: EarlierCommand): boolean =>
  program?.endsWith('git') === true &&
  args.some((word) => /^(?:checkout|switch|worktree|symbolic-ref|branch)$/.test(word));

const harmless: ReadonlySet<string> = new Set([
  'cd',
  'pushd',
  'popd',
  'echo',
  'printf',
  'cat',
  'ls',
  'pwd',
  'true',
  'false',
  ':',
  'test',
  '[',
  'set',
  'export',
  'sleep',
  'date',
  'head',
  'tail',
  'grep',
  'wc',
  'env',
  'command',
  'time',
  'sudo',
  'eval',
  'unset',
  'mktemp',
  'read',
]);

/** Subcommands of git that change tested files. Commands such as `git add` only select what to commit. */
const changing = /^(?:pull|merge|rebase|cherry-pick|revert|apply|am|reset|restore|stash|clean|rm|mv)$/;

const mayChangeFiles = ({ argv: [program = '', ...args], isRedirected }: EarlierCommand, command: string): boolean => {
  const name = program.slice(program.lastIndexOf('/') + 1);
  if (isRedirected) return true;
  if (name === '' || [program, ...args].join(' ') === command) return false;
  // The commands that `bash -c` runs are listed separately.
  if (/^(?:ba|da|z|k)?sh$/.test(name)) return !args.some((word) => /^-[a-z]*c$/.test(word));
  if (name !== 'git') return !harmless.has(name);
  const at = args.findIndex((word) => /^(?:checkout|switch)$/.test(word));
  return at === -1
    ? args.some((word) => changing.test(word))
    : !args.slice(at + 1).some((word) => /^-[a-z]*[bcBC]$/.test(word));
};

const mixedReason = (argv: readonly string[]): string =>
  `The commit was denied: "${argv.join(' ').slice(0, 100).toWellFormed()}" in the same line may change files after they have been tested. Run it first, then commit in a separate call.`;

const reasonOf = (command: string, { exitCode, output, isTruncated, failure }: CheckEnd, timeoutMs: number): string => {
  const what: Readonly<Record<string, string>> = {
    'timed-out': `did not end within ${timeoutMs} ms`,
    aborted: 'was aborted',
    killed: 'was killed',
    'not-started': 'could not be started',
  };
  const how = failure === undefined ? `failed with exit code ${exitCode ?? 'unknown'}` : (what[failure] ?? failure);
  const said =
    output.trim() === '' ? '' : `\n\n${isTruncated ? 'The end of its output:\n' : 'Its output:\n'}${output.trim()}`;
  return `The commit was denied: ${command} ${how}. Fix that, then commit again.${said}`;
};
