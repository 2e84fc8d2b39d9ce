import { createHash } from 'node:crypto';
import type { ErrorInfo, Usage } from '@h/turn';
import { CompactionError, errorInfoOf, toFailure } from '../failure.js';
import { pause, unlessAborted, type WorkContext } from './deadline.js';
import { instructionsFor } from './instructions.js';
import type { Summarize, SummarizeRequest } from './summarize.js';

/** Known answers of summarizers, by a hash of their questions. */
export interface Answers {
  get(question: string): string | undefined;
  set(question: string, answer: string): void;
}

/** The settings of all questions to a summarizer. */
export interface InterviewOptions extends WorkContext {
  readonly summarize: Summarize;
  readonly turn: string;
  readonly session: string;
  /** A paragraph about what the report is for. */
  readonly note?: string | undefined;
  /** Whether an answer may be longer than its source. */
  readonly mayGrow?: boolean | undefined;
  readonly maxOutputTokens: number;
  /** Maximum number of attempts at a question. */
  readonly maxAttempts: number;
  readonly answers: Answers;
  readonly limit: <Result>(task: () => Promise<Result>) => Promise<Result>;
  readonly isOverflow: (error: ErrorInfo) => boolean;
  readonly countText: (text: string) => number;
  /** Redacts answers before they are used. */
  readonly redact: (text: string) => string;
  /** Receives the usage of each answer. */
  readonly onUsage: (usage: Usage) => void;
}

/** Asks a summarizer questions. */
export interface Interview {
  /** @throws CompactionError if there is no usable answer */
  ask(purpose: SummarizeRequest['purpose'], text: string): Promise<string>;
}

const retryDelayMs = 1_000;

/**
 * Asks a summarizer questions; retries after a failure and never repeats an answered question. An answer that is empty,
 * or not shorter than its source, is a failure.
 */
export const createInterview = (options: InterviewOptions): Interview => {
  const askOnce = async (request: SummarizeRequest): Promise<string> => {
    const { summarize, turn, session, signal, limit } = options;
    const given = await limit(async () => {
      signal.throwIfAborted();
      return unlessAborted(signal, Promise.resolve(summarize(request, { turn, session, signal })));
    });
    const { text, usage } = typeof given === 'string' ? { text: given, usage: undefined } : given;
    if (usage) options.onUsage(usage);
    return usable(text, request, options);
  };
  const askAgain = async (request: SummarizeRequest): Promise<string> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await askOnce(request);
      } catch (error) {
        const failure = asFailure(error, options);
        if (attempt >= options.maxAttempts || failure.reason === 'overflow' || options.signal.aborted) throw failure;
        await pause(retryDelayMs * 2 ** (attempt - 1), options);
      }
    }
  };
  return {
    ask: async (purpose, text) => {
      const { note, maxOutputTokens, answers } = options;
      const request = {
        purpose,
        text,
        maxOutputTokens,
        instructions: instructionsFor({ purpose, note, maxTokens: maxOutputTokens }),
      };
      const question = createHash('sha256')
        .update(request.instructions)
        .update('\0')
        .update(text)
        .digest('hex')
        .slice(0, 32);
      const known = answers.get(question);
      if (known !== undefined) return known;
      const answer = await askAgain(request);
      answers.set(question, answer);
      return answer;
    },
  };
};

const usable = (
  answer: unknown,
  { text }: SummarizeRequest,
  { countText, redact, mayGrow }: InterviewOptions,
): string => {
  const trimmed = typeof answer === 'string' ? redact(answer.trim()) : '';
  if (trimmed === '') throw new CompactionError('empty', 'The summarizer returned nothing.');
  if (mayGrow === true || countText(trimmed) < countText(text)) return trimmed;
  throw new CompactionError('inflated', 'The summarizer returned more than it was given.');
};

const asFailure = (thrown: unknown, { isOverflow, signal }: InterviewOptions): CompactionError => {
  if (thrown instanceof CompactionError) return thrown;
  if (signal.aborted) return toFailure(signal.reason, 'cancelled', 'The summary is no longer wanted');
  return isOverflow(errorInfoOf(thrown))
    ? toFailure(thrown, 'overflow', 'The text was too long for the summarizer')
    : toFailure(thrown, 'summarizer-failed', 'The summarizer failed');
};
