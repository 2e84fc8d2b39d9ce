import type { JSONObject } from '@h/turn';

const annotation = 'subagents';

/** Marks a request of a sub-agent, so that it is recognized after a crash. */
export const askedBy = (child: string): JSONObject => ({ [annotation]: child });

/**
 * Returns whether a request in the turn of a parent comes from a sub-agent, and does not concern calls of the parent.
 */
export const isChildQuestion = (annotations: JSONObject | undefined): boolean =>
  typeof annotations?.[annotation] === 'string';
