import { resolve } from 'node:path';
import { anyFunction, nonEmptyString, checkOptions, numberFrom, oneOf, required, type OptionChecks } from '@h/options';
import { quietly } from '../quietly.js';
import type { SessionProblem } from './problem.js';

/** When records are forced onto the disk, see {@link FileSessionsOptions.fsync}. */
export type FsyncPolicy = 'record' | 'turn' | 'never';

/** Options of {@link fileSessions}. */
export interface FileSessionsOptions {
  /** The folder in which the sessions are kept, one folder each; it is made when the first session is opened. */
  readonly directory: string;
  /**
   * What a confirmed record survives. The death of the process, `kill -9` included, it survives in any case.
   *
   * - `'record'`: a loss of power too. Records that come in while the disk is busy are forced onto it together.
   * - `'turn'`: a loss of power too once the turn has ended; what was under way may lack its last records.
   * - `'never'`: what the system does by itself.
   *
   * @defaultValue `'record'`, because a tool call that is forgotten may run twice
   */
  readonly fsync?: FsyncPolicy | undefined;
  /**
   * How long a session stays locked by a process on another machine that no longer renews its lock, in milliseconds.
   * It is renewed three times in that time. On the same machine a lock ends with its process, whatever the lease says. At
   * least 100.
   *
   * @defaultValue `30_000`
   */
  readonly leaseMs?: number | undefined;
  /** Is told of what was found broken and how it was mended. */
  readonly onProblem?: ((problem: SessionProblem) => void) | undefined;
}

export type FileSettings = Required<{ [Key in keyof FileSessionsOptions]: NonNullable<FileSessionsOptions[Key]> }>;

/** Timers of the platform know no longer time. */
const maxTimerMs = 2_147_483_647;
const leastLeaseMs = 100;

const checks: OptionChecks<FileSessionsOptions> = {
  directory: required(nonEmptyString),
  fsync: oneOf(...(['record', 'turn', 'never'] satisfies FsyncPolicy[])),
  leaseMs: numberFrom(leastLeaseMs, maxTimerMs),
  onProblem: anyFunction,
};

/** The options with their defaults. @throws InvalidOptionError */
export const settingsOf = (options: FileSessionsOptions): FileSettings => {
  checkOptions('fileSessions()', options, checks);
  const { directory, fsync = 'record', leaseMs = 30_000, onProblem = () => undefined } = options;
  // The same folder, wherever the process goes.
  return { directory: resolve(directory), fsync, leaseMs, onProblem: (problem) => quietly(() => onProblem(problem)) };
};
