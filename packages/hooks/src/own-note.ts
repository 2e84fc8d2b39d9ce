import type { JSONValue } from '@h/turn';

/** What the operator itself has noted on an event. */
export const ownNote = (note: JSONValue | undefined, key: string): JSONValue | undefined =>
  typeof note === 'object' && note !== null && key in note
    ? (note as Readonly<Record<string, JSONValue>>)[key]
    : undefined;
