import { spawn, type ChildProcess } from 'node:child_process';
import { accessSync, constants as modes, existsSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, resolve } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import {
  anyFunction,
  anyObject,
  anyOf,
  arrayOf,
  anyString,
  checkOptions,
  instanceOf,
  InvalidOptionError,
  nonEmptyString,
  numberFrom,
  oneOf,
  required,
  anyBoolean,
  later,
  realTime,
  type OptionCheck,
} from '@h/options';
import { ProcessError } from './process-error.js';
import { supervised, trackedCommand, watchedGroup } from './supervisor.js';

/** Time between SIGTERM and SIGKILL. Shorter than Docker's ten seconds, because a model is waiting. */
export const graceMs = 2_000;

/** Time between two steps of ending a process. */
export const stepMs = 2_000;

/** Idle time after which the pipes are closed once the program has ended. */
const drainMs = 250;

const isWindows = process.platform === 'win32';

/** A child process to run. */
export interface ProcessOptions {
  /** Program and arguments, or a line for `/bin/bash`, `/bin/sh` where there is no bash, or `cmd.exe` on Windows. */
  readonly command: string | readonly [string, ...string[]];
  /** The working directory. @defaultValue that of this process */
  readonly cwd?: string | undefined;
  /** The complete environment; nothing is inherited. */
  readonly environment: NodeJS.ProcessEnv;
  /**
   * What the process reads from its standard input: all of it, or a stream, for a process that is talked to while it
   * runs.
   *
   * @defaultValue nothing: it reads from `/dev/null`
   */
  readonly input?: string | Uint8Array | Readable | undefined;
  /** How long the process may run, in milliseconds; `Infinity` for no limit. */
  readonly timeoutMs: number;
  /** Ends the process and its group. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each chunk of output as it arrives. If it throws, the process is ended and `runProcess` rejects. */
  readonly onOutput?: ((chunk: Uint8Array, source: 'stdout' | 'stderr') => void) | undefined;
  /**
   * What happens to processes that the program leaves in the background when it exits: they are killed, or continue
   * without supervision.
   *
   * @defaultValue `'kill'`
   */
  readonly background?: 'kill' | 'keep' | undefined;
  /**
   * Also ends processes that made themselves the leader of another group or session. Needs `/proc`, and takes some
   * milliseconds more.
   *
   * @defaultValue `false`
   */
  readonly tracked?: boolean | undefined;
  /**
   * Puts the supervised command into another one, such as `docker exec`, and returns that. The supervisor then runs
   * inside, and reads its control line from the standard input, so there can be no `input`.
   */
  readonly within?: ((supervised: readonly [string, ...string[]]) => readonly [string, ...string[]]) | undefined;
  /** Called if the processes survive SIGKILL through their supervisor: ends them by other means. */
  readonly onStuck?: (() => Promise<void>) | undefined;
}

/** How a process ended. */
export interface ProcessEnd {
  /** `exited` on its own or by a signal from elsewhere; ended by `timeoutMs`; or ended by `signal`. */
  readonly ending: 'exited' | 'timed-out' | 'aborted';
  /** As in a shell: 128 plus the number of the signal that ended it. `null` if it never ran or did not end. */
  readonly exitCode: number | null;
  /** The name of the signal that ended it, as far as the exit code tells. */
  readonly signal: string | null;
  readonly durationMs: number;
}

const argv: OptionCheck = {
  ...arrayOf(anyString),
  expected: 'a program and its arguments',
  accepts: (value) => arrayOf(anyString).accepts(value) && nonEmptyString.accepts((value as readonly string[])[0]),
};

const checks = {
  command: required(anyOf(nonEmptyString, argv)),
  cwd: nonEmptyString,
  environment: required(anyObject),
  input: anyOf(anyString, instanceOf(Uint8Array), instanceOf(Readable)),
  timeoutMs: required(numberFrom(0, Infinity)),
  signal: instanceOf(AbortSignal),
  onOutput: anyFunction,
  background: oneOf('kill', 'keep'),
  tracked: anyBoolean,
  within: anyFunction,
  onStuck: anyFunction,
};

/**
 * Runs a child process to its end, in its own process group, under a supervisor.
 *
 * - The whole group ends with the program, at the time limit, at the abort, and when this process ends, even by
 *   SIGKILL. At the time limit and the abort it gets SIGTERM, and SIGKILL two seconds later.
 * - A program that fails is not an error: its exit code is the result.
 * - Resolves when the program has ended and its output was read. A background process that holds the pipes open delays
 *   that by a quarter of a second.
 * - On Windows there is no supervisor: a process outlives a parent that is killed.
 *
 * @throws ProcessError `process-not-started` if the program does not exist; InvalidOptionError for an invalid option
 *
 * @example
 * ```ts
 * const end = await runProcess({
 *   command: ['npm', 'test'],
 *   environment: minimalEnvironment(process.env),
 *   timeoutMs: 60_000,
 *   onOutput: (chunk) => process.stdout.write(chunk),
 * });
 * ```
 */
