import { addUsage, noUsage, type FinishReason, type ModelResponse, type Usage } from '@h/turn';
import {
  Message,
  type InvokeModelStage,
  type MaxTokensError,
  type ModelMetadataEvent,
  type MiddlewareHandlerOf,
} from '@strands-agents/sdk';
import { assistantBlocks, assistantParts } from './messages.js';

type Stage = ReturnType<MiddlewareHandlerOf<typeof InvokeModelStage>>;

/** The result of a model call of Strands. */
export type StageResult = (Stage extends AsyncGenerator<unknown, infer Result, undefined> ? Result : never)['result'];

const finishReasons: Readonly<Record<string, FinishReason>> = {
  endTurn: 'stop',
  stopSequence: 'stop',
  toolUse: 'tool-calls',
  maxTokens: 'length',
  modelContextWindowExceeded: 'length',
  contentFiltered: 'content-filter',
  guardrailIntervened: 'content-filter',
  refusal: 'content-filter',
};
const stopReasons: Readonly<Partial<Record<FinishReason, string>>> = {
  stop: 'endTurn',
  'tool-calls': 'toolUse',
  length: 'maxTokens',
  'content-filter': 'contentFiltered',
};

/** What a model of Strands returned: a result, or an answer that was truncated, which Strands throws. */
export type Returned = { readonly result: StageResult } | { readonly truncated: MaxTokensError };

/** Converts what a model of Strands returned to a model response. */
export const toResponse = (returned: Returned): ModelResponse => {
  if ('truncated' in returned) {
    const { content } = returned.truncated.partialMessage;
    return { content: assistantParts(content), finishReason: 'length', usage: noUsage };
  }
  const { message, stopReason, metadata } = returned.result;
  return {
    content: assistantParts(message.content),
    finishReason: finishReasons[stopReason] ?? 'other',
    usage: usageOf(metadata),
  };
};

/** Providers that report cache writes do not count cached tokens as input. */
const usageOf = (metadata: ModelMetadataEvent | undefined): Usage => {
  const { usage } = metadata ?? {};
  if (!usage) return noUsage;
  const { inputTokens, outputTokens, cacheReadInputTokens: cacheRead = 0, cacheWriteInputTokens } = usage;
  const cacheWrite = cacheWriteInputTokens ?? 0;
  const input = cacheWriteInputTokens === undefined ? inputTokens : inputTokens + cacheRead + cacheWrite;
  return addUsage(noUsage, { input, output: outputTokens, cacheRead, cacheWrite, reasoning: 0 });
};

/**
 * Converts a response that operators changed to a result of Strands.
 *
 * @param returned - what the model returned last, whose usage is kept
 */
export const toResult = ({ content, finishReason }: ModelResponse, returned?: StageResult): StageResult => ({
  ...(returned?.metadata && { metadata: returned.metadata }),
  message: new Message({ role: 'assistant', content: assistantBlocks(content) }),
  stopReason: stopReasons[finishReason] ?? 'endTurn',
});
