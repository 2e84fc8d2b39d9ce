import type { MaybePromise, Message, Usage } from '@h/turn';
import type { CompactionTrigger, IdentifierReport } from './events.js';

/** The built-in strategies. */
export type BuiltInStrategy = 'sliding-window' | 'compact' | 'clear-tool-results' | 'summarize';

/** The context of a strategy. */
export interface CompactionContext {
  /** The history, oldest first. */
  readonly messages: readonly Message[];
  /** `model-switch` means that another model continues from here. */
  readonly trigger: CompactionTrigger;
  /** The maximum size of the resulting history, in tokens. */
  readonly targetTokens: number;
  /** Tokens at the end of the history that stay unchanged. */
  readonly protectTokens: number;
  readonly turn: string;
  readonly session: string;
  /** Counts the tokens of a message. */
  readonly count: (message: Message) => number;
  /** Stores the full history with the option `archive` and returns its reference. May be called several times. */
  readonly archive: () => Promise<string | undefined>;
  /** Aborted when the result is no longer wanted. */
  readonly signal: AbortSignal;
}

/** The result of a strategy. */
export interface CompactedHistory {
  readonly messages: readonly Message[];
  readonly identifiers?: IdentifierReport | undefined;
  readonly usage?: Usage | undefined;
}

/**
 * Compacts a history.
 *
 * Contract:
 * - Never separates a tool call from its result; `groupMessages` returns where a history may be cut.
 * - A result with as many tokens or more is rejected. Return `undefined` if the history needs no change.
 * - It mutates nothing and fails by throwing: then the history stays unchanged and the next strategy is tried.
 */
export type CompactionStrategy = (
  context: CompactionContext,
) => MaybePromise<readonly Message[] | CompactedHistory | undefined>;

/** A strategy with its name in notices. */
export interface NamedStrategy {
  readonly name: string;
  /** Whether it drops messages without a summary. After other strategies it is used only if the window is full. */
  readonly isLossy: boolean;
  readonly run: CompactionStrategy;
}
