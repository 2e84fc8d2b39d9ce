import { CodedError } from '@h/options';

/** A problem in a configuration file. */
export interface ConfigProblem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column: number;
  /** The key with the problem, such as `servers.files.env`; empty for the whole file. */
  readonly key: string;
  readonly message: string;
}

/** A configuration file is invalid. The message has one line for each problem: `file:line:column: problem`. */
export class ConfigError extends CodedError {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[], options?: ErrorOptions) {
    super(
      'invalid-config',
      problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`).join('\n'),
      options,
    );
    this.problems = problems;
  }
}
