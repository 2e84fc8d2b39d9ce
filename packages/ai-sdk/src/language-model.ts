import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ModelDriver, ModelDriverOutput, ModelRequest } from '@h/turn';
import { Observable, type Subscriber } from 'rxjs';
import { toCallOptions } from './prompt/call-options.js';
import { toErrorInfo } from './error-info.js';
import { toModelResponse } from './answer/model-response.js';
import { modelSource, providerOf, type LanguageModelOptions, type ModelSource } from './model-source.js';
import type { AnyLanguageModel } from './model-version.js';
import { abortedCall, readAnswer, type AnswerEnd } from './answer/read-answer.js';

/**
 * Creates a model driver from any model of the AI SDK.
 *
 * Pass a model, or `{ resolve }` to select one for each request by its name and credential. Models of version 4 of
 * the SDK's specification are called directly; versions 3 and 2 need the package `ai`, whose adapters are used.
 *
 * - The SDK's retries are not used: each call is one request, and operators decide about retries.
 * - Unsubscribing, or aborting the signal of the context, ends the HTTP request.
 * - Every failure is an `error` output with plain data: status, headers, body and causes, and never a key. Codes of
 *   this package: `aborted`, `incomplete-stream` (interrupted), `model-failed` (finish reason `error`),
 *   `unknown-model`, `unknown-credential`, `unsupported-model`, `missing-package` and `invalid-input` (a message that
 *   cannot be sent). Other codes are those of the provider or the network.
 *
 * @throws InvalidOptionError `invalid-option` if `source` is neither a model nor such an object.
 *
 * @example
 * ```ts
 * const agent = harness({ model: languageModel(anthropic('claude-sonnet-4-5')) });
 *
 * const choosing = harness({
 *   model: languageModel({ resolve: (name = 'claude-sonnet-4-5', credential = 'main') => clients[credential](name) }),
 * });
 * ```
 */
export const languageModel = (source: AnyLanguageModel | LanguageModelOptions): ModelDriver => {
  const modelFor = modelSource(source);
  return (request, { signal }) =>
    new Observable<ModelDriverOutput>((subscriber) => {
      const call = new AbortController();
      const cancel = (): void => {
        conclude(subscriber, { type: 'error', error: abortedCall(signal.reason) });
      };
      subscriber.add(() => {
        signal.removeEventListener('abort', cancel);
        call.abort();
      });
      if (signal.aborted) return cancel();
      signal.addEventListener('abort', cancel, { once: true });
      void stream(modelFor, request, call.signal, subscriber);
    });
};

const stream = async (
  modelFor: ModelSource,
  request: ModelRequest,
  abortSignal: AbortSignal,
  subscriber: Subscriber<ModelDriverOutput>,
): Promise<void> => {
  try {
    const model = await modelFor(request);
    if (subscriber.closed) return;
    const parts = await model.doStream({ ...toCallOptions(request, providerOf(model)), abortSignal });
    conclude(subscriber, await forward(parts.stream, subscriber));
  } catch (error) {
    conclude(subscriber, { type: 'error', error: toErrorInfo(error) });
  }
};

/** Emits each delta and returns the outcome of the call. Cancels a stream that is no longer needed. */
const forward = async (
  parts: ReadableStream<LanguageModelV4StreamPart>,
  subscriber: Subscriber<ModelDriverOutput>,
): Promise<ModelDriverOutput> => {
  const reader = parts.getReader();
  const answer = readAnswer();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  subscriber.add(cancel);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return toOutput(answer.end());
    if (value.type === 'error') return { type: 'error', error: toErrorInfo(value.error) };
    const delta = answer.add(value);
    if (delta) subscriber.next({ type: 'delta', delta });
  }
};

const toOutput = (end: AnswerEnd): ModelDriverOutput =>
  'error' in end ? { type: 'error', ...end } : { type: 'response', response: toModelResponse(end.result) };

const conclude = (subscriber: Subscriber<ModelDriverOutput>, output: ModelDriverOutput): void => {
  subscriber.next(output);
  subscriber.complete();
};
