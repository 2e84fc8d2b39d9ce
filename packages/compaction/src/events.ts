import type { ErrorInfo, Usage } from '@h/turn';
import type { CompactionFailureReason } from './failure.js';

/**
 * The cause of a compaction: the threshold, an overflow error of the provider, the switch to a model with a smaller
 * window, or an explicit request.
 */
export type CompactionTrigger = 'threshold' | 'overflow' | 'model-switch' | 'manual';

/** The identifiers of a summary. */
export interface IdentifierReport {
  /** The number of different identifiers in the summarized messages. */
  readonly found: number;
  /** The number that the summarizer lost and that were appended. */
  readonly appended: number;
  /** The number without room. */
  readonly dropped: number;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** A compaction begins; the request waits for it. */
    'compaction.started': { readonly trigger: CompactionTrigger; readonly tokens: number; readonly limit: number };
    /** The history was compacted. */
    'compaction.done': {
      readonly trigger: CompactionTrigger;
      /** The strategies that succeeded, in order. */
      readonly strategies: readonly string[];
      /** The tokens of the request, including system prompt and tools. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      readonly durationMs: number;
      readonly identifiers?: IdentifierReport | undefined;
      /** The reported usage of the summarizer. */
      readonly usage?: Usage | undefined;
      /** The reference to the archived history. */
      readonly archive?: string | undefined;
    };
    /** A strategy failed, or all did; its input is unchanged. */
    'compaction.failed': {
      readonly trigger: CompactionTrigger;
      readonly strategy?: string | undefined;
      readonly reason: CompactionFailureReason;
      readonly message: string;
      readonly error?: ErrorInfo | undefined;
      /** The size of the request, in tokens, at which the next attempt is made. */
      readonly retryAtTokens?: number | undefined;
    };
  }
}
