import type { Field } from './field.js';
import type { ShellProblem } from './inner-commands.js';
import type { Input } from './known-output.js';

/** A file that output goes to. */
export interface Redirection {
  readonly operator: string;
  readonly target: Field;
}

/** One command of a line, as it would run. */
export interface Invocation {
  /** Name and arguments; empty where output is only redirected. */
  readonly argv: readonly Field[];
  readonly redirections: readonly Redirection[];
  /** What it reads from its input. */
  readonly input: Input | undefined;
  /** The folder that it runs in. */
  readonly cwd: string;
  /** Files that the line has written a secret into. */
  readonly secrets: ReadonlySet<string>;
}

/** Everything that a line runs, and the problems that hide a part of it. */
export interface CommandLine {
  readonly invocations: readonly Invocation[];
  readonly problems: readonly {
    readonly problem: ShellProblem;
    readonly argv: readonly string[];
    readonly detail?: string | undefined;
  }[];
}
