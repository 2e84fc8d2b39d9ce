import type { Zone } from '../read/files/paths.js';
import type { SqlDamage } from './sql.js';
import type { ShellProblem } from '../read/commands/inner.js';
import type { ParsedArguments } from '../read/words/arguments.js';

/** The decision about a command: it runs, a person is asked, or it is denied. */
export type CommandDecision = 'allow' | 'ask' | 'deny';

/** The paths in a command's arguments that a rule examines. */
export type PathPlace =
  | 'operands'
  | 'all but the first'
  | 'first'
  | 'last'
  | 'not last'
  | 'redirections'
  | `${string}=`;

/**
 * A rule about commands, as data: all of its conditions must hold.
 *
 * An argument that is unknown until the line runs may satisfy any condition; the decision is then `ask`.
 */
export interface CommandRule {
  /** Its name, such as `git/force-push`; the part before the slash is the topic. */
  readonly rule: string;
  readonly decision: 'ask' | 'deny';
  /** Names of programs without their folder. Without it the rule applies to every command. */
  readonly programs?: readonly string[] | undefined;
  /**
   * One of these must be the first words that are not options, such as `volume rm`. `*` matches any word, `(a|b)` one
   * of two.
   */
  readonly words?: readonly string[] | undefined;
  /** Options that must all be present, each in one of its forms: `['-r|-R|--recursive', '-f|--force']`. */
  readonly flags?: readonly string[] | undefined;
  /** Options that exclude the rule, such as `--dry-run`. */
  readonly unless?: readonly string[] | undefined;
  /** Some argument must match this. */
  readonly argument?: RegExp | undefined;
  /** Some path among these arguments must be in one of these zones. */
  readonly paths?: { readonly in: readonly PathPlace[]; readonly zones: readonly Zone[] } | undefined;
  /** The effect that the SQL among the arguments must have. */
  readonly sql?: SqlDamage | undefined;
  /** The problem that the line itself must have. */
  readonly problem?: ShellProblem | undefined;
  /** Any other condition. */
  readonly test?: ((command: RuleContext) => boolean) | undefined;
  /** The consequence, in a sentence for the model. */
  readonly why: string;
  /** An alternative, in a sentence. */
  readonly instead?: string | undefined;
}

/** A command as rules see it. */
export interface RuleContext {
  readonly program: string;
  readonly arguments: ParsedArguments;
  /** Its standard input, if it is known. */
  readonly input: string | undefined;
  /** The file that is its standard input. */
  readonly inputFile: string | undefined;
  /** Programs whose output it reads. */
  readonly reads: readonly string[];
  /** Files to which its output is written. */
  readonly redirected: readonly string[];
  /** Programs whose output is among its arguments. */
  readonly madeBy: readonly string[];
  /** The command as written, with the names of variables. */
  readonly shown: readonly string[];
  /** Arguments that contain a secret variable of the environment, with the names of these variables. */
  readonly secretWords: readonly { readonly text: string; readonly names: readonly string[] }[];
  /** Whether the line has loaded a file with secrets into the environment. */
  readonly hasLoadedSecrets: boolean;
  /** Whether its output is displayed. It is not if a pipe, a substitution or a file receives it. */
  readonly isShown: boolean;
  /** Whether a variable turns off the hooks that it would run. */
  readonly skipsHooks: boolean;
  /** The environment that a variable selects for frameworks, such as `test` or `production`. */
  readonly environment: string | undefined;
  /** The servers of databases that variables of the line select: hosts and addresses. */
  readonly servers: readonly string[];
  /** Whether its words are data, it is a script of the project, or it may be no command at all. */
  readonly isOrdinary: boolean;
  /** Whether it runs as root on this machine. */
  readonly isRoot: boolean;
  /** Whether it runs on another machine. */
  readonly isElsewhere: boolean;
  readonly zoneOf: (path: string) => Zone;
  /** Returns whether a path names a file with secrets, or one to which the line has written a secret. */
  readonly isSecret: (path: string) => boolean;
}

/** A reason why a command may not run without an approval. */
export interface JudgementFinding {
  /** The name of the rule. */
  readonly rule: string;
  readonly decision: 'ask' | 'deny';
  /** The command as it would run; unknown words appear as written. */
  readonly argv: readonly string[];
  readonly why: string;
  readonly instead?: string | undefined;
}

/** The judgment of a line. */
export interface CommandJudgement {
  /** The strictest of all findings; `allow` if there are none. */
  readonly decision: CommandDecision;
  readonly findings: readonly JudgementFinding[];
}
