import { anyObject, anyString, arrayOf, checkOptions } from '@h/options';
import { withoutSecrets } from './environment.js';
import { outputWindow } from './output-window.js';
import { ProcessError } from './process-error.js';
import { runProcess } from './run-process.js';

/** A command that checks something, such as `npm test`. */
export interface CheckRun {
  /** A shell line. */
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Maximum length of {@link CheckEnd.output}, in characters. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
}

/** How a check ended. */
export interface CheckEnd {
  /** `undefined` if the check did not exit. */
  readonly exitCode: number | undefined;
  /** The end of its output, including standard error. */
  readonly output: string;
  /** Whether the output was longer. */
  readonly isTruncated?: boolean | undefined;
  /** The reason why it did not exit: `aborted`, `killed`, `not-started`, `timed-out`, or a string of another runner. */
  readonly failure?: string | undefined;
}

/** Runs checks: {@link localChecks}, a sandbox, another machine. Reports failures in its result. */
export type CheckRunner = (run: CheckRun) => PromiseLike<CheckEnd>;

/** Options of {@link localChecks}. */
export interface LocalChecksOptions {
  /**
   * The environment of checks. Secrets are removed, because checks run code that a model wrote.
   *
   * @defaultValue `process.env`
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Names of variables that are kept although they look like secrets. */
  readonly keepEnv?: readonly string[] | undefined;
}

/** Variables by which git tells its hooks about a repository. A check must find its own repository. */
const ofGitHooks = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|COMMON_DIR|QUARANTINE_PATH)$/;

const plainOutput = { CI: '1', NO_COLOR: '1', FORCE_COLOR: '0', TERM: 'dumb' };

/**
 * Creates a runner that runs checks on this machine, without secrets in their environment.
 *
 * A check and its process group end together: when it exits, at its time limit, at the abort, and when this process
 * ends.
 *
 * @throws InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const run = localChecks();
 * const { exitCode, output } = await run({ command: 'npm test', cwd, timeoutMs: 60_000, maxChars: 4_000, signal });
 * ```
 */
export const localChecks = (options: LocalChecksOptions = {}): CheckRunner => {
  checkOptions('localChecks()', options, { env: anyObject, keepEnv: arrayOf(anyString) });
  const { env = process.env, keepEnv } = options;
  const inherited = Object.entries(withoutSecrets(env, keepEnv)).filter(([name]) => !ofGitHooks.test(name));
  const environment = { ...Object.fromEntries(inherited), ...plainOutput };
  return (run) => runLocally(run, environment);
};

const runLocally = async (
  { command, cwd, timeoutMs, maxChars, signal }: CheckRun,
  environment: NodeJS.ProcessEnv,
): Promise<CheckEnd> => {
  const window = outputWindow({ maxChars, headShare: 0 });
  const ended = (exitCode: number | undefined, failure?: string): CheckEnd => {
    const { text, omittedBytes } = window.read();
    const isTruncated = omittedBytes > 0;
    return { exitCode, output: text, isTruncated, ...(failure !== undefined && { failure }) };
  };
  try {
    const {
      ending,
      exitCode,
      signal: killedBy,
    } = await runProcess({
      // One pipe for both streams keeps the order of their output.
      command: process.platform === 'win32' ? command : ['/bin/sh', '-c', `exec 2>&1\n${command}`],
      cwd,
      environment,
      timeoutMs,
      signal,
      onOutput: (chunk) => window.write(chunk),
    });
    if (ending !== 'exited') return ended(undefined, ending);
    return killedBy === null ? ended(exitCode ?? undefined) : ended(undefined, 'killed');
  } catch (error) {
    if (error instanceof ProcessError && error.code === 'process-not-started') return ended(undefined, 'not-started');
    throw error;
  }
};
