import type { AIMessage, UsageMetadata } from '@langchain/core/messages';
import { noUsage, type FinishReason, type ModelResponse, type Usage } from '@h/turn';
import { assistantParts, type AnswerDetails } from './messages.js';

/** Converts an answer of a LangChain model to a model response. */
export const toResponse = (message: AIMessage): ModelResponse => {
  const { model_name: model } = message.response_metadata;
  return {
    content: assistantParts(message),
    finishReason: finishReasonOf(message),
    usage: usageOf(message),
    ...(message.id !== undefined && { id: message.id }),
    ...(typeof model === 'string' && { model }),
    ...(message.invalid_tool_calls?.length && { invalidCalls: invalidCallsOf(message) }),
  };
};

const finishReasons: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tool-calls',
  tool_use: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
  safety: 'content-filter',
  refusal: 'content-filter',
};

/** Returns the finish reason, which providers report under several names. */
const finishReasonOf = ({ response_metadata: metadata, tool_calls: calls }: AIMessage): FinishReason => {
  const { incomplete_details: incomplete } = metadata as { incomplete_details?: { readonly reason?: unknown } | null };
  const given = [metadata['finish_reason'], metadata['stop_reason'], metadata['finishReason'], incomplete?.reason].find(
    (reason) => typeof reason === 'string',
  );
  const known = given === undefined ? undefined : finishReasons[given.toLowerCase()];
  if (known !== undefined && known !== 'stop') return known;
  return calls?.length ? 'tool-calls' : (known ?? (given === undefined ? 'stop' : 'other'));
};

const usageOf = (message: AIMessage): Usage => {
  const usage = message.usage_metadata as UsageMetadata | undefined;
  if (!usage) return noUsage;
  // Servers without usage leave the numbers out.
  const { input_tokens: input, output_tokens: output, input_token_details: details } = usage as Partial<UsageMetadata>;
  return {
    input: input ?? 0,
    output: output ?? 0,
    cacheRead: details?.cache_read ?? 0,
    cacheWrite: details?.cache_creation ?? 0,
    reasoning: usage.output_token_details?.reasoning ?? 0,
  };
};

/** What LangChain knows of an answer beside its content, for an answer that operators changed. */
export const detailsOf = ({ id, usage }: ModelResponse): AnswerDetails => {
  const { input, output, cacheRead, cacheWrite, reasoning } = usage;
  return {
    ...(id !== undefined && { id }),
    ...(input + output > 0 && {
      usage_metadata: {
        input_tokens: input,
        output_tokens: output,
        total_tokens: input + output,
        input_token_details: { cache_read: cacheRead, cache_creation: cacheWrite },
        output_token_details: { reasoning },
      },
    }),
  };
};

const invalidCallsOf = ({ invalid_tool_calls: calls = [] }: AIMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(calls.map(({ id, error }) => [id ?? '', error ?? 'The input of the call is not valid JSON.']));
