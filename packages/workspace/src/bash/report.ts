import type { CapturedOutput } from '@h/process';
import type { CommandEnd } from '@h/sandbox';

/** The result of a command for a model. */
export interface CommandReport {
  /** The output, followed by a line about the end if the command did not succeed. */
  readonly text: string;
  /** Why the command did not succeed. */
  readonly failure?: { readonly code: string; readonly message: string } | undefined;
}

/** Describes the end of a command. */
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
        message: `The command exceeded its time limit of ${timeoutMs} ms and was ended with all of its processes.`,
      };
    case 'aborted':
      return { code: 'command-aborted', message: 'The command was aborted and ended with all of its processes.' };
    case 'out-of-memory':
      return {
        code: 'command-out-of-memory',
        message: 'The command was killed because it exceeded the memory limit.',
      };
    case 'exited':
      if (exitCode === 0) return undefined;
      return {
        code: 'command-failed',
        message: `Exit code: ${exitCode ?? 'unknown'}${signal === null ? '' : ` (${signal})`}`,
      };
  }
};
