import type { Writable } from 'node:stream';
import { exitCodes, signalExitCodes, type EndSignal } from './exit-code.js';

/** The source of signals: the process. */
export interface SignalSource {
  on(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
  off(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
}

/** Excludes SIGPIPE: Node.js ignores it only as long as it has no listener. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndSignal[];

/**
 * Calls the listener for every signal that ends the process.
 *
 * @returns a function that removes the listener
 */
export const onEndSignal = (source: SignalSource, listener: (signal: EndSignal) => void): (() => void) => {
  for (const signal of signals) source.on(signal, listener);
  return () => {
    for (const signal of signals) source.off(signal, listener);
  };
};

/** Whether a disk was full, so that later output may succeed. */
export const isFull = (error: Error): boolean =>
  'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT');

/** The outputs and the exit code of a process. */
export interface OutputProcess {
  readonly stdout: Pick<Writable, 'on'>;
  readonly stderr: Pick<Writable, 'on' | 'write'>;
  exitCode?: number | string | null | undefined;
}

/**
 * Handles errors of the outputs, which would otherwise end the process with a stack trace. If the reader closed the
 * output, as in `h --sessions | head -1`, the exit code is that of SIGPIPE, as for other programs. The first other
 * failure of standard output is reported on standard error.
 *
 * @returns a function that returns the exit code of a failed output, or `undefined`
 */
export const watchOutputs = (process: OutputProcess): (() => number | undefined) => {
  let code: number | undefined;
  const failed = (error: Error): void => {
    code ??= isUnread(error) ? signalExitCodes.SIGPIPE : exitCodes.error;
    process.exitCode = code;
  };
  process.stdout.on('error', (error) => {
    if (code === undefined && !isUnread(error)) {
      const advice = isFull(error) ? ' Part of the output is missing. Free space on its disk.' : '';
      process.stderr.write(`Standard output failed: ${error.message}.${advice}\n`);
    }
    failed(error);
  });
  process.stderr.on('error', failed);
  return () => code;
};

const isUnread = (error: Error): boolean => 'code' in error && error.code === 'EPIPE';
