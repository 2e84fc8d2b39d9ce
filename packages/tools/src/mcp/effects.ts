import type { ToolEffect } from '@h/turn';

/** What a server says about its tool. */
export interface McpAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/**
 * The effect of a tool, from what its server says. What it does not say counts as the worst, as the protocol has it: a tool
 * reaches the open world and destroys unless it is said not to.
 */
export const effectOf = ({ readOnlyHint, destructiveHint, openWorldHint }: McpAnnotations = {}): ToolEffect => {
  if (readOnlyHint === true) return openWorldHint === false ? 'read-only' : 'network';
  if (destructiveHint !== false) return 'destructive';
  return openWorldHint === false ? 'local-write' : 'network';
};

/** Whether running it twice is as good as once. */
export const isIdempotent = ({ readOnlyHint, idempotentHint }: McpAnnotations = {}): boolean =>
  readOnlyHint === true || idempotentHint === true;
