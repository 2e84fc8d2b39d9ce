import { InvalidInputError } from '@h/turn';
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
   * It is renewed three times in that time. On the same machine a lock ends with its process, whatever the lease says.
   *
   * @defaultValue `30_000`
   */
  readonly leaseMs?: number | undefined;
  /** Is told of what was found broken and how it was mended. */
  readonly onProblem?: ((problem: SessionProblem) => void) | undefined;
}

export type FileSettings = Required<{ [Key in keyof FileSessionsOptions]: NonNullable<FileSessionsOptions[Key]> }>;

const policies: readonly unknown[] = ['record', 'turn', 'never'] satisfies readonly FsyncPolicy[];
const leastLeaseMs = 100;

const rules: Readonly<Record<keyof FileSessionsOptions, readonly [holds: (value: unknown) => boolean, expected: string]>> = {
  directory: [(value) => typeof value === 'string' && value !== '', 'the path of a folder'],
  fsync: [(value) => policies.includes(value), "'record', 'turn' or 'never'"],
  leaseMs: [(value) => typeof value === 'number' && value >= leastLeaseMs && value < Infinity, `milliseconds, at least ${leastLeaseMs}`],
  onProblem: [(value) => typeof value === 'function', 'a function'],
};

/** The options with their defaults. @throws InvalidInputError that names the option, its value and what was expected */
export const settingsOf = (options: FileSessionsOptions): FileSettings => {
  for (const [key, value] of Object.entries(options)) {
    const rule = Object.hasOwn(rules, key) ? rules[key as keyof FileSessionsOptions] : undefined;
    if (!rule) throw new InvalidInputError(`fileSessions() has no option ${JSON.stringify(key)}; it knows ${Object.keys(rules).join(', ')}.`);
    if (value !== undefined && !rule[0](value)) throw invalid(key, value, rule[1]);
  }
  const { directory, fsync = 'record', leaseMs = 30_000, onProblem = () => undefined } = options;
  if (!rules.directory[0](directory)) throw invalid('directory', directory, rules.directory[1]);
  return { directory, fsync, leaseMs, onProblem };
};

const invalid = (key: string, value: unknown, expected: string): InvalidInputError =>
  new InvalidInputError(`The option ${key} of fileSessions() is ${expected}, not ${JSON.stringify(value) ?? String(value)}.`);
