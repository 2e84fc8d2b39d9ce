import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { bridge, checkOperators, type HostEvents } from '@h/bridge';
import { anyBoolean, checkOptions, InvalidOptionError, showValue } from '@h/options';
import type { PipelineOperator } from '@h/turn';
import { toErrorInfo } from './error-info.js';
import { fromCallOptions, promptFormat } from './host-request.js';
import { generate, stream, type ModelCall } from './model-call.js';
import { fixedModel, providerOf } from './model-source.js';
import { isLanguageModel, type AnyLanguageModel } from './model-version.js';

const noTools = { support: 'none', as: 'the SDK runs tools outside the model' } as const;

/** The events of a turn around a wrapped model. */
const wrapModelEvents: HostEvents = {
  'tool.call': noTools,
  'tool.result': noTools,
  'tool.progress': noTools,
  'approval.request': noTools,
  'approval.answer': noTools,
};

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
 * - In a stream, operators change text by changing its deltas; the host receives tool calls at the end of the answer,
 *   from the `model.response` that the operators emit.
 * - The host owns the history: commands about it (`history.replace`, `turn.continue` …) have no effect.
 * - The host runs the tools: an operator that handles `tool.call`, `tool.result` or approvals is rejected.
 *
 * @example
 * ```ts
 * const model = wrapModel(anthropic('claude-sonnet-4-5'), prompt(tiers), compaction({ window: 200_000, summarize }));
 * const { text } = await generateText({ model, prompt: 'Hello', maxRetries: 0 });
 * ```
 *
 * @throws UnsupportedOperatorError if an operator needs events that the host does not emit
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
  checkOperators(operators, {
    owner: 'wrapModel()',
    host: 'the AI SDK',
    events: wrapModelEvents,
    alternative: 'Use attach({ model, tools }), which wraps the tools too',
    partial: options.partial,
  });
  const source = fixedModel(model);
  const callOf = (given: LanguageModelV4CallOptions): ModelCall => {
    const format = promptFormat();
    const host = fromCallOptions(given, providerOf(model), format);
    // oxlint-disable-next-line h/no-clock -- the host has no ids of calls; this one must be unique and nothing else depends on it
    const name = host.session ?? crypto.randomUUID();
    const session = bridge(operators, { host: 'the AI SDK', format, describeError: toErrorInfo }).session(name);
    const onAnswer = (): void => session.end('The host runs the calls of this answer.');
    return { session, source, host, options: given, exitBehavior: 'error', onAnswer };
  };
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: (call) => generate(callOf(call)),
    doStream: (call) => stream(callOf(call)),
  };
};

const notModel = (value: unknown): InvalidOptionError =>
  new InvalidOptionError({
    owner: 'wrapModel()',
    option: 'model',
    message: `wrapModel(): model must be a model of the AI SDK, but is ${showValue(value)}. Create one with its provider, such as anthropic('claude-sonnet-4-5').`,
  });
