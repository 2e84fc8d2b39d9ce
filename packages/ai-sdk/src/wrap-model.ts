import type { LanguageModelV4 } from '@ai-sdk/provider';
import { anyBoolean, checkOptions, InvalidOptionError, showValue } from '@h/options';
import type { PipelineOperator } from '@h/turn';
import { generateThrough } from './host-generate.js';
import { streamThrough } from './host-streaming.js';
import { isLanguageModel, type AnyLanguageModel } from './model-version.js';
import { checkOperators } from './supported-operators.js';

/** Options of {@link wrapModel}. */
export interface WrapModelOptions {
  /**
   * Accepts operators that handle events of tools and approvals, which never arrive; a process warning names them.
   *
   * @defaultValue `false`: such an operator is an error
   */
  readonly partial?: boolean | undefined;
}

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
 * - In a stream, operators change text by changing its deltas; tool calls are emitted at the end of the answer, from the
 *   `model.response` that leaves.
 * - The host owns the history: commands about it (`history.replace`, `turn.continue` …) have no effect.
 * - The host runs the tools: an operator that handles `tool.call`, `tool.result` or approvals is rejected.
 *
 * @example
 * ```ts
 * const model = wrapModel(anthropic('claude-sonnet-4-5'), prompt(tiers), compaction({ window: 200_000, summarize }));
 * const { text } = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
 * ```
 *
 * @throws UnsupportedOperatorError if an operator needs events that the host does not have
 * @throws InvalidOptionError if `model` is not a model of the AI SDK
 */
export const wrapModel = (
  model: AnyLanguageModel,
  ...given: readonly [WrapModelOptions, ...PipelineOperator[]] | readonly PipelineOperator[]
): LanguageModelV4 => {
  if (!isLanguageModel(model)) throw notModel(model);
  const [first, ...rest] = given;
  const hasOptions = typeof first === 'object' && first !== null;
  const options: WrapModelOptions = hasOptions ? first : {};
  const operators = (hasOptions ? rest : given) as readonly PipelineOperator[];
  checkOptions('wrapModel()', options, { partial: anyBoolean });
  const index = operators.findIndex((operator) => typeof operator !== 'function');
  if (index !== -1) throw notOperator(operators[index], index);
  checkOperators(operators, options.partial ?? false);
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (call) => generateThrough(model, operators, call),
    doStream: (call) => streamThrough(model, operators, call),
  };
};

const notModel = (value: unknown): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'wrapModel()',
    option: 'model',
    message: `wrapModel(): model must be a model of the AI SDK, but is ${showValue(value)}. Create one with its provider, such as anthropic('claude-sonnet-4-5').`,
  });

const notOperator = (value: unknown, index: number): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'wrapModel()',
    option: 'operators',
    message: `wrapModel(): operator ${index + 1} must be an operator such as prompt(…), but is ${showValue(value)}.`,
  });
