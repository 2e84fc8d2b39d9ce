import type { ErrorInfo, MaybePromise, Message, ToolCallPart } from '@h/turn';
import type { TokenCounter } from './counting/token-counter.js';
import type { Limit } from './concurrency.js';
import type { LastResort } from './last-resort.js';
import type { CompactionMemory } from './memory.js';
import type { BuiltInStrategy, CompactionStrategy } from './strategy.js';
import type { TouchedFiles } from './summary/files.js';
import type { Summarize } from './summary/summarize.js';

/** A history that is about to be compacted. */
export interface ArchivedHistory {
  readonly turn: string;
  readonly session: string;
  readonly messages: readonly Message[];
}

/** Options of {@link compaction}. */
export interface CompactionOptions {
  /**
   * The context window in tokens, or a function that returns it for a model. A smaller window that the provider names
   * in an overflow error takes precedence.
   *
   * @defaultValue `128_000`, less than current large models have, so that an unknown model is compacted early
   */
  readonly window?: number | ((model: string | undefined) => number | undefined) | undefined;
  /**
   * Tokens of the window that are reserved for the answer; at most half of it.
   *
   * @defaultValue `maxOutputTokens` of the request, else 16,384 as in pi, but at most a quarter of the window
   */
  readonly reserve?: number | undefined;
  /**
   * The share of `window − reserve` above which a request is compacted.
   *
   * @defaultValue `0.7`, early enough that a long result in the next step still fits
   */
  readonly threshold?: number | undefined;
  /**
   * Tokens at the end of the history that stay unchanged; at most three tenths of `window − reserve`.
   *
   * @defaultValue `40_000`, as in opencode
   */
  readonly protectTokens?: number | undefined;
  /**
   * The strategies, in order; the next one is tried if the one before it fails or does not suffice. After another
   * strategy, `sliding-window` and `compact`, which drop messages, are used only if the window is full.
   *
   * @defaultValue `['summarize', 'clear-tool-results', 'compact']`, without `summarize` if there is no summarizer
   */
  readonly strategy?:
    | BuiltInStrategy
    | CompactionStrategy
    | readonly (BuiltInStrategy | CompactionStrategy)[]
    | undefined;
  /**
   * The last strategy, which starts over with a new history when the others no longer help: `handOff()` of
   * `@h/continuity`. It needs `summarize`, and a history that the session owns.
   *
   * @defaultValue none
   */
  readonly lastResort?: LastResort | undefined;
  /** Writes summaries, see `summarizeWith`. Of several, the next one is used if the one before it fails. */
  readonly summarize?: Summarize | readonly Summarize[] | undefined;
  /**
   * The context window of the summarizers, in tokens.
   *
   * @defaultValue `128_000`, like `window`
   */
  readonly summarizerWindow?: number | undefined;
  /**
   * The maximum length of a summary, in tokens.
   *
   * @defaultValue `8_000`, a sixteenth of the default window; other harnesses allow up to 10,000
   */
  readonly maxSummaryTokens?: number | undefined;
  /**
   * Maximum number of attempts at one question before a summarizer counts as failed, the first included.
   *
   * @defaultValue `2`, retries of the model call itself belong to `@h/failover`
   */
  readonly maxAttempts?: number | undefined;
  /**
   * Maximum number of corrections of a summary that lost identifiers. Identifiers that are still missing are appended.
   *
   * @defaultValue `1`, what a second correction would add is appended
   */
  readonly maxCorrections?: number | undefined;
  /**
   * The time limit of a summarizer, in milliseconds, for a history of N tokens. It also applies to custom strategies
   * and to `archive`.
   *
   * @defaultValue 120 s and 1 s for every 1,000 tokens, of which at most 200,000 count
   */
  readonly timeoutMs?: number | ((tokens: number) => number) | undefined;
  /**
   * Schedules the calls of summarizers, for instance through a queue.
   *
   * @defaultValue two at a time
   */
  readonly limit?: Limit | undefined;
  /**
   * Redacts what summarizers read and what is stored; `false` disables redaction.
   *
   * @defaultValue `createRedactor().redact` of `@h/redact`
   */
  readonly redact?: ((text: string) => string) | false | undefined;
  /**
   * Tools whose results are preserved verbatim.
   *
   * @defaultValue `['skill']`, as in opencode: the model must follow the text of a skill to the letter
   */
  readonly protectedTools?: readonly string[] | undefined;
  /**
   * The number of messages at the end that the strategy `compact` keeps.
   *
   * @defaultValue `20`, about ten calls with their results
   */
  readonly keepMessages?: number | undefined;
  /**
   * Returns the files that a tool call reads or modifies; a summary lists them.
   *
   * @defaultValue `filesOfCall`, which knows common names of tools and inputs
   */
  readonly filesOf?: ((call: ToolCallPart) => TouchedFiles) | undefined;
  /**
   * Stores the full history before any of it is removed, and returns a reference (`artifact 7f3a`) that the summary
   * contains. If it fails, nothing is compacted.
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
   * Whether an error of the model reports that the request was too long.
   *
   * @defaultValue `isContextOverflow`
   */
  readonly isOverflow?: ((error: ErrorInfo) => boolean) | undefined;
  /**
   * Counts tokens. A shared counter serves all turns and sessions: it counts each message once and remembers its
   * calibration.
   *
   * @defaultValue a new one for each turn
   */
  readonly counter?: TokenCounter | undefined;
  /**
   * For histories that a host owns, see `compactionMemory`: decisions are stored there and applied to each request, and
   * the host's history stays unchanged.
   */
  readonly memory?: CompactionMemory | undefined;
}
