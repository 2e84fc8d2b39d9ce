import type { Zone } from '../read/paths.js';
import type { SqlDamage } from './sql.js';
import type { ShellProblem } from '../read/inner-commands.js';
import type { ParsedArguments } from '../read/arguments.js';

/** The decision about a command: it runs, a person is asked, or it is denied. */
export type CommandDecision = 'allow' | 'ask' | 'deny';

/** Which of the paths that a command is given a rule looks at. */
export type PathPlace =
  | 'operands'
  | 'all but the first'
  | 'first'
  | 'last'
  | 'not last'
  | 'redirections'
  | `${string}=`;

/**
 * A rule about commands, as data: everything that it names must be true of a command.
 *
 * An argument that only the running shell knows counts as what the rule looks for, and the decision is `ask` then.
 */
export interface CommandRule {
  /** Its name, as `git/force-push`: the part before the slash says what it is about. */
  readonly rule: string;
  readonly decision: 'ask' | 'deny';
  /** Names of programs, without their folder. Without it the rule is about every command. */
  readonly programs?: readonly string[] | undefined;
  /** The first words that are no options: one of these, like `volume rm`. `*` stands for any word, `(a|b)` for one of two. */
  readonly words?: readonly string[] | undefined;
  /** Options that must all be given, each in one of its forms: `['-r|-R|--recursive', '-f|--force']`. */
  readonly flags?: readonly string[] | undefined;
  /** Options with which the rule does not apply, like `--dry-run`. */
  readonly unless?: readonly string[] | undefined;
  /** Some argument must match this. */
  readonly argument?: RegExp | undefined;
  /** Some path among the arguments, in these places, must be in one of these zones. */
  readonly paths?: { readonly in: readonly PathPlace[]; readonly zones: readonly Zone[] } | undefined;
  /** The effect that the SQL among the arguments must have. */
  readonly sql?: SqlDamage | undefined;
  /** What is wrong with the line itself. */
  readonly problem?: ShellProblem | undefined;
  /** Anything else. */
  readonly test?: ((command: RuleContext) => boolean) | undefined;
  /** What would happen, in a sentence that the model reads. */
  readonly why: string;
  /** What to do instead, in a sentence. */
  readonly instead?: string | undefined;
}

/** A command as a rule sees it. */
export interface RuleContext {
  readonly program: string;
  readonly arguments: ParsedArguments;
  /** What the command reads, if that is known. */
  readonly input: string | undefined;
  /** Programs whose output the command reads. */
  readonly reads: readonly string[];
  /** Where its output goes. */
  readonly redirected: readonly string[];
  /** Programs whose output is among its arguments. */
  readonly madeBy: readonly string[];
  readonly zoneOf: (path: string) => Zone;
  /** Whether a path names a file with secrets, or one that the line has written a secret into. */
  readonly isSecret: (path: string) => boolean;
}

/** A reason why a command is not allowed to run without a question. */
export interface JudgementFinding {
  /** The name of the rule. */
  readonly rule: string;
  readonly decision: 'ask' | 'deny';
  /** The command as it would run; unknown words appear as written. */
  readonly argv: readonly string[];
  readonly why: string;
  readonly instead?: string | undefined;
}

/** The judgement of a line. */
export interface CommandJudgement {
  /** The strictest of all findings; `allow` if there are none. */
  readonly decision: CommandDecision;
  readonly findings: readonly JudgementFinding[];
}
