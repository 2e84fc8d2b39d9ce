import { TurnError } from '@h/turn';
import type { SandboxMode } from './sandbox.js';

/**
 * What went wrong with a sandbox.
 *
 * | code | meaning |
 * |---|---|
 * | `sandbox-unavailable` | what the mode needs is not on this machine, or does not work here |
 * | `sandbox-start` | it is there, but the sandbox could not be started (no such image …) |
 * | `sandbox-failed` | it worked and then did not (the daemon is gone …) |
 * | `sandbox-closed` | it was closed |
 * | `sandbox-cwd` | the folder to run in is not one inside the workspace |
 */
export type SandboxErrorCode =
  | 'sandbox-unavailable'
  | 'sandbox-start'
  | 'sandbox-failed'
  | 'sandbox-closed'
  | 'sandbox-cwd';

/** A sandbox could not be made, or could not run a command. */
export class SandboxError extends TurnError {
  declare readonly code: SandboxErrorCode;
  readonly mode: SandboxMode;

  constructor(code: SandboxErrorCode, mode: SandboxMode, message: string, options?: ErrorOptions) {
    super(code, message, options);
    this.mode = mode;
  }
}

/** A mode cannot do what an option asks for. Nothing is ignored: what is not done is refused. */
export class UnsupportedSandboxOptionError extends TurnError {
  readonly option: string;
  readonly mode: SandboxMode;

  constructor(option: string, mode: SandboxMode, able: readonly SandboxMode[]) {
    super(
      'sandbox-unsupported-option',
      `The sandbox mode "${mode}" cannot do what ${JSON.stringify(option)} asks for; leave it out, or use ${able.map((one) => `"${one}"`).join(' or ')}.`,
    );
    this.option = option;
    this.mode = mode;
  }
}
