import { SessionBusyError } from '@h/turn';

/** Somebody else writes the session: another process, or another turn of this one. Its `code` is `session-busy`. */
export class SessionHeldError extends SessionBusyError {
  /** The process that holds it. */
  readonly pid: number;
  /** Its machine. */
  readonly host: string;
  /** Since when, as milliseconds since 1970 by the clock of the file system. */
  readonly since: number;

  constructor(session: string, holder: Pick<SessionHeldError, 'pid' | 'host' | 'since'>) {
    super(session);
    this.pid = holder.pid;
    this.host = holder.host;
    this.since = holder.since;
    const isThis = holder.pid === process.pid ? ' (this one)' : '';
    this.message = `The session ${JSON.stringify(session)} is held by process ${holder.pid}${isThis} on ${holder.host} since ${new Date(holder.since).toISOString()}; it is free when its turn or that process ends.`;
  }
}
