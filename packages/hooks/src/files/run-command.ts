import { outputWindow, ProcessError, runProcess, type ProcessEnd } from '@h/process';
import type { SchedulerLike } from 'rxjs';

/** A hook command to run, and its limits. */
export interface CommandRun {
  readonly command: string;
  /** If given, the command is a program that runs without a shell, with these arguments. */
  readonly args?: readonly string[] | undefined;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to its standard input. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly scheduler: SchedulerLike;
}

/** How a command ended. */
export interface CommandOutcome {
  /** `undefined` if it did not exit. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it did not exit. */
  readonly failure?: 'timed-out' | 'cancelled' | 'killed' | 'not-started' | undefined;
}

const maxOutputChars = 1_000_000;

/** The longest delay of a timer, in milliseconds. */
const maxTimeoutMs = 2_147_483_647;

/**
 * Runs a hook command. It is ended with its process group at its time limit, when it is canceled, and when this process
 * ends. Processes that it leaves in the background after it exited keep running.
 */
export const runCommand = async (run: CommandRun): Promise<CommandOutcome> => {
  const { command, args, cwd, env, input, timeoutMs, signal, scheduler } = run;
  const output = { stdout: window(), stderr: window() };
  const limit = new AbortController();
  const timer = timeoutMs > maxTimeoutMs ? undefined : scheduler.schedule(() => limit.abort(), timeoutMs);
  const outcomeOf = (exitCode: number | undefined, failure?: CommandOutcome['failure']): CommandOutcome => ({
    exitCode,
    stdout: output.stdout.read().text,
    stderr: output.stderr.read().text,
    ...(failure !== undefined && { failure }),
  });
  try {
    const end = await runProcess({
      command: args === undefined ? command : [command, ...args],
      cwd,
      environment: env,
      input,
      timeoutMs: Infinity,
      signal: AbortSignal.any([signal, limit.signal]),
      background: 'keep',
      onOutput: (chunk, source) => output[source].write(chunk),
    });
    const failure = failureOf(end, limit.signal);
    return failure === undefined ? outcomeOf(end.exitCode ?? undefined) : outcomeOf(undefined, failure);
  } catch (error) {
    if (error instanceof ProcessError && error.code === 'process-not-started') {
      return outcomeOf(undefined, 'not-started');
    }
    throw error;
  } finally {
    timer?.unsubscribe();
  }
};

const window = () => outputWindow({ maxChars: maxOutputChars, headShare: 1 });

const failureOf = ({ ending, signal }: ProcessEnd, limit: AbortSignal): CommandOutcome['failure'] => {
  if (ending === 'aborted') return limit.aborted ? 'timed-out' : 'cancelled';
  return signal === null ? undefined : 'killed';
};
