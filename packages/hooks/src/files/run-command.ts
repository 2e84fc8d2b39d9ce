import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { SchedulerLike } from 'rxjs';

/** A command to run, and its limits. */
export interface CommandRun {
  readonly command: string;
  /** Without a shell, with these arguments. */
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
  /** Nothing where it was killed or could not be started. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it has no exit code. */
  readonly failure?: 'timed-out' | 'cancelled' | 'killed' | 'not-started' | undefined;
}

const maxOutputChars = 1_000_000;
/** How long a group may take to end by itself before it is killed. */
const termGraceMs = 500;
/** How long output may still come from what the command has left in the background. */
const drainMs = 100;

/**
 * Runs a command in a separate process group, and leaves no process behind when it times out or is cancelled: the
 * whole group is asked to end, then killed.
 */
export const runCommand = (run: CommandRun): Promise<CommandOutcome> =>
  new Promise((resolve) => {
    if (run.signal.aborted) {
      resolve({ exitCode: undefined, stdout: '', stderr: '', failure: 'cancelled' });
      return;
    }
    const child = start(run);
    const [stdout, stderr] = [collect(child, 'stdout'), collect(child, 'stderr')];
    let failure: CommandOutcome['failure'];
    let isOver = false;
    const finish = (exitCode: number | null, signal?: NodeJS.Signals | null): void => {
      if (isOver) return;
      isOver = true;
      timer?.unsubscribe();
      drain?.unsubscribe();
      run.signal.removeEventListener('abort', cancel);
      // What was to be ended is ended, also what does not listen; what ended by itself may leave something running.
      if (failure !== undefined) killGroup(child, 'SIGKILL');
      for (const stream of [child.stdout, child.stderr, child.stdin]) stream?.destroy();
      const why = failure ?? (exitCode === null ? (signal ? 'killed' : 'not-started') : undefined);
      resolve({
        exitCode: why === undefined ? (exitCode ?? undefined) : undefined,
        stdout: stdout(),
        stderr: stderr(),
        ...(why !== undefined && { failure: why }),
      });
    };
    const end = (why: 'timed-out' | 'cancelled'): void => {
      if (failure !== undefined || isOver) return;
      failure = why;
      killGroup(child, 'SIGTERM');
      timer?.unsubscribe();
      timer = run.scheduler.schedule(() => {
        killGroup(child, 'SIGKILL');
        finish(null);
      }, termGraceMs);
    };
    const cancel = (): void => end('cancelled');
    let drain: ReturnType<SchedulerLike['schedule']> | undefined;
    let timer: ReturnType<SchedulerLike['schedule']> | undefined =
      run.timeoutMs > 2_147_483_647 ? undefined : run.scheduler.schedule(() => end('timed-out'), run.timeoutMs);
    run.signal.addEventListener('abort', cancel, { once: true });
    child.once('error', () => finish(null));
    child.once('close', (exitCode, signal) => finish(exitCode, signal));
    child.once('exit', (exitCode, signal) => {
      drain = run.scheduler.schedule(() => finish(exitCode, signal), drainMs);
    });
    // A process that does not read its input may close it.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(run.input);
  });

const start = ({ command, args, cwd, env }: CommandRun): ChildProcess => {
  const options = { cwd, env, detached: process.platform !== 'win32', windowsHide: true, stdio: 'pipe' } as const;
  if (args) return spawn(command, args, options);
  return spawn(command, {
    ...options,
    shell: process.platform !== 'win32' && existsSync('/bin/bash') ? '/bin/bash' : true,
  });
};

const killGroup = ({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void => {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') {
      spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    } else process.kill(-pid, signal);
  } catch {
    // The group is gone.
  }
};

/** The beginning of what comes from a stream, as text. */
const collect = (child: ChildProcess, name: 'stdout' | 'stderr'): (() => string) => {
  let text = '';
  child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
    if (text.length < maxOutputChars) text += chunk.slice(0, maxOutputChars - text.length);
  });
  child[name]?.on('error', () => undefined);
  return () => text;
};
