import { acquireLock, inspectLock, LockHeldError, type FileLock, type LockLostError, type LockOwner } from '@h/files';
import { SessionBusyError, TurnError } from '@h/turn';

/** The session is open for writing elsewhere: in another process, or in another turn of this one. `code` is `session-busy`. */
export class SessionHeldError extends SessionBusyError {
  /** The process that holds the session. */
  readonly pid: number;
  /** The host on which that process runs. */
  readonly host: string;
  /** When the session was opened, in milliseconds since 1970 by the clock of the file system. */
  readonly since: number;

  constructor(session: string, { pid, host, since }: Pick<LockOwner, 'pid' | 'host' | 'since'>) {
    super(session);
    this.pid = pid;
    this.host = host;
    this.since = since;
    this.message = `Session ${JSON.stringify(session)} is held by ${describe({ pid, host, since })}. It becomes free when its turn or that process ends.`;
  }
}

/** Locks the folder of a session. @throws SessionHeldError; methods of the lock throw TurnError `session-taken` */
export const lockSession = (
  { path, session }: { readonly path: string; readonly session: string },
  options: { readonly leaseMs: number; readonly create?: boolean },
): Promise<FileLock> =>
  acquireLock(path, {
    ...options,
    toError: (error) =>
      error instanceof LockHeldError ? new SessionHeldError(session, error.owner) : takenOver(session, error),
  });

/** Whether another opening holds a session. */
export const isLocked = async (folder: string): Promise<boolean> => (await inspectLock(folder)) !== undefined;

const takenOver = (session: string, error: LockLostError): TurnError =>
  new TurnError(
    'session-taken',
    `Session ${JSON.stringify(session)} was ${error.owner ? `taken over by ${describe(error.owner)}` : 'taken over or deleted by another process'}. Nothing more is written to it.`,
    { cause: error },
  );

const describe = ({ pid, host, since }: Pick<LockOwner, 'pid' | 'host' | 'since'>): string =>
  `process ${pid}${pid === process.pid ? ' (this one)' : ''} on ${host} since ${new Date(since).toISOString()}`;
