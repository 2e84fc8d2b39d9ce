import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { PipelineOperator } from '@h/turn';
import { generateThrough } from './host-generate.js';
import { streamThrough } from './host-streaming.js';
import type { AnyLanguageModel } from './model-version.js';

/**
 * Runs operators around a model inside somebody else's loop: `generateText`, `streamText`, an agent of the SDK.
 *
 * Each call of the host is one turn for the operators: they see `turn.start`, `session.loaded`, `model.request`, the
 * deltas of a stream, `model.response` or `model.error`, and `turn.end`. What they change reaches the model or the host;
 * what they leave alone is exactly as the host or the model gave it. State that is to outlive a call is an object that
 * you make and pass to the operators. The host names the session in `providerOptions: { h: { session: 'alice' } }`,
 * which is not sent; without it each call is a session of its own.
 *
 * - A stop rejects the call with {@link TurnStoppedError}; in a stream that has begun it is an `error` part.
 * - Asking again works until a stream has shown something; after that the host gets the error that was to be repaired.
 *   Set the host's `maxRetries` to 0, or its retries multiply with those of the operators.
 * - In a stream, text is changed by changing its deltas; tool calls wait for the whole answer, and are those that
 *   `model.response` has when it leaves.
 * - The host owns the history and the tools: commands about these (`history.replace`, `turn.continue` …) are left undone.
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
