import { existsSync } from 'node:fs';
import { errorCodeOf } from '@h/paths/open';
import { captureProcess, minimalEnvironment, nonInteractive, ProcessError } from '@h/process';
import { toErrorInfo } from '@h/turn';
import { GitError } from './git-error.js';
import { harmlessConfig } from './harmless-config.js';

/** How a git command is run. */
export interface GitRunOptions {
  /** Written to its standard input. */
  readonly input?: string | undefined;
  /** Variables that override the default ones. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * How long the command may run, in milliseconds.
   *
   * @defaultValue `60_000`, local commands take seconds even in large repositories
   */
  readonly timeoutMs?: number | undefined;
  /** Receives the output, which is then not collected. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
}

/** The result of a git command. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs git with the given arguments. A failure is an exit code; rejects only if git could not be run. */
export type GitRunner = (args: readonly string[], options?: GitRunOptions) => Promise<GitResult>;

/** Options of {@link createGitRunner}. */
export interface GitRunnerOptions {
  /** The folder to run in. */
  readonly root: string;
  /**
   * Whether settings of the repository may run programs: hooks, filters, file system monitors, signing, credential
   * helpers. Settings of the user and the system are read only then, too.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
}

/** Removed: git must find the repository from the folder, even if this process runs in a git hook. */
const locations = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
] as const;

const always = {
  ...nonInteractive,
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_ALLOW_PROTOCOL: 'file:git:http:https:ssh',
  // Paths are file names, never patterns.
  GIT_LITERAL_PATHSPECS: '1',
} as const;

const untrusted = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_ASKPASS: 'true',
  // Hooks of a remote on this machine would run on this machine, so `file:` is excluded.
  GIT_ALLOW_PROTOCOL: 'http:https:ssh',
} as const;

/**
 * Creates a function that runs git in a folder without prompts.
 *
 * In an untrusted folder, programs that the repository configures are disabled for each command: an agent may have
 * changed the settings since the last one.
 */
export const createGitRunner = ({ root, trusted = false }: GitRunnerOptions): GitRunner => {
  const { SSH_AUTH_SOCK } = process.env;
  const inherited = trusted
    ? process.env
    : { ...minimalEnvironment(process.env), ...(SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK }) };
  const base: NodeJS.ProcessEnv = { ...inherited, ...always, ...(!trusted && untrusted) };
  for (const name of locations) delete base[name];

  const run: GitRunner = async (args, { environment, timeoutMs = 60_000, ...options } = {}) => {
    try {
      return await captureProcess({
        ...options,
        command: ['git', ...args],
        cwd: root,
        environment: { ...base, ...environment },
        timeoutMs,
      });
    } catch (error) {
      if (error instanceof ProcessError && error.code === 'process-not-started' && !isShortage(error)) {
        throw new GitError(existsSync(root) ? 'git-missing' : 'git-no-repository', error.message, error);
      }
      throw new GitError('git-failed', `git ${args[0] ?? ''} did not finish: ${toErrorInfo(error).message}`, error);
    }
  };
  if (trusted) return run;
  return async (args, options = {}) => {
    // Reading the settings runs no program.
    const settings = await run(['config', '--list', '--includes', '--name-only', '-z'], { signal: options.signal });
    if (settings.exitCode !== 0) return settings;
    const disabled = harmlessConfig(settings.stdout.toString().split('\0'));
    return run(args, { ...options, environment: { ...disabled, ...options.environment } });
  };
};

/** Whether git is installed, but the system could not start it. */
const isShortage = ({ cause }: ProcessError): boolean => {
  const code = errorCodeOf(cause);
  return code !== undefined && code !== 'ENOENT' && code !== 'EACCES';
};
