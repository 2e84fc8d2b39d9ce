import { anyFunction, checkOptions, numberFrom } from '@h/options';
import { ProcessError } from './process-error.js';
import { runProcess, type ProcessOptions } from './run-process.js';

/** A program whose output is the result. */
export interface CaptureOptions extends Omit<ProcessOptions, 'onOutput' | 'onStuck' | 'within'> {
  /**
   * Maximum size of the output, in bytes.
   *
   * @defaultValue `16_777_216` (16 MB), many times the output of ordinary commands
   */
  readonly maxBytes?: number | undefined;
  /** Receives the standard output, which is then neither stored nor limited. */
  readonly onOutput?: ((chunk: Uint8Array) => void) | undefined;
}

/** The result of a program. */
export interface CapturedProcess {
  readonly exitCode: number;
  readonly stdout: Buffer;
  /** The last 4,000 characters of standard error. */
  readonly stderr: string;
}

const defaultMaxBytes = 16 * 1024 ** 2;
const maxMessageChars = 4_000;

/**
 * Runs a program to its end and collects its output.
 *
 * A program that fails is not an error: its exit code is part of the result.
 *
 * @throws ProcessError if the program could not be started or was ended before it exited; InvalidOptionError for a bad
 * option
 *
 * @example
 * ```ts
 * const { stdout } = await captureProcess({
 *   command: ['git', 'rev-parse', 'HEAD'],
 *   environment: minimalEnvironment(process.env),
 *   timeoutMs: 10_000,
 * });
 * ```
 */
export const captureProcess = async (options: CaptureOptions): Promise<CapturedProcess> => {
  const { maxBytes = defaultMaxBytes, onOutput, ...rest } = options;
  checkOptions(
    'captureProcess()',
    { maxBytes, onOutput },
    { maxBytes: numberFrom(0, Infinity), onOutput: anyFunction },
  );
  const program = typeof rest.command === 'string' ? 'The command' : rest.command[0];
  const chunks: Uint8Array[] = [];
  const decoder = new TextDecoder();
  let size = 0;
  let stderr = '';
  const collect = (chunk: Uint8Array): void => {
    size += chunk.length;
    if (size > maxBytes) {
      throw new ProcessError('process-output', program, `wrote more than ${maxBytes} bytes (maxBytes).`);
    }
    chunks.push(chunk);
  };
  const { ending, exitCode, signal } = await runProcess({
    ...rest,
    onOutput: (chunk, source) => {
      if (source === 'stderr') stderr = (stderr + decoder.decode(chunk, { stream: true })).slice(-maxMessageChars);
      else (onOutput ?? collect)(chunk);
    },
  });
  switch (ending) {
    case 'timed-out':
      throw new ProcessError('process-timed-out', program, `did not exit within ${rest.timeoutMs} ms (timeoutMs).`);
    case 'aborted':
      throw new ProcessError('process-aborted', program, 'was aborted by the caller.');
    case 'exited':
      if (exitCode === null || signal !== null) {
        const said = stderr.trim() === '' ? '.' : `: ${stderr.trim()}`;
        throw new ProcessError('process-killed', program, `was ended by ${signal ?? 'an unknown signal'}${said}`);
      }
      return { exitCode, stdout: Buffer.concat(chunks), stderr };
  }
};
