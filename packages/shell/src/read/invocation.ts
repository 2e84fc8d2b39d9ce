import type { Container } from './commands/containers.js';
import type { Field } from './words/field.js';
import type { ShellProblem } from './commands/inner.js';
import type { Input } from './words/known-output.js';

/** A file to which output is written. */
export interface Redirection {
  readonly operator: string;
  readonly target: Field;
  /** Whether the standard output goes there. */
  readonly isOutput: boolean;
  /** Whether the standard output goes to the standard error or the terminal, which display it even within a pipe. */
  readonly isDisplay: boolean;
}

/** One command of a line, as it would run. */
export interface Invocation {
  /** Name and arguments; empty for a redirection without a command. */
  readonly argv: readonly Field[];
  readonly redirections: readonly Redirection[];
  /** Its standard input. */
  readonly input: Input | undefined;
  /** The folder in which it runs. */
  readonly cwd: string;
  /** Files to which the line has written a secret. */
  readonly secrets: ReadonlyMap<string, string>;
  /** Whether its output is displayed. It is not if a pipe, a substitution or a file receives it. */
  readonly isShown: boolean;
  /** Whether a variable that the line has set turns the hooks of git off. */
  readonly skipsHooks: boolean;
  /** The environment that a variable selects for frameworks, such as `test` or `production`. */
  readonly environment: string | undefined;
  /** The servers of databases that variables of the line select: hosts and addresses. */
  readonly servers: readonly string[];
  /** Whether it may be text that is no command. */
  readonly isGuess: boolean;
  /** Whether it runs as root on this machine. */
  readonly isRoot: boolean;
  /** Whether it runs on another machine. */
  readonly isElsewhere: boolean;
  /** The container in which it runs. */
  readonly container: Container | undefined;
}

/** Everything that a line runs, and problems that hide a part of it. */
export interface CommandLine {
  readonly invocations: readonly Invocation[];
  readonly problems: readonly {
    readonly problem: ShellProblem;
    readonly argv: readonly string[];
    readonly detail?: string | undefined;
  }[];
}
