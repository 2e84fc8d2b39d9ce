import { spawn } from 'node:child_process';
import { TurnError } from '@h/turn';
import { graceMs, StartError } from './run-supervised.js';

/** A helper program of ours: git, the docker command line. */
export interface ProgramCall {
  readonly argv: readonly [string, ...string[]];
  readonly cwd?: string | undefined;
  /** The whole environment; nothing is inherited. */
  readonly environment: NodeJS.ProcessEnv;
  /** What it reads. */
  readonly input?: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /**
   * How much output is taken, in bytes.
   *
   * @defaultValue 16 MB
   */
  readonly maxBytes?: number | undefined;
  /** Takes the output instead of keeping it; there is no limit then. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
}

/** What a helper program said. */
export interface ProgramResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The end of its messages. */
  readonly stderr: string;
}

/** A helper program that did not come to an answer. */
export class ProgramError extends TurnError {
  declare readonly code: 'program-timed-out' | 'program-aborted' | 'program-output' | 'program-killed';

  constructor(code: ProgramError['code'], program: string, reason: string, options?: ErrorOptions) {
    super(code, `${program} ${reason}`, options);
  }
}

const defaultMaxBytes = 16 * 1024 ** 2;
const maxMessageChars = 4_000;

/**
 * Runs a helper program to its end and takes what it says.
 *
 * Its whole process group ends with the timeout, the abort, or too much output: SIGTERM first, SIGKILL after
 * {@link graceMs}.
 *
 * @throws StartError if it could not be started; ProgramError if it was ended or killed.
 */
export const runProgram = (call: ProgramCall): Promise<ProgramResult> =>
  new Promise((resolve, reject) => {
    const {
      argv: [program, ...args],
      cwd,
      environment,
      input,
      timeoutMs,
      signal,
      maxBytes = defaultMaxBytes,
      onOutput,
    } = call;
    if (signal?.aborted === true) {
      reject(new ProgramError('program-aborted', program, 'was not started: the turn is over.'));
      return;
    }
    const child = spawn(program, args, { cwd, env: environment, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    const chunks: Uint8Array[] = [];
    let size = 0;
    let stderr = '';
    let failure: ProgramError | undefined;
    let killing: NodeJS.Timeout | undefined;

    const kill = (name: NodeJS.Signals): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, name);
      } catch {
        // The group is gone already.
      }
    };
    const end = (error: ProgramError): void => {
      if (failure !== undefined) return;
      failure = error;
      kill('SIGTERM');
      killing = setTimeout(() => kill('SIGKILL'), graceMs);
    };
    const onAbort = (): void => end(new ProgramError('program-aborted', program, 'was ended: the turn is over.'));
    const timeout = setTimeout(
      () => end(new ProgramError('program-timed-out', program, `did not answer within ${timeoutMs} ms.`)),
      timeoutMs,
    );
    const settle = (): void => {
      clearTimeout(timeout);
      clearTimeout(killing);
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });

    child.stdin.on('error', () => {}); // It may end before it has read everything.
    child.stdin.end(input);
    child.stdout.on('data', (chunk: Uint8Array) => {
      size += chunk.length;
      if (onOutput !== undefined) onOutput(chunk);
      else if (size <= maxBytes) chunks.push(chunk);
      else end(new ProgramError('program-output', program, `said more than ${maxBytes} bytes.`));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-maxMessageChars)));
    child.on('error', (error) => {
      settle();
      reject(new StartError(program, { cause: error }));
    });
    child.on('close', (exitCode, killedBy) => {
      settle();
      if (failure !== undefined) reject(failure);
      else if (exitCode === null) {
        reject(new ProgramError('program-killed', program, `was ended by ${String(killedBy)}.`));
      } else resolve({ exitCode, stdout: Buffer.concat(chunks), stderr });
    });
  });
