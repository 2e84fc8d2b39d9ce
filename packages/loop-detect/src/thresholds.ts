import type { LoopOptions } from './options.js';

/** When a detector speaks up. `Infinity` is never. Calls are counted with the one that is judged. */
export interface Thresholds {
  /** The result of so many carries a warning. */
  readonly warn?: number | undefined;
  /** The call that would be the last of so many is not run. */
  readonly block?: number | undefined;
  /** After so many the turn ends. */
  readonly break?: number | undefined;
}

/** The thresholds of all detectors; a detector that is `false` is off. */
export interface DetectorThresholds {
  /**
   * Calls with the same input since something was last changed, whatever they return. Only warns.
   * @defaultValue `{ warn: 10 }`, as OpenClaw and seed 002 have it
   */
  readonly repeat?: { readonly warn?: number | undefined } | false | undefined;
  /**
   * Calls with the same input and the same outcome, with nothing new in between.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns at 3 and stops at 5, gemini-cli stops at 5
   */
  readonly 'no-progress'?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * The same for calls that only ask how far something is.
   * @defaultValue `{ warn: 10, block: 20 }`, as OpenClaw and seed 002 have it
   */
  readonly poll?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Rounds of two to five calls with the same outcomes each time. Rounds that contain a poll have the thresholds of polls.
   * @defaultValue `{ warn: 3, block: 5 }`: Hermes warns from 3 rounds on, gemini-cli stops after 5
   */
  readonly cycle?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Failures of one tool that say the same although its input was another each time. Shell tools are only warned about.
   * @defaultValue `{ warn: 4, block: 8 }`: Hermes warns at 3 and stops at 8; agents need three tries to mend an edit
   */
  readonly churn?: Pick<Thresholds, 'warn' | 'block'> | false | undefined;
  /**
   * Calls of tools that do not exist, with none in between that does.
   * @defaultValue `{ warn: 3, block: 5, break: 10 }`, the last of seed 002
   */
  readonly 'unknown-tool'?: Thresholds | false | undefined;
  /**
   * Batches of calls, of whatever kind, that brought nothing new.
   * @defaultValue `{ warn: 20, break: 30 }`, the breaker of OpenClaw
   */
  readonly breaker?: Pick<Thresholds, 'warn' | 'break'> | false | undefined;
}

/** All three, where a detector has no say `Infinity`. */
export interface Limits {
  readonly warn: number;
  readonly block: number;
  readonly break: number;
}

export type ThresholdsOf = (detector: keyof DetectorThresholds, tool: string) => Limits;

export const defaultThresholds = {
  repeat: { warn: 10 },
  'no-progress': { warn: 3, block: 5 },
  poll: { warn: 10, block: 20 },
  cycle: { warn: 3, block: 5 },
  churn: { warn: 4, block: 8 },
  'unknown-tool': { warn: 3, block: 5, break: 10 },
  breaker: { warn: 20, break: 30 },
} as const satisfies DetectorThresholds;

const never: Limits = { warn: Infinity, block: Infinity, break: Infinity };

/** Looks up thresholds: those of the tool, else those of the detector, else the defaults. */
export const thresholdsFrom = ({ detectors = {}, tools = {} }: LoopOptions): ThresholdsOf => {
  const general = tableOf({}, detectors);
  const byTool = new Map(
    Object.entries(tools).map(([tool, own]) => [tool, tableOf(own === false ? {} : (own.detectors ?? {}), detectors)]),
  );
  return (detector, tool) => (byTool.get(tool) ?? general)[detector];
};

type Table = Readonly<Record<keyof DetectorThresholds, Limits>>;

const tableOf = (own: DetectorThresholds, general: DetectorThresholds): Table => {
  const limits = (detector: keyof DetectorThresholds): Limits =>
    resolve(own[detector], general[detector], defaultThresholds[detector]);
  return {
    repeat: limits('repeat'),
    'no-progress': limits('no-progress'),
    poll: limits('poll'),
    cycle: limits('cycle'),
    churn: limits('churn'),
    'unknown-tool': limits('unknown-tool'),
    breaker: limits('breaker'),
  };
};

const resolve = (
  own: Thresholds | false | undefined,
  general: Thresholds | false | undefined,
  otherwise: Thresholds,
): Limits => {
  if (own === false || (own === undefined && general === false)) return never;
  const pick = (level: keyof Limits): number =>
    own?.[level] ?? (general === false ? undefined : general?.[level]) ?? otherwise[level] ?? Infinity;
  return { warn: pick('warn'), block: pick('block'), break: pick('break') };
};
