import type { JSONValue } from '@h/turn';

/** Returns a member of the annotation that the operator added to an event. */
export const ownNote = (note: JSONValue | undefined, key: string): JSONValue | undefined =>
  typeof note === 'object' && note !== null && key in note
    ? (note as Readonly<Record<string, JSONValue>>)[key]
    : undefined;
