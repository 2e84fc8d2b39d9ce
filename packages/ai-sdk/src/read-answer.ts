import type { LanguageModelV4StreamPart, LanguageModelV4ResponseMetadata, SharedV4Warning } from '@ai-sdk/provider';
import type { ErrorInfo, ModelDelta, Usage } from '@h/turn';
import { toErrorInfo } from './error-info.js';
import type { ModelResult } from './model-response.js';
import { streamContent } from './stream-content.js';
import { toUsage } from './usage.js';

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** What a model call comes to: an answer, or why it is none. */
export type AnswerEnd = { readonly result: ModelResult } | { readonly error: ErrorInfo; readonly usage?: Usage };

/** Reads the stream of one model call. */
export interface AnswerReader {
  /** Takes the next part; returns the piece of answer that it is, if it is one to show. */
  add(part: LanguageModelV4StreamPart): ModelDelta | undefined;
  /** What the call comes to, once the stream has ended. */
  end(): AnswerEnd;
}

/**
 * Begins to read an answer.
 *
 * Only a stream that says it is complete gives a result. One that ends without a word, or with `interrupted`, was
 * cut (`incomplete-stream`); one that ends with the reason `error` failed (`model-failed`).
 */
export const readAnswer = (): AnswerReader => {
  const stream = streamContent();
  let warnings: SharedV4Warning[] = [];
  let response: LanguageModelV4ResponseMetadata = {};
  let finish: Finish | undefined;

  return {
    add: (part) => {
      switch (part.type) {
        case 'stream-start':
          warnings = part.warnings;
          return undefined;
        case 'response-metadata': {
          const { type: _, ...metadata } = part;
          response = { ...response, ...metadata };
          return undefined;
        }
        case 'finish':
          finish = part;
          return undefined;
        default:
          return stream.add(part);
      }
    },
    end: () => {
      const error = failureOf(finish);
      if (error) return { error, ...(finish && { usage: toUsage(finish.usage) }) };
      const { type: _, ...end } = finish as Finish;
      return { result: { ...end, content: stream.content, warnings, response } };
    },
  };
};

/** Why a stream that ended in this way is no answer. */
export const failureOf = (finish: Pick<Finish, 'finishReason'> | undefined): ErrorInfo | undefined => {
  if (finish === undefined || finish.finishReason.unified === 'interrupted') return incompleteStream;
  if (finish.finishReason.unified !== 'error') return undefined;
  const { raw } = finish.finishReason;
  return {
    name: 'ModelFailedError',
    code: 'model-failed',
    message: `The provider says that the model failed${raw === undefined ? '' : ` (${raw})`}.`,
  };
};

const incompleteStream: ErrorInfo = {
  name: 'IncompleteStreamError',
  code: 'incomplete-stream',
  message: 'The stream of the model ended before the answer was complete.',
};

/** The error of a call that was cancelled by its signal. */
export const abortedCall = (reason: unknown): ErrorInfo => ({
  name: 'AbortError',
  code: 'aborted',
  message: 'The model call was cancelled.',
  ...(reason instanceof Error && reason.name !== 'AbortError' && { cause: toErrorInfo(reason) }),
});
