import { acquireLock, inspectLock, LockHeldError, type FileLock, type LockLostError, type LockOwner } from '@h/files';
import { SessionBusyError, TurnError } from '@h/turn';

/**
 * Thrown if the session is open for writing in another process or in another turn of this one. `code` is
 * `session-busy`.
 */
export class SessionHeldError extends SessionBusyError {
  /** The process that holds the session. */
  readonly pid: number;
  /** The host on which that process runs. */
  readonly host: string;
  declare readonly since: number;

  constructor(session: string, { pid, host, since }: Pick<LockOwner, 'pid' | 'host' | 'since'>) {
    super(session, { owner: describe({ pid, host }), since });
    this.pid = pid;
    this.host = host;
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

/** Returns whether an error means that the session is held elsewhere. */
export const isLocked = async (folder: string): Promise<boolean> => (await inspectLock(folder)) !== undefined;

const takenOver = (session: string, error: LockLostError): TurnError =>
  new TurnError(
    'session-taken',
    `Session ${JSON.stringify(session)} was ${error.owner ? `taken over by ${describe(error.owner)} since ${new Date(error.owner.since).toISOString()}` : 'taken over or deleted by another process'}. This turn writes nothing more; open the session again.`,
    { cause: error },
  );

const describe = ({ pid, host }: Pick<LockOwner, 'pid' | 'host'>): string =>
  `process ${pid}${pid === process.pid ? ' (this one)' : ''} on ${host}`;
