import { resolve } from 'node:path';
import {
  anyFunction,
  nonEmptyString,
  checkOptions,
  numberFrom,
  oneOf,
  required,
  maxTimerMs,
  type OptionChecks,
} from '@h/options';
import { quietly } from '../quietly.js';

/** When records are flushed to the disk; see {@link FileSessionsOptions.fsync}. */
export type FsyncPolicy = 'record' | 'turn' | 'never';

/**
 * Damage in the files of a session.
 *
 * | kind | found | action |
 * |---|---|---|
 * | `torn-record` | the last record is incomplete, so it was never confirmed | it was truncated |
 * | `corrupt-journal` | a record is damaged | the journal ends before it, because later records depend on it |
 * | `lost-records` | the journal ends before the last known record | the session continues where the journal ends |
 * | `short-journal` | the journal ends before the snapshot does | the journal was restarted after the snapshot |
 * | `corrupt-snapshot` | the snapshot is damaged | it was rebuilt from the journal |
 * | `corrupt-head` | the summary for lists is damaged | it was rebuilt from the journal |
 * | `unreadable` | the folder cannot be read, or no file contains the name of the session | nothing; lists leave the session out |
 *
 * Reading without opening (`messages()`) reports damage and changes nothing.
 */
export interface SessionProblem {
  readonly kind:
    | 'torn-record'
    | 'corrupt-journal'
    | 'lost-records'
    | 'short-journal'
    | 'corrupt-snapshot'
    | 'corrupt-head'
    | 'unreadable';
  /** The session; empty if the folder does not contain its name. */
  readonly session: string;
  /** The damaged file. */
  readonly path: string;
  /** A copy of what was removed; `undefined` if nothing was. */
  readonly backup: string | undefined;
  /** Number of bytes that were removed or lost. */
  readonly bytes: number;
  readonly message: string;
}

/** Options of {@link fileSessions}. */
export interface FileSessionsOptions {
  /** Folder of the sessions, with one folder for each. It is created with the first session. */
  readonly directory: string;
  /**
   * What survives a power failure. Every confirmed record survives the end of the process, `kill -9` included.
   *
   * - `'record'`: everything that a turn must not do twice or ask for again: its input, approvals, its end, and calls
   *   of tools that are neither read-only nor idempotent. Later model calls and results are lost, and a resumed turn
   *   repeats those that may be repeated.
   * - `'turn'`: turns that have ended. An interrupted turn may lack its last records.
   * - `'never'`: only records that the operating system has flushed on its own.
   *
   * @defaultValue `'record'`, because a call without a record may run twice
   */
  readonly fsync?: FsyncPolicy | undefined;
  /**
   * How long a session stays locked by a process on another machine that no longer renews its lock, in milliseconds, at
   * least 100. Locks are renewed three times in that period. On the same machine a lock ends with its process.
   *
   * @defaultValue `30_000`, the default of `@h/files`
   */
  readonly leaseMs?: number | undefined;
  /**
   * Receives damage that was found, and what was done about it. Errors that it throws are ignored.
   *
   * @defaultValue none: damage is repaired and not reported
   */
  readonly onProblem?: ((problem: SessionProblem) => void) | undefined;
}

export type FileSettings = Required<{ [Key in keyof FileSessionsOptions]: NonNullable<FileSessionsOptions[Key]> }>;

const minLeaseMs = 100;

const checks: OptionChecks<FileSessionsOptions> = {
  directory: required(nonEmptyString),
  fsync: oneOf(...(['record', 'turn', 'never'] satisfies FsyncPolicy[])),
  leaseMs: numberFrom(minLeaseMs, maxTimerMs),
  onProblem: anyFunction,
};

/** The options with their defaults. @throws InvalidOptionError */
export const settingsOf = (options: FileSessionsOptions): FileSettings => {
  checkOptions('fileSessions()', options, checks);
  const { directory, fsync = 'record', leaseMs = 30_000, onProblem = () => undefined } = options;
  // Resolved here, because a later chdir() must not move the sessions.
  return { directory: resolve(directory), fsync, leaseMs, onProblem: (problem) => quietly(() => onProblem(problem)) };
};
