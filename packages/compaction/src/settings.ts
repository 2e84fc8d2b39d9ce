import type { ErrorInfo } from '@h/turn';
import {
  anyFunction,
  anyOf,
  anyString,
  arrayOf,
  checkOptions,
  integerFrom,
  InvalidOptionError,
  numberFrom,
  objectWithMethods,
  oneOf,
} from '@h/options';
import { isContextOverflow } from '@h/provider-errors';
import { chainOf, summarizeSettings, timeoutOf } from './chain.js';
import { createBound, type TokenGauge } from './counting/gauge.js';
import { createTokenCounter, defaultImageTokens, type TokenCounter } from './counting/token-counter.js';
import type { LastResort } from './last-resort.js';
import { defaultWindow, type WindowSettings } from './limits.js';
import type { CompactionMemory } from './memory.js';
import type { CompactionOptions } from './options.js';
import type { SummarizeSettings } from './strategies/summarize.js';
import type { BuiltInStrategy, NamedStrategy } from './strategy.js';

/** Options with their defaults. */
export interface CompactionSettings extends WindowSettings {
  readonly chain: readonly NamedStrategy[];
  readonly summarizing: SummarizeSettings;
  readonly lastResort: LastResort | undefined;
  readonly hasWindow: boolean;
  readonly isOverflow: (error: ErrorInfo) => boolean;
  readonly archive: CompactionOptions['archive'];
  readonly timeoutMs: (tokens: number) => number;
  readonly memory: CompactionMemory | undefined;
  readonly newCounter: () => TokenCounter;
  /**
   * Bounds the counts of a new counter from above, at less cost. `undefined` for a counter that the app has passed:
   * others may read its calibration.
   */
  readonly bound: TokenGauge | undefined;
}

const builtIns = [
  'sliding-window',
  'compact',
  'clear-tool-results',
  'summarize',
] as const satisfies readonly BuiltInStrategy[];
const strategyCheck = anyOf(oneOf(...builtIns), anyFunction);

/** The options, checked and completed. @throws InvalidOptionError `invalid-option` */
export const settingsOf = (options: CompactionOptions): CompactionSettings => {
  checkOptions('compaction()', options, {
    window: anyOf(numberFrom(1, Infinity), anyFunction),
    reserve: numberFrom(0, Infinity),
    threshold: numberFrom(0, 1),
    protectTokens: numberFrom(0, Infinity),
    strategy: anyOf(strategyCheck, arrayOf(strategyCheck)),
    lastResort: objectWithMethods('start'),
    summarize: anyOf(anyFunction, arrayOf(anyFunction)),
    summarizerWindow: numberFrom(1, Infinity),
    maxSummaryTokens: integerFrom(1),
    maxAttempts: integerFrom(1),
    maxCorrections: integerFrom(0),
    timeoutMs: anyOf(numberFrom(0, Infinity), anyFunction),
    limit: anyFunction,
    redact: anyOf(anyFunction, oneOf(false)),
    protectedTools: arrayOf(anyString),
    keepMessages: integerFrom(0),
    filesOf: anyFunction,
    archive: anyFunction,
    isOverflow: anyFunction,
    counter: objectWithMethods('gauge', 'load', 'request'),
    memory: objectWithMethods('get', 'set'),
  });
  const {
    window = defaultWindow,
    reserve,
    threshold = 0.7,
    protectTokens,
    isOverflow = isContextOverflow,
    archive,
    memory,
    counter,
    lastResort,
  } = options;
  const summarizing = summarizeSettings(options, isOverflow);
  if (lastResort !== undefined) checkLastResort(lastResort, options, summarizing);
  return {
    window,
    hasWindow: options.window !== undefined,
    reserve,
    threshold,
    protectTokens,
    chain: chainOf(options, summarizing),
    summarizing,
    lastResort,
    timeoutMs: timeoutOf(options),
    isOverflow,
    archive,
    memory,
    newCounter: () => counter ?? createTokenCounter(),
    bound: counter === undefined ? createBound(defaultImageTokens) : undefined,
  };
};

/** @throws InvalidOptionError if an option that the last strategy needs is missing, or one that it excludes is set */
const checkLastResort = (
  { name }: LastResort,
  { memory }: CompactionOptions,
  { summarizers }: SummarizeSettings,
): void => {
  if (summarizers.length === 0) {
    throw new InvalidOptionError({
      owner: 'compaction()',
      option: 'summarize',
      message: `compaction() needs the option "summarize" for the reports of the last strategy "${name}"; summarizeWith() makes one of a model driver.`,
    });
  }
  if (memory !== undefined) {
    throw new InvalidOptionError({
      owner: 'compaction()',
      option: 'lastResort',
      message: `compaction() cannot use the last strategy "${name}" with the option "memory": the host owns the history. Remove one of the two.`,
    });
  }
};
