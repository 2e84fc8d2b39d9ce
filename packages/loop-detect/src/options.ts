import type { ToolEffect } from '@h/turn';
import {
  anyBoolean,
  anyFunction,
  anyOf,
  checkOptions,
  integerFrom,
  objectOf,
  oneOf,
  recordOf,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';

/** Thresholds of a detector. `Infinity` disables a level. The judged call is included in the count. */
export interface Thresholds {
  /** The result of the Nth call contains a warning. */
  readonly warn?: number | undefined;
  /** The Nth call is not run. */
  readonly block?: number | undefined;
  /** The turn ends after the Nth call. */
  readonly break?: number | undefined;
}

/** Thresholds by detector; `false` disables a detector. */
export interface DetectorThresholds {
  /**
   * Calls with the same input since the last change, regardless of their results. Only warns; three times later while
   * each result has other words, or figures that move in one direction, and as late as `poll` if they vary by
   * themselves.
   * @defaultValue `{ warn: 10 }`, as in OpenClaw
   */
  readonly repeat?: { readonly warn?: number | undefined } | false | undefined;
  /**
   * Calls with the same input and the same outcome, with no new outcome in between.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns at 3 and stops at 5, gemini-cli stops at 5
   */
  readonly 'no-progress'?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * The same for calls that request a state or the next page.
   * @defaultValue `{ warn: 16, block: 20 }`: OpenClaw warns at 10 and stops at 20; a wait of more than 10 checks is common
   */
  readonly poll?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Rounds of two to six calls with the same outcomes each time. A round that contains a poll has the thresholds of
   * `poll`.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns from 3 rounds on, gemini-cli stops after 5
   */
  readonly cycle?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Equal failures of one tool for different inputs. Differently worded failures require 2 more to warn and 4 more to
   * block. Shells require 4 more to block, and are never blocked for differently worded failures.
   * @defaultValue `{ warn: 4, block: 8 }`: Hermes warns at 3 and stops at 8; agents need three attempts to get an edit
   * right
   */
  readonly churn?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Calls with no other call in between whose inputs differ in one text, while the text says nothing new: a file that is
   * rewritten, a message or a report that is sent again in other words.
   * @defaultValue `{ warn: 10, block: 20 }`: warns as late as `repeat` and blocks as late as `poll`, because each of the
   * calls succeeds
   */
  readonly rework?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Calls of tools that do not exist, with no existing tool in between.
   * @defaultValue `{ warn: 3, block: 5, break: 10 }`
   */
  readonly 'unknown-tool'?: Thresholds | false | undefined;
  /**
   * Batches of calls of any kind that returned nothing new.
   * @defaultValue `{ warn: 20, break: 30 }`, the breaker of OpenClaw
   */
  readonly breaker?: Pick<Thresholds, 'warn' | 'break'> | false | undefined;
}

/** Options for one tool. */
export interface ToolLoopOptions {
  /** Thresholds of this tool; they take precedence over `detectors`. */
  readonly detectors?: DetectorThresholds | undefined;
  /**
   * Whether its calls only request a state.
   *
   * @defaultValue inferred from the name, the action and the command
   */
  readonly poll?: boolean | undefined;
  /** The effect of the tool, which overrides the declared one. */
  readonly effect?: ToolEffect | undefined;
  /**
   * Selects the part of an input that identifies a call. If it throws, the whole input counts.
   *
   * @defaultValue the input without the reason for the call (`explanation`, `justification`, `reasoning`, `thought`,
   * `toolSummary`; of shells also `description`, `reason` and comments) and without request ids, nonces and timestamps
   */
  readonly inputOf?: ((input: unknown) => unknown) | undefined;
  /** Selects the part of an output that shows progress. If it throws, the whole output counts. */
  readonly outcomeOf?: ((output: unknown) => unknown) | undefined;
}

/** Options of {@link createLoopDetector}. */
export interface LoopOptions {
  /** Thresholds by detector; `false` disables one. */
  readonly detectors?: DetectorThresholds | undefined;
  /** Options by tool name; `false` for tools that may be called any number of times. */
  readonly tools?: Readonly<Record<string, ToolLoopOptions | false>> | undefined;
  /**
   * Blocks the Nth call in a row with the same name and input, regardless of the results.
   *
   * @defaultValue off, since it also stops calls that make progress
   */
  readonly doomLoopThreshold?: number | undefined;
  /**
   * Number of new outcomes after which a block is forgotten. Until then, any other loop ends the turn; the same loop
   * always does.
   *
   * @defaultValue `5`, so that one new outcome between two rounds does not hide a loop
   */
  readonly forgiveAfter?: number | undefined;
}

/** Options of `createChantingDetector`. */
export interface ChantingOptions {
  /**
   * Number of consecutive repetitions of a passage. Short passages must also reach `minChars`.
   *
   * @defaultValue `5`, as for repeated calls in gemini-cli
   */
  readonly rounds?: number | undefined;
  /**
   * Length of all repetitions together, in characters.
   *
   * @defaultValue `400`, about five lines
   */
  readonly minChars?: number | undefined;
  /**
   * Maximum number of occurrences of a sentence among the last 50.
   *
   * @defaultValue `10`, as for chunks in gemini-cli
   */
  readonly sentences?: number | undefined;
}

/** Options of {@link loopDetect}. */
export interface LoopDetectOptions extends LoopOptions {
  /**
   * Ends the turn at the Nth step in a row that requests the same calls, in any order. The calls of that step do not
   * run; the step before it gets a warning.
   *
   * @defaultValue off, since it also stops steps that make progress
   */
  readonly maxRepeatedSteps?: number | undefined;
  /** Thresholds for answers that repeat themselves; `false` disables the check. */
  readonly chanting?: ChantingOptions | false | undefined;
  /**
   * Number of results before the same warning is repeated.
   *
   * @defaultValue `5`, since a warning at every result would itself be a repetition
   */
  readonly warnEvery?: number | undefined;
  /**
   * Whether the model summarizes a turn that ends, in one step without tools.
   *
   * @defaultValue `true`
   */
  readonly summary?: boolean | undefined;
}

const defaultThresholds = {
  repeat: { warn: 10 },
  'no-progress': { warn: 3, block: 5 },
  poll: { warn: 16, block: 20 },
  cycle: { warn: 3, block: 5 },
  churn: { warn: 4, block: 8 },
  rework: { warn: 10, block: 20 },
  'unknown-tool': { warn: 3, block: 5, break: 10 },
  breaker: { warn: 20, break: 30 },
} as const satisfies DetectorThresholds;

/** All three thresholds; `Infinity` for a disabled level. */
export type Limits = Readonly<Required<Record<keyof Thresholds, number>>>;
export type LimitsOf = (detector: keyof DetectorThresholds, tool: string) => Limits;

/** Resolves thresholds: those of the tool, then those of the detector, then the defaults. */
export const limitsFrom = ({ detectors = {}, tools = {} }: LoopOptions): LimitsOf => {
  const general = limitsTable({}, detectors);
  const byTool = new Map(
    Object.entries(tools).map(([tool, own]) => [
      tool,
      limitsTable(own === false ? {} : (own.detectors ?? {}), detectors),
    ]),
  );
  return (detector, tool) => (byTool.get(tool) ?? general)[detector];
};

type LimitsTable = Readonly<Record<keyof DetectorThresholds, Limits>>;
const detectorNames = Object.keys(defaultThresholds) as readonly (keyof DetectorThresholds)[];

const limitsTable = (own: DetectorThresholds, general: DetectorThresholds): LimitsTable =>
  Object.fromEntries(
    detectorNames.map((name) => [name, resolveLimits(own[name], general[name], defaultThresholds[name])]),
  ) as LimitsTable;

const resolveLimits = (
  own: Thresholds | false | undefined,
  general: Thresholds | false | undefined,
  fallback: Thresholds,
): Limits => {
  const isOff = own === false || (own === undefined && general === false);
  const pick = (level: keyof Thresholds): number =>
    isOff ? Infinity : ((own || undefined)?.[level] ?? (general || undefined)?.[level] ?? fallback[level] ?? Infinity);
  return { warn: pick('warn'), block: pick('block'), break: pick('break') };
};

const countFrom = (min: number): OptionCheck => integerFrom(min, Infinity);
const off = oneOf(false);

const levelChecks = (levels: object): OptionCheck =>
  anyOf(off, objectOf(Object.fromEntries(Object.keys(levels).map((level) => [level, countFrom(1)]))));
const detectorChecks = objectOf(
  Object.fromEntries(Object.entries(defaultThresholds).map(([name, levels]) => [name, levelChecks(levels)])),
);

const toolChecks: OptionChecks<ToolLoopOptions> = {
  detectors: detectorChecks,
  poll: anyBoolean,
  effect: oneOf('read-only', 'local-write', 'network', 'destructive'),
  inputOf: anyFunction,
  outcomeOf: anyFunction,
};

const loopChecks: OptionChecks<LoopOptions> = {
  detectors: detectorChecks,
  tools: recordOf(anyOf(off, objectOf(toolChecks))),
  doomLoopThreshold: countFrom(2),
  forgiveAfter: countFrom(0),
};

const chantingChecks: OptionChecks<ChantingOptions> = {
  rounds: countFrom(2),
  minChars: countFrom(1),
  sentences: countFrom(2),
};

const operatorChecks: OptionChecks<LoopDetectOptions> = {
  ...loopChecks,
  maxRepeatedSteps: countFrom(2),
  chanting: anyOf(off, objectOf(chantingChecks)),
  warnEvery: countFrom(1),
  summary: anyBoolean,
};

export const checkLoopOptions = (options: LoopOptions): void =>
  checkOptions('createLoopDetector()', options, loopChecks);
export const checkOperatorOptions = (options: LoopDetectOptions): void =>
  checkOptions('loopDetect()', options, operatorChecks);
export const checkChantingOptions = (options: ChantingOptions): void =>
  checkOptions('createChantingDetector()', options, chantingChecks);
