import type { LanguageModelV4StreamPart, LanguageModelV4ResponseMetadata, SharedV4Warning } from '@ai-sdk/provider';
import type { ErrorInfo, ModelDelta, Usage } from '@h/turn';
import { toErrorInfo } from '../error-info.js';
import type { ModelResult } from './model-response.js';
import { streamContent } from './stream-content.js';
import { toUsage } from './usage.js';

type Finish = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

/** The outcome of a model call: an answer or an error. */
export type AnswerEnd = { readonly result: ModelResult } | { readonly error: ErrorInfo; readonly usage?: Usage };

/** Reads the stream of one model call. */
export interface AnswerReader {
  /** Reads the next part; returns its delta, if it has one. */
  add(part: LanguageModelV4StreamPart): ModelDelta | undefined;
  /** Returns the outcome of the call, once the stream has ended. */
  end(): AnswerEnd;
}

/**
 * Creates a reader for one answer.
 *
 * Only a stream that ends with a finish reason is an answer. A stream without one, or with `interrupted`, is incomplete
 * (`incomplete-stream`); the reason `error` means that the call failed (`model-failed`).
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

/** Returns the error of a stream that ended without an answer. */
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

/** Returns the error of a call that its signal cancelled. */
export const abortedCall = (reason: unknown): ErrorInfo => ({
  name: 'AbortError',
  code: 'aborted',
  message: 'The model call was cancelled.',
  ...(reason instanceof Error && reason.name !== 'AbortError' && { cause: toErrorInfo(reason) }),
});
