import type { MaybePromise, Usage } from '@h/turn';

/** A question to a summarizer. */
export interface SummarizeRequest {
  /** What it is to do: the system prompt. */
  readonly instructions: string;
  /** What it is to work on, between delimiters: the only message. */
  readonly text: string;
  /** How long its answer may be, in tokens. */
  readonly maxOutputTokens: number;
  readonly purpose: 'summarize' | 'merge' | 'correct';
}

/** What a summarizer may know about the turn it works for. */
export interface SummarizeContext {
  readonly turn: string;
  readonly session: string;
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** An answer of a summarizer, with what it cost if that is known. */
export type SummarizeAnswer = string | { readonly text: string; readonly usage?: Usage | undefined };

/**
 * Writes summaries. `summarizeWith` makes one of a model driver; any function will do.
 *
 * It fails by throwing; it is asked again a few times, and then the next summarizer is. An error that the option
 * `isOverflow` recognizes makes the text be cut in two.
 */
export type Summarize = (request: SummarizeRequest, context: SummarizeContext) => MaybePromise<SummarizeAnswer>;
