import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { asyncScheduler, type SchedulerLike } from 'rxjs';
import { cleanEnvironment } from '../files/environment.js';
import { watched } from './watched-command.js';

/** A command that checks something. */
export interface CheckRun {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** How many characters at the end of its output are kept. */
  readonly maxChars: number;
  readonly signal: AbortSignal;
}

/** How a check ended. */
export interface CheckEnd {
  /** Nothing where it did not come to its end. */
  readonly exitCode: number | undefined;
  /** The end of what it said, messages among it. */
  readonly output: string;
  /** Whether there was more. */
  readonly isCut?: boolean | undefined;
  /** Why it did not come to its end: `cancelled`, `killed`, `not-started`, `timed-out`, or what your runner calls it. */
  readonly failure?: string | undefined;
}

/** Runs a check: in a sandbox, on another machine. It says in its result how that ended. */
export type CheckRunner = (run: CheckRun) => PromiseLike<CheckEnd>;

/** Options of {@link localChecks}. */
export interface LocalChecksOptions {
  /**
   * The environment of the checks. Secrets are taken out of it: they run code that the model has written.
   *
   * @defaultValue that of the process
   */
  readonly env?: NodeJS.ProcessEnv | undefined;
  /** Names of variables that are handed on although they look like secrets. */
  readonly keepEnv?: readonly string[] | undefined;
  /**
   * The clock of timeouts.
   *
   * @defaultValue `asyncScheduler`
   */
  readonly scheduler?: SchedulerLike | undefined;
}

/** How long a group may take to end before it is killed. */
const graceMs = 2_000;
/** How long output may still come from what was left in the background. */
const drainMs = 200;

/** Variables with which git tells its hooks where they are; a check is not a hook. */
const ofGitHooks = /^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX|OBJECT_DIRECTORY|COMMON_DIR|QUARANTINE_PATH)$/;

/**
 * Runs checks on this machine, each in a separate process group that ends as a whole: with the check, at its timeout, when
 * the turn is over, and when this process ends, however that comes; on Windows not when it is killed. What makes itself a
 * separate process group is not found.
 */
export const localChecks = ({
  env = process.env,
  keepEnv,
  scheduler = asyncScheduler,
}: LocalChecksOptions = {}): CheckRunner => {
  const environment = Object.fromEntries(
    Object.entries(cleanEnvironment(env, keepEnv)).filter(([name]) => !ofGitHooks.test(name)),
  );
  return (run) => runLocally(run, environment, scheduler);
};

const runLocally = (
  { command, cwd, timeoutMs, maxChars, signal }: CheckRun,
  env: NodeJS.ProcessEnv,
  scheduler: SchedulerLike,
): Promise<CheckEnd> =>
  new Promise((resolve) => {
    if (signal.aborted) {
      resolve({ exitCode: undefined, output: '', isCut: false, failure: 'cancelled' });
      return;
    }
    const child = start(command, { cwd, env: { ...env, CI: '1', NO_COLOR: '1', FORCE_COLOR: '0', TERM: 'dumb' } });
    const output = tailOf(child, maxChars);
    let failure: CheckEnd['failure'];
    let isOver = false;
    const finish = (exitCode: number | null): void => {
      if (isOver) return;
      isOver = true;
      timer.unsubscribe();
      drain?.unsubscribe();
      signal.removeEventListener('abort', cancel);
      // What the check has left in the background ends with it.
      endGroup(child, 'SIGKILL');
      for (const stream of child.stdio) stream?.destroy();
      const why = failure ?? (exitCode === null ? (child.pid === undefined ? 'not-started' : 'killed') : undefined);
      resolve({
        exitCode: why === undefined ? (exitCode ?? undefined) : undefined,
        ...output(),
        ...(why !== undefined && { failure: why }),
      });
    };
    const end = (why: 'cancelled' | 'timed-out'): void => {
      if (failure !== undefined || isOver) return;
      failure = why;
      endGroup(child, 'SIGTERM');
      timer.unsubscribe();
      timer = scheduler.schedule(() => finish(null), graceMs);
    };
    const cancel = (): void => end('cancelled');
    let drain: ReturnType<SchedulerLike['schedule']> | undefined;
    let timer = scheduler.schedule(() => end('timed-out'), Math.min(timeoutMs, 2_147_483_647));
    signal.addEventListener('abort', cancel, { once: true });
    child.once('error', () => finish(null));
    child.once('exit', (exitCode) => {
      drain = scheduler.schedule(() => finish(exitCode), drainMs);
      whenRead(child, () => finish(exitCode));
    });
  });

const start = (command: string, options: Pick<SpawnOptions, 'cwd' | 'env'>): ChildProcess =>
  process.platform === 'win32'
    ? spawn(command, { ...options, shell: true, windowsHide: true, stdio: ['ignore', 'pipe', 'pipe'] })
    : spawn('/bin/sh', watched(command), { ...options, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });

/** Calls back when all output was read. The pipe of the watchdog is no output: it stays open as long as the watchdog runs. */
const whenRead = ({ stdout, stderr }: ChildProcess, act: () => void): void => {
  const streams = [stdout, stderr].filter((stream) => stream !== null);
  const actIfRead = (): void => {
    if (streams.every(({ closed }) => closed)) act();
  };
  for (const stream of streams) stream.once('close', actIfRead);
  actIfRead();
};

const endGroup = ({ pid }: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): void => {
  if (pid === undefined) return;
  try {
    if (process.platform === 'win32') {
      spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    } else process.kill(-pid, signal);
  } catch {
    // The group is gone.
  }
};

/** The end of what a child says, in the order in which it comes; no more than that is ever kept. */
const tailOf = (
  child: ChildProcess,
  maxChars: number,
): (() => { readonly output: string; readonly isCut: boolean }) => {
  let text = '';
  let isCut = false;
  for (const stream of [child.stdout, child.stderr]) {
    const decoder = new StringDecoder('utf8');
    stream?.on('data', (chunk: Buffer) => {
      text += decoder.write(chunk);
      if (text.length <= maxChars * 2) return;
      text = text.slice(-maxChars);
      isCut = true;
    });
  }
  return () => ({ output: text.slice(-maxChars).toWellFormed(), isCut: isCut || text.length > maxChars });
};
