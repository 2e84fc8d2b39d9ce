import type { ToolEffect } from '@h/turn';
import type { ChantingOptions } from './chanting.js';
import type { DetectorThresholds } from './thresholds.js';

/** What is special about one tool. */
export interface ToolLoopOptions {
  /** Thresholds of this tool, before those of `detectors`. */
  readonly detectors?: DetectorThresholds | undefined;
  /** Whether its calls only ask how far something is. Without it the name, the action and the command tell. */
  readonly poll?: boolean | undefined;
  /** What it does to the world, before what it declares itself. */
  readonly effect?: ToolEffect | undefined;
  /**
   * Picks from an input what makes two calls the same. What it throws is ignored, with its pick.
   *
   * @defaultValue all of it, but for what says why the call is made: `explanation`, `justification`, `reasoning`, `thought`, `toolSummary`, and of shells `description` and `reason`
   */
  readonly inputOf?: ((input: unknown) => unknown) | undefined;
  /** Picks from an output what tells whether something has changed. What it throws is ignored, with its pick. */
  readonly outcomeOf?: ((output: unknown) => unknown) | undefined;
}

/** Options of {@link createLoopDetector}. */
export interface LoopOptions {
  /** Thresholds by detector; `false` switches one off. */
  readonly detectors?: DetectorThresholds | undefined;
  /** What is special about a tool, by its name; `false` for tools that may be called at will. */
  readonly tools?: Readonly<Record<string, ToolLoopOptions | false>> | undefined;
  /**
   * The last of so many calls in a row with the same name and input is not run, whatever they return.
   * `doom_loop_threshold` of seed 001, where it is 3.
   *
   * @defaultValue off: it also stops calls that make progress
   */
  readonly doomLoopThreshold?: number | undefined;
  /**
   * How many new outcomes after a veto make it forgiven. Another loop before that is a `break`; the same loop once more always is.
   *
   * @defaultValue `5`
   */
  readonly forgiveAfter?: number | undefined;
}

/** Options of {@link loopDetect}. */
export interface LoopDetectOptions extends LoopOptions {
  /**
   * The last of so many steps in a row that ask for the same calls, in whatever order, is not run, and the turn ends.
   * The step before carries a warning. `max_repeated_tool_steps` of seed 004, where it is 3; N counts all of them.
   *
   * @defaultValue off: it also stops steps that make progress
   */
  readonly maxRepeatedSteps?: number | undefined;
  /** When an answer repeats itself; `false` to let it. */
  readonly chanting?: ChantingOptions | false | undefined;
  /**
   * How many calls pass before the same warning is given again.
   *
   * @defaultValue `5`
   */
  readonly warnEvery?: number | undefined;
  /**
   * Whether a turn that ends here is summed up by the model first, in one step without tools.
   *
   * @defaultValue `true`
   */
  readonly summary?: boolean | undefined;
}
