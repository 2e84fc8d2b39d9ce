import { CodedError } from '@h/options';
import type { SandboxMode } from './sandbox.js';

/**
 * Why a sandbox failed.
 *
 * | code | meaning |
 * |---|---|
 * | `sandbox-unavailable` | a program that the mode needs is missing on this machine, or does not work |
 * | `sandbox-start` | the sandbox could not be started, for example because the image does not exist |
 * | `sandbox-failed` | the sandbox failed after it had started, for example because the daemon ended |
 * | `sandbox-closed` | the sandbox was closed |
 * | `sandbox-cwd` | the working directory is not a folder inside the workspace |
 * | `sandbox-read-only` | the mode cannot run a command with a read-only workspace |
 */
export type SandboxErrorCode =
  | 'sandbox-unavailable'
  | 'sandbox-start'
  | 'sandbox-failed'
  | 'sandbox-closed'
  | 'sandbox-cwd'
  | 'sandbox-read-only';

/** A sandbox could not be created, or could not run a command. */
export class SandboxError extends CodedError {
  declare readonly code: SandboxErrorCode;
  readonly mode: SandboxMode;

  constructor(code: SandboxErrorCode, mode: SandboxMode, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.mode = mode;
  }
}

/** A mode does not support an option. Unsupported options are refused, never ignored. */
export class UnsupportedSandboxOptionError extends CodedError {
  readonly option: string;
  readonly mode: SandboxMode;

  constructor(option: string, mode: SandboxMode, able: readonly SandboxMode[]) {
    super(
      'sandbox-unsupported-option',
      `The sandbox mode "${mode}" does not support ${JSON.stringify(option)}; omit it, or use ${able.map((one) => `"${one}"`).join(' or ')}.`,
    );
    this.option = option;
    this.mode = mode;
  }
}
