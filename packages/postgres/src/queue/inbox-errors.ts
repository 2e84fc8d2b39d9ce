import { TurnError } from '@h/turn';

/** Errors after which another process runs the session, or resumes its turn. */
const keptAfter: ReadonlySet<string> = new Set([
  'inbox-behind',
  'inbox-delivered',
  'inbox-taken',
  'lane-failed',
  'lane-lost',
  'session-busy',
  'session-closed',
  'session-stuck',
  'session-taken',
  'session-unfinished',
]);

/** Returns whether a turn that failed with this error is continued by another process. */
export const isKeptAfter = (code = ''): boolean => keptAfter.has(code) || code.startsWith('database-');

export const takenError = (name: string): TurnError =>
  new TurnError(
    'inbox-taken',
    `Another process has taken over the messages that this one had in the inbox ${JSON.stringify(name)}, because its lease ended. Close this inbox and open another one.`,
  );

export const behindError = (session: string): TurnError =>
  new TurnError(
    'inbox-behind',
    `An earlier message of session ${JSON.stringify(session)} belongs to another process, which delivers it first. This message is left to that process.`,
  );

export const closedError = (name: string): TurnError =>
  new TurnError(
    'inbox-closed',
    `The inbox ${JSON.stringify(name)} is not open. Open the store first; a closed store cannot be used again.`,
  );
