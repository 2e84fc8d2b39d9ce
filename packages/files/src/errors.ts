import { CodedError } from '@h/options';

/** The process that holds a lock. */
export interface LockOwner {
  readonly pid: number;
  readonly host: string;
  /** Its number, as in `FileLock.generation`. */
  readonly generation: number;
  /** When the lock was acquired, in milliseconds since 1970 by the clock of the file system. */
  readonly since: number;
}

/**
 * Thrown if another holder has the lock and is alive, or cannot be checked and is within its lease. `code` is
 * `lock-held`.
 */
export class LockHeldError extends CodedError {
  readonly owner: LockOwner;

  constructor(folder: string, owner: LockOwner, waitedMs = 0) {
    const waited = waitedMs > 0 ? ` after waiting ${waitedMs} ms` : '';
    super(
      'lock-held',
      `The lock in ${folder} is held by ${describeOwner(owner)}${waited}. It becomes free when that holder releases it or its process ends.`,
    );
    this.owner = owner;
  }
}

/** Thrown if the lock was taken over, its folder was deleted, or it was released before. `code` is `lock-lost`. */
export class LockLostError extends CodedError {
  /** The holder that took over, if it still holds the lock. */
  readonly owner: LockOwner | undefined;

  constructor(folder: string, owner: LockOwner | undefined, options?: ErrorOptions) {
    super(
      'lock-lost',
      owner
        ? `The lock in ${folder} was taken over by ${describeOwner(owner)}. This holder writes no more files; acquire the lock again.`
        : `The lock in ${folder} was released, taken over or deleted. This holder writes no more files; acquire the lock again.`,
      options,
    );
    this.owner = owner;
  }
}

/** Thrown if the path of a regular file is a link, a pipe or a device. `code` is `unsafe-file`. */
export class UnsafeFileError extends CodedError {
  readonly path: string;

  constructor(path: string, options?: ErrorOptions) {
    super(
      'unsafe-file',
      `${path} is not a regular file. Links, pipes and devices are refused; replace it with a regular file.`,
      options,
    );
    this.path = path;
  }
}

const describeOwner = ({ pid, host, since }: LockOwner): string =>
  `process ${pid}${pid === process.pid ? ' (this one)' : ''} on ${host} since ${new Date(since).toISOString()}`;
