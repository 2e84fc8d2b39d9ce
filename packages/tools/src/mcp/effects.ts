import type { ToolEffect } from '@h/turn';

/** The annotations of a tool, as declared by its server. */
export interface McpAnnotations {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/**
 * Returns the effect of a tool from its annotations. A missing annotation counts as the worst case, as the protocol
 * specifies: the tool may access the network and may destroy data.
 */
export const effectOf = ({ readOnlyHint, destructiveHint, openWorldHint }: McpAnnotations = {}): ToolEffect => {
  if (readOnlyHint === true) return openWorldHint === false ? 'read-only' : 'network';
  if (destructiveHint !== false) return 'destructive';
  return openWorldHint === false ? 'local-write' : 'network';
};

/** Returns whether running the tool twice has the same effect as running it once. */
export const isIdempotent = ({ readOnlyHint, idempotentHint }: McpAnnotations = {}): boolean =>
  readOnlyHint === true || idempotentHint === true;
