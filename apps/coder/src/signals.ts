import type { Writable } from 'node:stream';
import { exitCodes, signalExitCodes, type EndSignal } from './exit-code.js';

/** Where signals come from: the process. */
export interface SignalSource {
  on(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
  off(signal: EndSignal, listener: (signal: EndSignal) => void): unknown;
}

/** SIGPIPE is not among them: Node.js ignores it until somebody listens, and would not any more afterwards. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndSignal[];

/**
 * Calls back for every signal that asks the process to end.
 *
 * @returns how to stop listening
 */
export const onEndSignal = (source: SignalSource, listener: (signal: EndSignal) => void): (() => void) => {
  for (const signal of signals) source.on(signal, listener);
  return () => {
    for (const signal of signals) source.off(signal, listener);
  };
};

/** The outputs of a process, and its exit code. */
export interface OutputProcess {
  readonly stdout: Pick<Writable, 'on'>;
  readonly stderr: Pick<Writable, 'on'>;
  exitCode?: number | string | null | undefined;
}

/**
 * Handles errors of the outputs, which would end the process with a stack trace. An output that nobody reads any more, as in
 * `h --sessions | head -1`, is no failure of the app: the exit code is that of SIGPIPE, as for other programs.
 *
 * @returns the exit code that a failed output requires; `undefined` if all was written
 */
export const watchOutputs = (process: OutputProcess): (() => number | undefined) => {
  let code: number | undefined;
  const failed = (error: Error): void => {
    code ??= 'code' in error && error.code === 'EPIPE' ? signalExitCodes.SIGPIPE : exitCodes.error;
    process.exitCode = code;
  };
  process.stdout.on('error', failed);
  process.stderr.on('error', failed);
  return () => code;
};
