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

/** When a detector reacts. `Infinity` is never. The call that is judged is included in the count. */
export interface Thresholds {
  /** The result of the Nth call carries a warning. */
  readonly warn?: number | undefined;
  /** The Nth call is not run. */
  readonly block?: number | undefined;
  /** The turn ends after the Nth call. */
  readonly break?: number | undefined;
}

/** Thresholds by detector; `false` turns a detector off. */
export interface DetectorThresholds {
  /**
   * Calls with the same input since something was last changed, whatever they return. Only warns.
   * @defaultValue `{ warn: 10 }`, as in OpenClaw
   */
  readonly repeat?: { readonly warn?: number | undefined } | false | undefined;
  /**
   * Calls with the same input and the same outcome, with nothing new in between.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns at 3 and stops at 5, gemini-cli stops at 5
   */
  readonly 'no-progress'?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * The same for calls that ask for a state or for the next page.
   * @defaultValue `{ warn: 10, block: 20 }`, as in OpenClaw
   */
  readonly poll?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Rounds of two to five calls with the same outcomes each time. A round that contains a poll has the thresholds of `poll`.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns from 3 rounds on, gemini-cli stops after 5
   */
  readonly cycle?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Failures of one tool that say the same although the input differs. Failures in other words need 2 more to warn and 4 more to
   * block; so do those of shells to block, and shells are never blocked for failures in other words.
   * @defaultValue `{ warn: 4, block: 8 }`: Hermes warns at 3 and stops at 8; agents need three attempts to get an edit right
   */
  readonly churn?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
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
   * Whether its calls only ask for a state.
   *
   * @defaultValue inferred from the name, the action and the command
   */
  readonly poll?: boolean | undefined;
  /** Its effect, in place of the one that it declares. */
  readonly effect?: ToolEffect | undefined;
  /**
   * Picks from an input what makes two calls the same. If it throws, the whole input counts.
   *
   * @defaultValue the input without the reason for the call (`explanation`, `justification`, `reasoning`, `thought`, `toolSummary`; of
   * shells also `description`, `reason` and comments) and without request ids, nonces and timestamps
   */
  readonly inputOf?: ((input: unknown) => unknown) | undefined;
  /** Picks from an output what tells whether something has changed. If it throws, the whole output counts. */
  readonly outcomeOf?: ((output: unknown) => unknown) | undefined;
}

/** Options of {@link createLoopDetector}. */
export interface LoopOptions {
  /** Thresholds by detector; `false` turns one off. */
  readonly detectors?: DetectorThresholds | undefined;
  /** Options by tool name; `false` for tools that may be called any number of times. */
  readonly tools?: Readonly<Record<string, ToolLoopOptions | false>> | undefined;
  /**
   * Blocks the Nth call in a row with the same name and input, whatever the calls return.
   *
   * @defaultValue off, since it also stops calls that make progress
   */
  readonly doomLoopThreshold?: number | undefined;
  /**
   * How many new outcomes after a block make the detector forget it. Another loop before that ends the turn; the same loop always does.
   *
   * @defaultValue `5`
   */
  readonly forgiveAfter?: number | undefined;
}

/** Options of `createChantingDetector`. */
export interface ChantingOptions {
  /**
   * How many times in a row a passage must come, with nothing in between. Short passages must fill `minChars`.
   *
   * @defaultValue `5`
   */
  readonly rounds?: number | undefined;
  /**
   * Length of all repetitions together, in characters.
   *
   * @defaultValue `400`
   */
  readonly minChars?: number | undefined;
  /**
   * How many times one sentence may come among the last 50, with others in between.
   *
   * @defaultValue `10`, as for chunks in gemini-cli
   */
  readonly sentences?: number | undefined;
}

/** Options of {@link loopDetect}. */
export interface LoopDetectOptions extends LoopOptions {
  /**
   * Ends the turn at the Nth step in a row that requests the same calls, in any order. That step does not run; the one before it
   * carries a warning.
   *
   * @defaultValue off, since it also stops steps that make progress
   */
  readonly maxRepeatedSteps?: number | undefined;
  /** When an answer counts as repeating itself; `false` turns the check off. */
  readonly chanting?: ChantingOptions | false | undefined;
  /**
   * How many results pass before the same warning is repeated.
   *
   * @defaultValue `5`
   */
  readonly warnEvery?: number | undefined;
  /**
   * Whether the model sums up a turn that ends, in one step without tools.
   *
   * @defaultValue `true`
   */
  readonly summary?: boolean | undefined;
}

const defaultThresholds = {
  repeat: { warn: 10 },
  'no-progress': { warn: 3, block: 5 },
  poll: { warn: 10, block: 20 },
  cycle: { warn: 3, block: 5 },
  churn: { warn: 4, block: 8 },
  'unknown-tool': { warn: 3, block: 5, break: 10 },
  breaker: { warn: 20, break: 30 },
} as const satisfies DetectorThresholds;

/** All three thresholds; `Infinity` for a level that the detector does not have. */
export type Limits = Readonly<Required<Record<keyof Thresholds, number>>>;
export type LimitsOf = (detector: keyof DetectorThresholds, tool: string) => Limits;

/** Looks up thresholds: those of the tool, then those of the detector, then the defaults. */
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
