import type { MaybePromise, Usage } from '@h/turn';

/** A question to a summarizer. */
export interface SummarizeRequest {
  /** The task: the system prompt. */
  readonly instructions: string;
  /** The text to work on, between delimiters: the only message. */
  readonly text: string;
  /** The maximum length of the answer, in tokens. */
  readonly maxOutputTokens: number;
  readonly purpose: 'summarize' | 'merge' | 'correct';
}

/** The turn that a summarizer works for. */
export interface SummarizeContext {
  readonly turn: string;
  readonly session: string;
  /** Aborted when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** The answer of a summarizer, with its usage if known. */
export type SummarizeAnswer = string | { readonly text: string; readonly usage?: Usage | undefined };

/**
 * Writes summaries. `summarizeWith` creates one from a model driver; any function is accepted.
 *
 * It fails by throwing; the question is retried, then passed to the next summarizer. After an error that the option
 * `isOverflow` recognizes, the text is halved.
 */
export type Summarize = (request: SummarizeRequest, context: SummarizeContext) => MaybePromise<SummarizeAnswer>;
