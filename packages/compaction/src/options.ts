import type { ErrorInfo, MaybePromise, Message, ToolCallPart } from '@h/turn';
import {
  anyFunction,
  anyString,
  checkOptions,
  anyOf,
  arrayOf,
  numberFrom,
  objectWithMethods,
  oneOf,
  integerFrom,
} from '@h/options';
import { chainOf, timeoutOf } from './chain.js';
import { createTokenCounter, type TokenCounter } from './counting/token-counter.js';
import { defaultWindow, type WindowSettings } from './limits.js';
import type { Limit } from './limit.js';
import type { CompactionMemory } from './memory.js';
import { isContextOverflow } from '@h/provider-errors';
import type { BuiltInStrategy, CompactionStrategy, NamedStrategy } from './strategy.js';
import type { TouchedFiles } from './summary/files.js';
import type { Summarize } from './summary/summarize.js';

/** A history that is about to be made shorter. */
export interface ArchivedHistory {
  readonly turn: string;
  readonly session: string;
  readonly messages: readonly Message[];
}

/** Options of {@link compaction}. */
export interface CompactionOptions {
  /**
   * The context window in tokens, or a function that knows it for a model. A window that the provider names in an overflow
   * error counts when it is smaller.
   *
   * @defaultValue `128_000`, less than large models have today, so that an unknown one is compacted rather too early
   */
  readonly window?: number | ((model: string | undefined) => number | undefined) | undefined;
  /**
   * How many tokens of the window are kept free for the answer. Never more than half of it.
   *
   * @defaultValue `maxOutputTokens` of the request, else 16,384 but at most a quarter of the window
   */
  readonly reserve?: number | undefined;
  /**
   * The share of `window − reserve` from which on a request is compacted.
   *
   * @defaultValue `0.7`
   */
  readonly threshold?: number | undefined;
  /**
   * How many tokens at the end of the history are left as they are. Never more than three tenths of `window − reserve`.
   *
   * @defaultValue `40_000`
   */
  readonly protectTokens?: number | undefined;
  /**
   * How a history is made shorter; several are tried in turn, the next one when the one before it has failed or was not
   * enough. `sliding-window` and `compact`, which drop messages, are only used in a later place once the window is full.
   *
   * @defaultValue `['summarize', 'clear-tool-results', 'compact']`, without `summarize` when there is no summariser
   */
  readonly strategy?:
    | BuiltInStrategy
    | CompactionStrategy
    | readonly (BuiltInStrategy | CompactionStrategy)[]
    | undefined;
  /** Writes summaries, see `summarizeWith`. Of several, the next one is asked when the one before it has failed. */
  readonly summarize?: Summarize | readonly Summarize[] | undefined;
  /**
   * The context window of the summarisers, in tokens.
   *
   * @defaultValue `128_000`
   */
  readonly summarizerWindow?: number | undefined;
  /**
   * How long a summary may be, in tokens.
   *
   * @defaultValue `8_000`
   */
  readonly maxSummaryTokens?: number | undefined;
  /**
   * How often a summariser is asked the same question before it counts as failed, the first time included.
   *
   * @defaultValue `2`
   */
  readonly maxAttempts?: number | undefined;
  /**
   * How often a summariser may mend a summary that has lost identifiers. What it still lacks is appended.
   *
   * @defaultValue `1`
   */
  readonly maxCorrections?: number | undefined;
  /**
   * How long a summariser may take, in milliseconds, for a history of so many tokens; and so a strategy of your own, and
   * `archive`.
   *
   * @defaultValue 120 s and 1 s for every 1,000 tokens, of which at most 200,000 count
   */
  readonly timeoutMs?: number | ((tokens: number) => number) | undefined;
  /**
   * Runs the calls of summarisers, for instance through a lane that you have.
   *
   * @defaultValue two at a time
   */
  readonly limit?: Limit | undefined;
  /**
   * Takes secrets out of what summarisers read and of what is stored; `false` says that there is nothing to take out.
   *
   * @defaultValue `redactSecrets`
   */
  readonly redact?: ((text: string) => string) | false | undefined;
  /**
   * Tools whose results are kept word by word.
   *
   * @defaultValue `['skill']`
   */
  readonly protectedTools?: readonly string[] | undefined;
  /**
   * How many of the last messages the strategy `compact` keeps.
   *
   * @defaultValue `20`
   */
  readonly keepMessages?: number | undefined;
  /**
   * Tells which files a tool call reads or modifies; a summary lists them.
   *
   * @defaultValue `filesOfCall`, which goes by usual names of tools and inputs
   */
  readonly filesOf?: ((call: ToolCallPart) => TouchedFiles) | undefined;
  /**
   * Keeps the full history before anyValue of it goes, and returns how it can be found (`artifact 7f3a`): the summary says
   * so. When it fails, nothing is compacted.
   *
   * @example
   * ```ts
   * archive: async ({ session, messages }) => {
   *   const { id } = await artifacts.put({ session, content: JSON.stringify(messages) });
   *   return `artifact ${id}`;
   * },
   * ```
   */
  readonly archive?: ((history: ArchivedHistory) => MaybePromise<string>) | undefined;
  /**
   * Whether a model's error says that the request was too long.
   *
   * @defaultValue `isContextOverflow`
   */
  readonly isOverflow?: ((error: ErrorInfo) => boolean) | undefined;
  /**
   * Counts tokens. One that is passed in serves all turns and sessions: nothing is counted again in the next turn, and what
   * is learnt about a model stays known.
   *
   * @defaultValue a new one for each turn
   */
  readonly counter?: TokenCounter | undefined;
  /**
   * For histories that a host owns, see `compactionMemory`: what was decided is remembered there and applied to each
   * request, and the history stays as it is.
   */
  readonly memory?: CompactionMemory | undefined;
}

/** Options with their defaults. */
export interface CompactionSettings extends WindowSettings {
  readonly chain: readonly NamedStrategy[];
  readonly hasWindow: boolean;
  readonly isOverflow: (error: ErrorInfo) => boolean;
  readonly archive: CompactionOptions['archive'];
  readonly timeoutMs: (tokens: number) => number;
  readonly memory: CompactionMemory | undefined;
  readonly newCounter: () => TokenCounter;
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
  } = options;
  return {
    window,
    hasWindow: options.window !== undefined,
    reserve,
    threshold,
    protectTokens,
    chain: chainOf(options, isOverflow),
    timeoutMs: timeoutOf(options),
    isOverflow,
    archive,
    memory,
    newCounter: () => counter ?? createTokenCounter(),
  };
};
