import type { ToolEffect, ToolStatus } from '@h/turn';

/** A call of a tool, as the model asked for it. */
export interface LoopCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** What the tool declares about itself; inferred from names and shell commands where it is missing. */
  readonly effect?: ToolEffect | undefined;
}

/** How a call ended. */
export interface LoopOutcome {
  readonly status: ToolStatus;
  /** What the model would read: a text, an output as `tool.result` has it, or anything else. */
  readonly output: unknown;
}

/** Says nothing about progress: nothing ran, or nobody knows. */
export const neutralStatuses: ReadonlySet<ToolStatus> = new Set(['skipped', 'cancelled', 'interrupted']);

export const successStatuses: ReadonlySet<ToolStatus> = new Set(['ok', 'stored']);
