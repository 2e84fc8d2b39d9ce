import type { Environment, ProcessEnd } from '@h/process';

/** Where commands run. */
export type SandboxMode = 'host' | 'bubblewrap' | 'docker' | 'e2b';

/** A command to run in a sandbox. */
export interface SandboxCommand {
  /** Program and arguments. No shell is involved unless it is named here. */
  readonly argv: readonly [string, ...string[]];
  /**
   * The folder to run in: an absolute path on this machine, inside the workspace.
   *
   * @defaultValue the folder of the workspace
   */
  readonly cwd?: string | undefined;
  /** Variables of this command, which override those of the sandbox. */
  readonly environment?: Environment | undefined;
  /**
   * How long the command may run, in milliseconds; the limit of the sandbox applies too.
   *
   * @defaultValue the sandbox's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Runs the command with the workspace mounted read-only. Needs `canMountReadOnly`.
   *
   * @defaultValue `false`
   */
  readonly readOnly?: boolean | undefined;
  /** Ends the command and all of its processes. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each chunk of output as it arrives. */
  readonly onOutput?: ((chunk: Uint8Array, source: 'stdout' | 'stderr') => void) | undefined;
}

/** How a command ended. */
export interface CommandEnd extends Omit<ProcessEnd, 'ending'> {
  /**
   * `exited` on its own or by a signal; `timed-out` and `aborted` by the sandbox; `out-of-memory` by the system.
   */
  readonly ending: ProcessEnd['ending'] | 'out-of-memory';
  /** The limit that applied, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * Runs commands in one place.
 *
 * Contract:
 * - The processes of a command end with it: background processes, and after a time limit or an abort.
 * - A command that fails is not an error; `run` rejects only if the command could not be run.
 * - `close` ends running commands, releases all resources of the sandbox, and may be called twice.
 * - If this process is killed, commands in the sandbox end too, within the limits that the mode documents.
 */
export interface Sandbox {
  readonly mode: SandboxMode;
  /** What is out of reach of commands: other files of this machine, and the network. */
  readonly isolates: { readonly files: boolean; readonly network: boolean };
  /** Whether a command can be run with the workspace mounted read-only. */
  readonly canMountReadOnly: boolean;
  /** The folder of the workspace on this machine. */
  readonly root: string;
  /** The folder of the workspace as commands see it. */
  readonly mountPath: string;
  /** The longest time that a command may run, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Runs a command to its end.
   *
   * @throws SandboxError if it could not be run: the sandbox is closed or broken, `cwd` is outside the workspace, or
   * the mode cannot mount it read-only
   */
  run(command: SandboxCommand): Promise<CommandEnd>;
  close(): Promise<void>;
}
