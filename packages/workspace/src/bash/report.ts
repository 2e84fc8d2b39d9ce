import type { CapturedOutput } from '../process/output-window.js';
import type { CommandEnd } from '../sandbox/sandbox.js';

/** What a command came to, for a model. */
export interface CommandReport {
  /** Its output, and after it how it ended where that is not simply well. */
  readonly text: string;
  /** How it ended, where that is not well. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

/** Puts the end of a command into words. */
export const report = (end: CommandEnd, captured: CapturedOutput): CommandReport => {
  const failure = failureOf(end);
  const output = captured.binary ? `(binary output of ${captured.bytes} bytes, not shown)` : captured.text;
  if (failure === undefined) return { text: output === '' ? '(no output)' : output };
  const separator = output === '' || output.endsWith('\n') ? '' : '\n';
  return { text: `${output}${separator}${failure.message}`, failure };
};

const failureOf = ({ ending, exitCode, signal, timeoutMs }: CommandEnd): CommandReport['failure'] => {
  switch (ending) {
    case 'timed-out':
      return {
        code: 'command-timed-out',
        message: `The command took longer than ${timeoutMs} ms; it and its processes were ended.`,
      };
    case 'aborted':
      return { code: 'command-aborted', message: 'The command was ended, with its processes.' };
    case 'out-of-memory':
      return {
        code: 'command-out-of-memory',
        message: 'The command was killed because it needed more memory than it may use.',
      };
    case 'exited':
      if (exitCode === 0) return undefined;
      return {
        code: 'command-failed',
        message: `Exit code: ${exitCode ?? 'unknown'}${signal === null ? '' : ` (${signal})`}`,
      };
  }
};
