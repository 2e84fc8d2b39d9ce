import { inheritedEnvironment, nonInteractive } from '../process/environment.js';
import { runProgram } from '../process/run-program.js';
import { StartError } from '../process/run-supervised.js';
import { GitError } from './git-error.js';
import { harmlessConfig } from './harmless-config.js';

/** How a git command is run. */
export interface GitRunOptions {
  /** What it reads. */
  readonly input?: string | undefined;
  /** Variables over the usual ones. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long it may take. @defaultValue `60_000` */
  readonly timeoutMs?: number | undefined;
  /** Takes the output instead of keeping it. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
}

/** What a git command said. */
export interface GitResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs git with these arguments. A failure is an exit code; rejects only if git could not be run. */
export type GitRunner = (args: readonly string[], options?: GitRunOptions) => Promise<GitResult>;

/** Options of {@link createGitRunner}. */
export interface GitRunnerOptions {
  /** The folder to run in. */
  readonly root: string;
  /**
   * Whether the repository's own settings may run programs: hooks, filters, file system monitors, signing, credential
   * helpers. The user's and the system's settings are used only then, too.
   *
   * @defaultValue `false`
   */
  readonly trusted?: boolean | undefined;
}

/** Where a repository is has to be found from the folder, not from a hook in which this process may be running. */
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
  // Paths are names of files here, never patterns.
  GIT_LITERAL_PATHSPECS: '1',
} as const;

const untrusted = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  GIT_ASKPASS: 'true',
  // The hooks of a repository on this machine run on this machine.
  GIT_ALLOW_PROTOCOL: 'http:https:ssh',
} as const;

/**
 * Runs git in a folder, so that it asks nobody anything.
 *
 * In a folder that is not trusted, what the repository's settings would run is switched off for each command anew: an agent
 * may have changed them since.
 */
export const createGitRunner = ({ root, trusted = false }: GitRunnerOptions): GitRunner => {
  const { SSH_AUTH_SOCK } = process.env;
  const inherited = trusted
    ? process.env
    : { ...inheritedEnvironment(process.env), ...(SSH_AUTH_SOCK !== undefined && { SSH_AUTH_SOCK }) };
  const base: NodeJS.ProcessEnv = { ...inherited, ...always, ...(!trusted && untrusted) };
  for (const name of locations) delete base[name];

  const run: GitRunner = async (args, { environment, timeoutMs = 60_000, ...options } = {}) => {
    try {
      return await runProgram({
        ...options,
        argv: ['git', ...args],
        cwd: root,
        environment: { ...base, ...environment },
        timeoutMs,
      });
    } catch (error) {
      if (error instanceof StartError) throw new GitError('git-missing', 'git could not be run; install it.', error);
      throw new GitError(
        'git-failed',
        `git ${args[0] ?? ''} did not come to an end: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
  };
  if (trusted) return run;
  return async (args, options = {}) =>
    run(args, { ...options, environment: { ...(await harmlessConfig(run, options.signal)), ...options.environment } });
};
