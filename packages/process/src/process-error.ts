import { CodedError } from '@h/options';

/**
 * Why a process has no result.
 *
 * | code | meaning |
 * |---|---|
 * | `process-not-started` | the program or the working directory does not exist, or may not be used |
 * | `process-timed-out` | it ran longer than `timeoutMs` |
 * | `process-aborted` | `signal` was aborted |
 * | `process-killed` | a signal from elsewhere ended it, or the system had no process left for its supervisor |
 * | `process-output` | it wrote more than `maxBytes` |
 */
export type ProcessErrorCode =
  | 'process-not-started'
  | 'process-timed-out'
  | 'process-aborted'
  | 'process-killed'
  | 'process-output';

/** A process could not be started, or ended without a result. */
export class ProcessError extends CodedError {
  declare readonly code: ProcessErrorCode;
  readonly program: string;

  constructor(code: ProcessErrorCode, program: string, problem: string, options?: ErrorOptions) {
    super(code, `${program} ${problem}`, options);
    this.program = program;
  }
}
