import type { Environment } from '../process/environment.js';
import type { ProcessEnd } from '../process/run-supervised.js';

/** Where commands run. */
export type SandboxMode = 'host' | 'bubblewrap' | 'docker' | 'e2b';

/** A command to run in a sandbox. */
export interface SandboxCommand {
  /** Program and arguments. No shell takes part unless it is named here. */
  readonly argv: readonly [string, ...string[]];
  /**
   * The folder to run in: an absolute path on this machine, inside the workspace.
   *
   * @defaultValue the workspace's folder
   */
  readonly cwd?: string | undefined;
  /** Variables for this command, over those of the sandbox. */
  readonly environment?: Environment | undefined;
  /**
   * How long the command may run, in milliseconds; the sandbox's own limit counts as well.
   *
   * @defaultValue the sandbox's `timeoutMs`
   */
  readonly timeoutMs?: number | undefined;
  /** Ends the command and all of its processes. */
  readonly signal?: AbortSignal | undefined;
  /** Called with each piece of output as it comes. The pieces are not kept. */
  readonly onOutput?: ((chunk: Uint8Array, source: 'stdout' | 'stderr') => void) | undefined;
}

/** What became of a command. */
export interface CommandEnd extends Omit<ProcessEnd, 'ending'> {
  /**
   * `exited` by itself or by a signal of its own; `timed-out` and `aborted` were ended by the sandbox; `out-of-memory` by
   * the system, for want of memory.
   */
  readonly ending: ProcessEnd['ending'] | 'out-of-memory';
  /** The limit that applied, in milliseconds. */
  readonly timeoutMs: number;
}

/**
 * A place where commands run.
 *
 * Contract:
 * - The processes of a command end with it: those that it left in the background, those of a timeout and of an abort.
 * - A command that fails is no error; `run` rejects only if the command could not be run at all.
 * - `close` ends what still runs, gives back everything that the sandbox holds, and may be called twice.
 * - If this process is killed, whatever runs in the sandbox ends too, as far as the mode says.
 */
export interface Sandbox {
  readonly mode: SandboxMode;
  /** What a command cannot reach, whatever it tries. */
  readonly isolates: { readonly files: boolean; readonly network: boolean };
  /** The workspace's folder on this machine. */
  readonly root: string;
  /** The workspace's folder as commands see it. */
  readonly mountPath: string;
  /** The longest that any command may run, in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Runs a command to its end.
   *
   * @throws SandboxError if it could not be run: the sandbox is closed or broken, or `cwd` is outside of the workspace.
   */
  run(command: SandboxCommand): Promise<CommandEnd>;
  close(): Promise<void>;
}