export const runProcess = async (options: ProcessOptions): Promise<ProcessEnd> => {
  checkOptions('runProcess()', options, checks);
  if (options.within !== undefined && options.input !== undefined) {
    throw new InvalidOptionError({
      owner: 'runProcess()',
      option: 'input',
      message: 'runProcess(): "input" cannot be combined with "within", whose standard input is the control line.',
    });
  }
  if (options.signal?.aborted === true) return { ending: 'aborted', exitCode: null, signal: null, durationMs: 0 };
  const startedAt = realTime.now();
  const { child, control } = start(options);
  const ending = await watch(child, control, options);
  const { exitCode, signal } = exitOf(child);
  if ((exitCode === 126 || exitCode === 127) && options.within === undefined) checkProgram(options, exitCode);
  return { ending, exitCode, signal, durationMs: Math.round(realTime.now() - startedAt) };
};

/** The name of the signal that an exit code reports. */
export const signalOf = (exitCode: number | null): string | null =>
  exitCode === null || exitCode <= 128
    ? null
    : (Object.entries(constants.signals).find(([, value]) => value === exitCode - 128)?.[0] ?? null);

/** The pipe whose end makes the supervisor kill everything; `undefined` on Windows. */
type ControlLine = Writable | undefined;

const start = (options: ProcessOptions): { readonly child: ChildProcess; readonly control: ControlLine } => {
  const { cwd, environment: env, input, tracked = false, within } = options;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const plain = argvOf(options);
  try {
    if (within !== undefined) {
      const [program, ...args] = within(supervised(plain));
      const child = spawn(program, args, { cwd, env, detached: true, windowsHide: true, stdio: 'pipe' });
      return { child, control: child.stdin };
    }
    if (isWindows) {
      const windowsVerbatimArguments = typeof options.command === 'string';
      const stdio: ('ignore' | 'pipe')[] = [stdin, 'pipe', 'pipe'];
      const child = spawn(plain[0], plain.slice(1), { cwd, env, windowsHide: true, windowsVerbatimArguments, stdio });
      feed(child.stdin, input);
      return { child, control: undefined };
    }
    const [shell, ...args] = tracked ? trackedCommand(plain) : watchedGroup(plain);
    const child = spawn(shell, args, { cwd, env, detached: true, stdio: [stdin, 'pipe', 'pipe', 'pipe'] });
    feed(child.stdin, input);
    return { child, control: child.stdio?.[3] as Writable | undefined };
  } catch (error) {
    throw notStarted(options, error);
  }
};

/** The program may exit without having read its input. */
const feed = (stdin: Writable | null | undefined, input: ProcessOptions['input']): void => {
  stdin?.on('error', ignore);
  // A process that could not be started has no pipes.
  if (stdin && input instanceof Readable) input.pipe(stdin);
  else stdin?.end(input);
};

