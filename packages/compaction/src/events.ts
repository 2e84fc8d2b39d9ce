import type { ErrorInfo, Usage } from '@h/turn';
import type { CompactionFailureReason } from './failure.js';

/**
 * What set a compaction off: the threshold, a provider's overflow error, the switch to a model with a smaller window, or
 * somebody who asked for it.
 */
export type CompactionTrigger = 'threshold' | 'overflow' | 'model-switch' | 'manual';

/** What became of the identifiers of a summary. */
export interface IdentifierReport {
  /** How many different ones the summarised messages have. */
  readonly found: number;
  /** How many the summariser had lost, so that they were appended. */
  readonly appended: number;
  /** How many had no room. */
  readonly dropped: number;
}

declare module '@h/turn' {
  interface TurnEvents {
    /** A compaction begins; the request waits for it. */
    'compaction.started': { readonly trigger: CompactionTrigger; readonly tokens: number; readonly limit: number };
    /** The history is shorter now. */
    'compaction.done': {
      readonly trigger: CompactionTrigger;
      /** The strategies that have worked, in order. */
      readonly strategies: readonly string[];
      /** What the request takes, system prompt and tools included. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      readonly messagesBefore: number;
      readonly messagesAfter: number;
      readonly durationMs: number;
      readonly identifiers?: IdentifierReport | undefined;
      /** What the summariser has used, as far as it tells. */
      readonly usage?: Usage | undefined;
      /** Where the full history is kept. */
      readonly archive?: string | undefined;
    };
    /** A strategy did not work, or none did; what it was given stayed as it was. */
    'compaction.failed': {
      readonly trigger: CompactionTrigger;
      readonly strategy?: string | undefined;
      readonly reason: CompactionFailureReason;
      readonly message: string;
      readonly error?: ErrorInfo | undefined;
      /** Not tried again before the request has so many tokens. */
      readonly retryAtTokens?: number | undefined;
    };
  }
}
