import type { ErrorInfo } from '@h/turn';
import { InvalidOptionError } from '@h/options';
import { createRedactor } from '@h/redact';
import { defaultWindow } from './limits.js';
import type { CompactionOptions } from './options.js';
import { clearToolResults } from './strategies/clear-tool-results.js';
import { compactMiddle } from './strategies/compact-middle.js';
import { slidingWindow } from './strategies/sliding-window.js';
import { summarizeHistory, type SummarizeSettings, type SummarizeStrategyContext } from './strategies/summarize.js';
import type { BuiltInStrategy, CompactionStrategy, NamedStrategy } from './strategy.js';
import { withDeadline } from './summary/deadline.js';
import { filesOfCall } from './summary/files.js';

/**
 * The strategies that the options name, in the order in which they are tried. @throws InvalidOptionError
 * `invalid-option`
 */
export const chainOf = (options: CompactionOptions, settings: SummarizeSettings): readonly NamedStrategy[] => {
  const { summarizers, protectedTools } = settings;
  const byDefault: readonly BuiltInStrategy[] = [
    ...(summarizers.length > 0 ? (['summarize'] as const) : []),
    'clear-tool-results',
    'compact',
  ];
  const chosen = asList(options.strategy);
  const names = chosen.length > 0 ? chosen : byDefault;
  if (names.includes('summarize') && summarizers.length === 0) {
    throw new InvalidOptionError({
      owner: 'compaction()',
      option: 'summarize',
      message:
        'compaction() needs the option "summarize" for the strategy "summarize"; summarizeWith() makes one of a model driver.',
    });
  }
  const { keepMessages = 20 } = options;
  const runs: Readonly<Record<BuiltInStrategy, CompactionStrategy>> = {
    'sliding-window': slidingWindow(protectedTools),
    compact: compactMiddle(keepMessages, protectedTools),
    'clear-tool-results': clearToolResults(protectedTools),
    summarize: (context) => summarizeHistory(context as SummarizeStrategyContext, settings),
  };
  return names.map((strategy) =>
    typeof strategy === 'function'
      ? {
          name: strategy.name === '' ? 'custom strategy' : strategy.name,
          isLossy: false,
          run: inTime(strategy, settings.timeoutMs),
        }
      : { name: strategy, isLossy: strategy === 'sliding-window' || strategy === 'compact', run: runs[strategy] },
  );
};

/** A custom strategy, aborted after its time limit. */
const inTime =
  (strategy: CompactionStrategy, timeoutMs: (tokens: number) => number): CompactionStrategy =>
  (context) => {
    const tokens = context.messages.reduce((sum, message) => sum + context.count(message), 0);
    return withDeadline(timeoutMs(tokens), context as SummarizeStrategyContext, async (signal) =>
      strategy({ ...context, signal }),
    );
  };

/** The settings of summarizers. */
export const summarizeSettings = (
  options: CompactionOptions,
  isOverflow: (error: ErrorInfo) => boolean,
): SummarizeSettings => {
  const {
    summarizerWindow = defaultWindow,
    maxSummaryTokens = 8_000,
    maxAttempts = 2,
    maxCorrections = 1,
    limit,
    filesOf = filesOfCall,
  } = options;
  const { redact = createRedactor().redact, protectedTools = ['skill'] } = options;
  return {
    summarizers: asList(options.summarize),
    summarizerWindow,
    maxSummaryTokens,
    maxAttempts,
    maxCorrections,
    timeoutMs: timeoutOf(options),
    limit,
    redact: redact === false ? (text) => text : redact,
    protectedTools,
    filesOf,
    isOverflow,
  };
};

/** The time limits of strategies. */
export const timeoutOf = ({ timeoutMs = defaultTimeout }: CompactionOptions): ((tokens: number) => number) =>
  typeof timeoutMs === 'function' ? timeoutMs : () => timeoutMs;

const defaultTimeout = (tokens: number): number => 120_000 + Math.min(tokens, 200_000);

const asList = <Item>(value: Item | readonly Item[] | undefined): readonly Item[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly Item[]) : [value as Item];
