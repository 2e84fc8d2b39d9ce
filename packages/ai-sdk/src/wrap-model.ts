import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { PipelineOperator } from '@h/turn';
import { generateThrough } from './host-generate.js';
import { streamThrough } from './host-streaming.js';
import type { AnyLanguageModel } from './model-version.js';

/**
 * Runs operators around a model in the loop of another library: `generateText`, `streamText`, an agent of the SDK.
 *
 * Each call of the host is one turn for the operators: they see `turn.start`, `session.loaded`, `model.request`, the
 * deltas of a stream, `model.response` or `model.error`, and `turn.end`. Their changes reach the model and the host;
 * everything else is passed on unchanged. State that must outlive a call belongs in an object that you pass to the
 * operators. The host names the session in `providerOptions: { h: { session: 'alice' } }`, which is not sent; without
 * it each call is a separate session.
 *
 * - A stop rejects the call with {@link TurnStoppedError}; in a stream that has begun it is an `error` part.
 * - Retries work until a stream has emitted something; after that the host receives the first error. Set the host's
 *   `maxRetries` to 0, because its retries multiply with those of the operators.
 * - In a stream, operators change text by changing its deltas; tool calls wait for the whole answer and are those of
 *  the  `model.response` that leaves.
 * - The host owns the history and the tools: commands about these (`history.replace`, `turn.continue` …) have no
 *   effect.
 *
 * @example
 * ```ts
 * const model = wrapModel(anthropic('claude-sonnet-4-5'), prompt(tiers), failover(pool));
 * const { text } = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
 * ```
 */
export const wrapModel = (model: AnyLanguageModel, ...operators: readonly PipelineOperator[]): LanguageModelV4 => ({
  specificationVersion: 'v4',
  provider: model.provider,
  modelId: model.modelId,
  supportedUrls: model.supportedUrls,
  doGenerate: (options) => generateThrough(model, operators, options),
  doStream: (options) => streamThrough(model, operators, options),
});
