import { TurnError } from '@h/turn';

/** The error of a session whose records another process writes now: code `session-taken`. */
export const sessionTaken = (session: string): TurnError =>
  new TurnError(
    'session-taken',
    `Session ${JSON.stringify(session)} was taken over or deleted by another process. This turn writes nothing more; open the session again.`,
  );

/** The error of a session that no longer accepts records: code `session-closed`. */
export const sessionClosed = (session: string): TurnError =>
  new TurnError(
    'session-closed',
    `Session ${JSON.stringify(session)} is closed, so the record was not written. Open the session again.`,
  );
