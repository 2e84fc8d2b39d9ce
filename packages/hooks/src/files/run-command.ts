import { later } from '@h/options';
import { outputWindow, ProcessError, runProcess, type ProcessEnd } from '@h/process';
import type { SchedulerLike } from 'rxjs';

/** A hook command to run, and its limits. */
export interface CommandRun {
  readonly command: string;
  /** If given, the command is a program that runs without a shell, with these arguments. */
  readonly args?: readonly string[] | undefined;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The standard input of the command. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly scheduler: SchedulerLike;
}

/** How a command ended. */
export interface CommandOutcome {
  /** `undefined` if the command did not exit normally. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** The reason if the command did not exit normally. */
  readonly failure?: 'timed-out' | 'cancelled' | 'killed' | 'not-started' | undefined;
}

const maxOutputChars = 1_000_000;

/**
 * Runs a hook command. The time limit, an abort and the end of this process kill its process group. Background
 * processes of a command that exits normally continue to run.
 */
export const runCommand = async (run: CommandRun): Promise<CommandOutcome> => {
  const { command, args, cwd, env, input, timeoutMs, signal, scheduler } = run;
  const output = { stdout: window(), stderr: window() };
  const limit = new AbortController();
  const stopTimer = later(scheduler, timeoutMs, () => limit.abort());
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
    stopTimer();
  }
};

const window = () => outputWindow({ maxChars: maxOutputChars, headShare: 1 });

const failureOf = ({ ending, signal }: ProcessEnd, limit: AbortSignal): CommandOutcome['failure'] => {
  if (ending === 'aborted') return limit.aborted ? 'timed-out' : 'cancelled';
  return signal === null ? undefined : 'killed';
};
