import { spawn, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { TurnError } from '@h/turn';
import { climb } from './climb.js';
import { monotonicMs } from './machine.js';

/** How a process came to its end. */
export type ProcessEnding = 'exited' | 'timed-out' | 'aborted';

/** What became of a process. */
export interface ProcessEnd {
  readonly ending: ProcessEnding;
  /** As a shell counts: 128 and the signal's number for one that a signal ended. `null` if it never ran or did not end. */
  readonly exitCode: number | null;
  /** The signal that ended it, by name, as far as the exit code tells. */
  readonly signal: string | null;
  readonly durationMs: number;
}

/** A program around a supervisor, and how long it may run. */
export interface SupervisedProcess {
  /** Program and arguments, with what `supervised` made at their end. */
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string | undefined;
  /** The whole environment; nothing is inherited. */
  readonly environment: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly onOutput: (chunk: Uint8Array, source: 'stdout' | 'stderr') => void;
  /** Called when the processes survive SIGKILL through their supervisor: ends them in a way of its own. */
  readonly onStuck?: (() => Promise<void>) | undefined;
}

/** The program itself could not be started. */
export class StartError extends TurnError {
  readonly program: string;

  constructor(program: string, options: ErrorOptions) {
    super(
      'process-start',
      `${JSON.stringify(program)} could not be started; is it installed and on the PATH?`,
      options,
    );
    this.program = program;
  }
}

/** How long a process has between SIGTERM and SIGKILL. Docker gives ten seconds, an agent that waits should not. */
export const graceMs = 2_000;

/** How long output may be silent, after the process has ended, before the pipes are given up. */
const drainMs = 500;

/** How long to wait after each further step that should have ended everything. */
export const stepMs = 2_000;

/**
 * Runs a supervised program to its end, in a process group of its own.
 *
 * At the timeout or the abort, all of its processes get SIGTERM, after {@link graceMs} SIGKILL. Resolves when the program has
 * ended and its output is read; a process that holds the pipe longer than that is not waited for.
 *
 * @throws StartError if the program could not be started.
 */
export const runSupervised = async (options: SupervisedProcess): Promise<ProcessEnd> => {
  const startedAt = monotonicMs();
  if (options.signal?.aborted === true) return { ending: 'aborted', exitCode: null, signal: null, durationMs: 0 };
  const [program, ...args] = options.argv;
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ending = await watch(child, program, options);
  return { ending, ...exitOf(child), durationMs: Math.round(monotonicMs() - startedAt) };
};

const exitOf = ({ exitCode, signalCode }: ChildProcess): Pick<ProcessEnd, 'exitCode' | 'signal'> =>
  signalCode === null
    ? { exitCode, signal: signalOf(exitCode) }
    : { exitCode: 128 + constants.signals[signalCode], signal: signalCode };

/** The name of the signal that an exit code tells of. */
export const signalOf = (exitCode: number | null): string | null =>
  exitCode === null || exitCode <= 128
    ? null
    : (Object.entries(constants.signals).find(([, value]) => value === exitCode - 128)?.[0] ?? null);

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const watch = (child: ChildProcess, program: string, options: SupervisedProcess): Promise<ProcessEnding> =>
  new Promise((resolve, reject) => {
    let ending: ProcessEnding = 'exited';
    let drain: NodeJS.Timeout | undefined;
    let stopClimbing = (): void => {};

    const settle = (): void => {
      clearTimeout(timeout);
      clearTimeout(drain);
      stopClimbing();
      options.signal?.removeEventListener('abort', onAbort);
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy();
      child.unref();
      resolve(ending);
    };
    const end = (reason: ProcessEnding): void => {
      if (ending !== 'exited' || hasEnded(child)) return;
      ending = reason;
      child.stdin?.write('TERM\n');
      stopClimbing = climb([
        { afterMs: graceMs, act: () => child.stdin?.end() },
        { afterMs: stepMs, act: () => kill(child, options.onStuck) },
        { afterMs: stepMs, act: settle },
      ]);
    };
    const onAbort = (): void => end('aborted');
    const timeout = setTimeout(() => end('timed-out'), options.timeoutMs);
    options.signal?.addEventListener('abort', onAbort, { once: true });

    const waitForOutput = (): void => {
      clearTimeout(drain);
      drain = setTimeout(settle, drainMs);
    };
    const read = (source: 'stdout' | 'stderr') => (chunk: Uint8Array) => {
      options.onOutput(chunk, source);
      if (hasEnded(child)) waitForOutput();
    };
    // The program may end before it has read what it is told.
    child.stdin?.on('error', () => {});
    child.stdout?.on('data', read('stdout'));
    child.stderr?.on('data', read('stderr'));
    child.on('error', (error) => {
      reject(new StartError(program, { cause: error }));
      settle();
    });
    child.on('exit', () => {
      stopClimbing();
      child.stdin?.end();
      waitForOutput();
    });
    child.on('close', settle);
  });

const kill = (child: ChildProcess, onStuck: (() => Promise<void>) | undefined): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
  onStuck?.().catch(() => {}); // It was the last resort; the step after this one gives up.
};
