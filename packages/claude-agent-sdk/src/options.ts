import type { AttachStop } from '@h/bridge';
import type { CanUseTool } from '@anthropic-ai/claude-agent-sdk';

/** Options of `attach()`. */
export interface AttachOptions {
  /**
   * Asks a person about a call that an operator wants approved. Calls that Claude Code itself asks about pass through
   * unchanged.
   *
   * @defaultValue denies every call that requires approval
   */
  readonly canUseTool?: CanUseTool | undefined;
  /**
   * What happens if operators changed the output of a failed call, which Claude Code does not rewrite: `'stop'` ends
   * the turn before the model reads the output, `'warn'` emits a process warning. Added text always reaches the model.
   *
   * @defaultValue `'stop'`
   */
  readonly failedOutput?: 'stop' | 'warn' | undefined;
  /** Called when an operator stopped a turn, of a session or of a sub-agent, because Claude Code reports no reason. */
  readonly onStop?: ((stop: AttachStop) => void) | undefined;
  /**
   * How long operators may hold a prompt, a call or a result, in seconds. A call that is held longer does not run.
   *
   * @defaultValue `600`, as in Claude Code
   */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Maximum number of sessions and sub-agents whose state is stored. The least recently used one is dropped first.
   *
   * @defaultValue `1000`, more than the conversations that one process serves at a time
   */
  readonly maxSessions?: number | undefined;
  /**
   * Accepts operators that change model requests, which has no effect; a process warning names them.
   *
   * @defaultValue `false`: such an operator is an error
   */
  readonly partial?: boolean | undefined;
}
