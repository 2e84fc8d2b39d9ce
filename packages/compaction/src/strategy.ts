import type { MaybePromise, Message, Usage } from '@h/turn';
import type { CompactionTrigger, IdentifierReport } from './events.js';

/** The strategies that are here. */
export type BuiltInStrategy = 'sliding-window' | 'compact' | 'clear-tool-results' | 'summarize';

/** What a strategy knows. */
export interface CompactionContext {
  /** The history, oldest first. */
  readonly messages: readonly Message[];
  readonly trigger: CompactionTrigger;
  /** Another model goes on from here. */
  readonly handOff: boolean;
  /** How many tokens the history may have afterwards. */
  readonly targetTokens: number;
  /** How many tokens at the end of the history are to be left as they are. */
  readonly protectTokens: number;
  readonly turn: string;
  readonly session: string;
  /** Tokens of a message. */
  readonly count: (message: Message) => number;
  /** Keeps the full history, if the option `archive` says how, and returns where. May be called several times. */
  readonly archive: () => Promise<string | undefined>;
  /** Aborted when the result is no longer wanted. */
  readonly signal: AbortSignal;
}

/** What a strategy has made of a history. */
export interface CompactedHistory {
  readonly messages: readonly Message[];
  readonly identifiers?: IdentifierReport | undefined;
  readonly usage?: Usage | undefined;
}

/**
 * Makes a history shorter.
 *
 * Contract:
 * - Never separates a tool call from its result: `groupMessages` tells where a history may be cut.
 * - What it returns has fewer tokens; a result that has not is refused. `undefined` says that there is nothing to do.
 * - It mutates nothing, and it fails by throwing: then the history stays as it is and the next strategy is tried.
 */
export type CompactionStrategy = (
  context: CompactionContext,
) => MaybePromise<readonly Message[] | CompactedHistory | undefined>;

/** A strategy with its name in notices. */
export interface NamedStrategy {
  readonly name: string;
  /** It drops messages without a summary: when others come before it, it is only used once the window is full. */
  readonly isLastResort: boolean;
  readonly run: CompactionStrategy;
}