const argvOf = ({ command }: ProcessOptions): readonly [string, ...string[]] => {
  if (typeof command !== 'string') return command;
  if (isWindows) return [process.env['ComSpec'] ?? 'cmd.exe', '/d', '/s', '/c', `"${command}"`];
  return [existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh', '-c', command];
};

const watch = (child: ChildProcess, control: ControlLine, options: ProcessOptions): Promise<ProcessEnd['ending']> =>
  new Promise((resolve, reject) => {
    const { timeoutMs, signal, onOutput, onStuck, background = 'kill', within } = options;
    let ending: ProcessEnd['ending'] = 'exited';
    let failure: Error | undefined;
    let isSettled = false;
    let drain: NodeJS.Timeout | undefined;
    let stopEscalation = ignore;

    const settle = (): void => {
      if (isSettled) return;
      isSettled = true;
      stopTimeout();
      clearTimeout(drain);
      stopEscalation();
      signal?.removeEventListener('abort', onAbort);
      if (background === 'keep' && ending === 'exited') control?.write('done\n');
      else if (within === undefined) killGroup(child, 'SIGKILL');
      control?.end(() => control.destroy());
      for (const pipe of [child.stdin, child.stdout, child.stderr]) if (pipe !== control) pipe?.destroy();
      child.unref();
      if (failure === undefined) resolve(ending);
      else reject(failure);
    };
    const end = (reason: 'timed-out' | 'aborted'): void => {
      if (ending !== 'exited' || hasEnded(child)) return;
      ending = reason;
      if (control === undefined) killGroup(child, 'SIGTERM');
      else control.write('TERM\n');
      stopEscalation = escalate([
        { afterMs: graceMs, act: () => control?.end() },
        {
          afterMs: stepMs,
          act: () => {
            killGroup(child, 'SIGKILL');
            void Promise.resolve().then(onStuck).catch(ignore); // The last resort; the next step stops waiting.
          },
        },
        { afterMs: stepMs, act: settle },
      ]);
    };
    const onAbort = (): void => end('aborted');
    const stopTimeout = later(realTime, timeoutMs, () => end('timed-out'));
    signal?.addEventListener('abort', onAbort, { once: true });

    let chunks = 0;
    const waitForOutput = (): void => {
      clearTimeout(drain);
      drain = setTimeout(() => {
        // A blocked event loop runs timers before it reads pipes, so pending output is read first.
        const known = chunks;
        setImmediate(() => (chunks === known ? settle() : waitForOutput()));
      }, drainMs);
    };
    const read = (source: 'stdout' | 'stderr') => (chunk: Uint8Array) => {
      chunks += 1;
      try {
        if (failure === undefined) onOutput?.(chunk, source);
      } catch (error) {
        failure = error instanceof Error ? error : abortedBy(options, error);
        end('aborted');
      }
    };
    control?.on('error', ignore);
    let open = 2;
    for (const source of ['stdout', 'stderr'] as const) {
      child[source]?.on('data', read(source)).on('error', ignore);
      child[source]?.on('close', () => {
        open -= 1;
        if (open === 0 && hasEnded(child)) settle();
      });
    }
    child.on('error', (error) => {
      failure ??= notStarted(options, error);
      settle();
    });
    child.on('exit', () => {
      stopEscalation();
      if (within !== undefined) control?.end();
      if (open === 0) settle();
      else waitForOutput();
    });
  });

interface Step {
  /** Milliseconds after the previous step. */
  readonly afterMs: number;
  readonly act: () => void;
}

/** Performs steps in order; returns a function that cancels the rest. */
export const escalate = (steps: readonly Step[]): (() => void) => {
  let timer: NodeJS.Timeout | undefined;
  const next = (index: number): void => {
    const step = steps[index];
    if (step === undefined) return;
    timer = setTimeout(() => {
      next(index + 1);
      step.act();
    }, step.afterMs);
  };
  next(0);
  return () => clearTimeout(timer);
};

const killGroup = ({ pid }: ChildProcess, signal: NodeJS.Signals): void => {
  if (pid === undefined) return;
  try {
    if (isWindows) {
      spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true }).on('error', ignore);
    } else process.kill(-pid, signal);
  } catch {
    // The group has ended.
  }
};

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const exitOf = ({ exitCode, signalCode }: ChildProcess): Pick<ProcessEnd, 'exitCode' | 'signal'> =>
  signalCode === null
    ? { exitCode, signal: signalOf(exitCode) }
    : { exitCode: 128 + constants.signals[signalCode], signal: signalCode };

const abortedBy = (options: ProcessOptions, cause: unknown): ProcessError =>
  new ProcessError('process-aborted', argvOf(options)[0], 'was ended because onOutput threw.', { cause });

const notStarted = (options: ProcessOptions, cause: unknown): ProcessError => {
  const { cwd } = options;
  const [program] = argvOf(options);
  const { code } = cause as NodeJS.ErrnoException;
  const folderProblem = cwd === undefined ? undefined : problemOfFolder(cwd);
  let problem = 'could not be started; check that it is installed, on the PATH and executable.';
  if (shortages.includes(code ?? '')) {
    problem = `could not be started: the system has no processes, open files or memory left (${code}). End other programs, or raise the limit.`;
  } else if (code !== undefined && Object.hasOwn(refusals, code)) {
    problem = `could not be started: ${refusals[code]}`;
  } else if (folderProblem !== undefined) {
    problem = `could not be started: the working directory ${JSON.stringify(cwd)} ${folderProblem}.`;
  }
  return new ProcessError('process-not-started', program, problem, { cause });
};

/** Returns why a folder cannot be the working directory. */
const problemOfFolder = (folder: string): string | undefined => {
  try {
    if (!statSync(folder).isDirectory()) return 'is not a folder';
    accessSync(folder, modes.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' ? 'does not exist' : `cannot be used (${code})`;
  }
};

/** The codes of failures that have nothing to do with the program. */
const shortages: readonly string[] = ['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'];

/** What the system or Node.js rejects before it looks for the program. Values are not shown: a variable may be secret. */
const refusals: Readonly<Record<string, string>> = {
  E2BIG:
    'its arguments and its environment are longer than the system accepts (E2BIG). Pass long text as its input or in a file.',
  ERR_INVALID_ARG_VALUE:
    'its arguments, working directory or environment contain a NUL character. Remove the character.',
};

/** Where shells look for programs if the environment has no PATH. */
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

/**
 * The shell reports a program that it cannot start as 126 or 127, and so may the program itself: looks for the program.
 */
const checkProgram = (options: ProcessOptions, exitCode: number): void => {
  const [program] = argvOf(options);
  const { cwd = '.', environment } = options;
  const folders = program.includes('/') ? [''] : (environment['PATH'] ?? defaultPath).split(delimiter);
  const isFound = folders.some((folder) => isExecutable(resolve(cwd, folder, program)));
  if (!isFound) throw notStarted(options, new Error(`The shell exited with ${exitCode}.`));
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, modes.X_OK);
    return true;
  } catch {
    return false;
  }
};

function ignore(): void {
  // Errors are ignored on purpose.
}
