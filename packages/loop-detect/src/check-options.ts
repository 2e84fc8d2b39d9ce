import {
  anyBoolean,
  anyFunction,
  checkOptions,
  anyOf,
  objectOf,
  oneOf,
  recordOf,
  integerFrom,
  type OptionCheck,
  type OptionChecks,
} from '@h/options';
import type { ChantingOptions } from './chanting.js';
import type { LoopDetectOptions, LoopOptions, ToolLoopOptions } from './options.js';
import { defaultThresholds } from './thresholds.js';

const countFrom = (least: number): OptionCheck => integerFrom(least, Infinity);
const off = oneOf(false);

const levels = (own: object): OptionCheck =>
  anyOf(off, objectOf(Object.fromEntries(Object.keys(own).map((level) => [level, countFrom(1)]))));
const detectors = objectOf(
  Object.fromEntries(Object.entries(defaultThresholds).map(([detector, own]) => [detector, levels(own)])),
);

const tool: OptionChecks<ToolLoopOptions> = {
  detectors,
  poll: anyBoolean,
  effect: oneOf('read-only', 'local-write', 'network', 'destructive'),
  inputOf: anyFunction,
  outcomeOf: anyFunction,
};

const loop: OptionChecks<LoopOptions> = {
  detectors,
  tools: recordOf(anyOf(off, objectOf(tool))),
  doomLoopThreshold: countFrom(2),
  forgiveAfter: countFrom(0),
};

const chanting: OptionChecks<ChantingOptions> = {
  rounds: countFrom(2),
  minChars: countFrom(1),
  sentences: countFrom(2),
};

const operator: OptionChecks<LoopDetectOptions> = {
  ...loop,
  maxRepeatedSteps: countFrom(2),
  chanting: anyOf(off, objectOf(chanting)),
  warnEvery: countFrom(1),
  summary: anyBoolean,
};

/** @throws InvalidOptionError `invalid-option` for what is no option, at any depth, and for values that an option does not take */
export const checkLoopOptions = (owner: string, options: LoopOptions): void =>
  checkOptions(`${owner}()`, options, loop);
export const checkOperatorOptions = (options: LoopDetectOptions): void =>
  checkOptions('loopDetect()', options, operator);
export const checkChantingOptions = (options: ChantingOptions): void =>
  checkOptions('createChantingDetector()', options, chanting);
