import {
  MessageList,
  TurnError,
  type ErrorInfo,
  type ModelDriver,
  type ModelDriverOutput,
  type ModelRequest,
  type ModelResponse,
  type ModelSettings,
} from '@h/turn';
import { from } from 'rxjs';
import { anyFunction, anyObject, anyString, checkOptions, required } from '@h/options';
import { errorInfoOf } from './failure.js';
import type { Summarize } from './summary/summarize.js';

/** Options of {@link summarizeWith}. */
export interface SummarizeWithOptions {
  /** The model that writes summaries, under the driver's name; if absent, the driver chooses. */
  readonly model?: string | undefined;
  /** Id of the credential to use. */
  readonly credential?: string | undefined;
  /**
   * Settings of its calls.
   *
   * @defaultValue `maxOutputTokens` is the length that the compaction requests
   */
  readonly settings?: ModelSettings | undefined;
}

/** A failed model call of a summarizer. `info` is the error as data; `code` is that of the error. */
export class SummarizerError extends TurnError {
  readonly info: ErrorInfo;

  constructor(info: ErrorInfo) {
    super(info.code ?? 'summarizer-failed', info.message);
    this.info = info;
  }
}

const modelDriver = { ...anyFunction, expected: 'a model driver, such as languageModel(…) of @h/ai-sdk' };

/**
 * Creates a summarizer from a model driver: one call for each question, without tools and without a history.
 *
 * It does not retry. An answer that was truncated at the output limit is a failure, because its end matters most.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const model = languageModel(anthropic('claude-sonnet-4-5'));
 * const small = languageModel(anthropic('claude-haiku-4-5'));
 * compaction({ summarize: [summarizeWith(small), summarizeWith(model)] });
 * ```
 */
export const summarizeWith = (driver: ModelDriver, options: SummarizeWithOptions = {}): Summarize => {
  checkOptions('summarizeWith()', { driver }, { driver: required(modelDriver) });
  checkOptions('summarizeWith()', options, { model: anyString, credential: anyString, settings: anyObject });
  const { model, credential, settings } = options;
  return async ({ instructions, text, maxOutputTokens }, { turn, session, signal }) => {
    const request: ModelRequest = {
      ...(model !== undefined && { model }),
      ...(credential !== undefined && { credential }),
      system: [{ text: instructions }],
      messages: MessageList.of([{ role: 'user', content: text }]),
      tail: [],
      tools: [],
      settings: { maxOutputTokens, ...settings },
    };
    const { content, finishReason, usage } = await answerOf(
      () => driver(request, { turn, session, step: 0, attempt: 1, signal }),
      signal,
    );
    if (finishReason === 'length') {
      throw new SummarizerError({
        name: 'SummarizerError',
        code: 'summary-cut',
        message: `The summary was truncated at ${settings?.maxOutputTokens ?? maxOutputTokens} tokens (maxOutputTokens).`,
      });
    }
    return { text: content.map((part) => (part.type === 'text' ? part.text : '')).join(''), usage };
  };
};

/** The answer of a model call; unsubscribes when the signal is aborted. */
const answerOf = (call: () => ReturnType<ModelDriver>, signal: AbortSignal): Promise<ModelResponse> =>
  new Promise((resolve, reject) => {
    const fail = (info: ErrorInfo): void => reject(new SummarizerError(info));
    const subscription = from(call()).subscribe({
      next: (output: ModelDriverOutput) => {
        if (output.type === 'response') resolve(output.response);
        if (output.type === 'error') fail(output.error);
      },
      error: (error: unknown) => fail(errorInfoOf(error)),
      complete: () =>
        fail({ name: 'SummarizerError', code: 'incomplete-stream', message: 'The model ended without an answer.' }),
    });
    const leave = (): void => {
      subscription.unsubscribe();
      reject(signal.reason as Error);
    };
    subscription.add(() => signal.removeEventListener('abort', leave));
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
