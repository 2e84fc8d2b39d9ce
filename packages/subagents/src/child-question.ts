import type { JSONObject } from '@h/turn';

const annotation = 'subagents';

/** Marks a question as one of a sub-agent, so that it is known as such also after a crash. */
export const askedBy = (child: string): JSONObject => ({ [annotation]: child });

/** Whether a question in the turn of a parent is one of a sub-agent: it says nothing about calls of the parent itself. */
export const isChildQuestion = (annotations: JSONObject | undefined): boolean =>
  typeof annotations?.[annotation] === 'string';
