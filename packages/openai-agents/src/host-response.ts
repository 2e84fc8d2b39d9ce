import {
  noUsage,
  type AssistantPart,
  type FinishReason,
  type ModelResponse as TurnResponse,
  type Usage as TurnUsage,
} from '@h/turn';
import { Usage, type ModelResponse } from '@openai/agents';
import { answerItems, answerParts, inputOf } from './items.js';

/**
 * Converts an answer of the host's model.
 *
 * @param streamedReason - the finish reason in the events of a stream, whose last event has none
 */
export const toTurnResponse = (
  { output, usage, responseId, providerData }: ModelResponse,
  streamedReason?: string,
): TurnResponse => {
  const content = answerParts(output);
  const invalid = output.flatMap((item) => {
    const error = item.type === 'function_call' ? inputOf(item.arguments).error : undefined;
    return error === undefined || item.type !== 'function_call' ? [] : [[item.callId, error] as const];
  });
  return {
    content,
    finishReason: finishReasonOf(content, providerData, streamedReason),
    usage: toTurnUsage(usage),
    ...(responseId !== undefined && { id: responseId }),
    ...(invalid.length > 0 && { invalidCalls: Object.fromEntries(invalid) }),
  };
};

const finishReasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_output_tokens: 'length',
  content_filter: 'content-filter',
};

/** Reads the finish reason of Chat Completions or Responses, which the SDK has no field for. */
const finishReasonOf = (
  content: readonly AssistantPart[],
  providerData: Record<string, unknown> | undefined,
  streamedReason: string | undefined,
): FinishReason => {
  const { choices, incomplete_details: incomplete } = (providerData ?? {}) as {
    readonly choices?: readonly { readonly finish_reason?: string | null }[];
    readonly incomplete_details?: { readonly reason?: string } | null;
  };
  const known = finishReasons[choices?.[0]?.finish_reason ?? incomplete?.reason ?? streamedReason ?? ''];
  return known ?? (content.some(({ type }) => type === 'tool-call') ? 'tool-calls' : 'stop');
};

/** Returns the finish reason in a raw event of Chat Completions. */
export const streamedReasonOf = (event: unknown): string | undefined => {
  const { choices } = (event ?? {}) as { readonly choices?: readonly { readonly finish_reason?: string | null }[] };
  return choices?.[0]?.finish_reason ?? undefined;
};

const toTurnUsage = (usage: Usage | undefined): TurnUsage => {
  if (!usage) return noUsage;
  const sum = (details: readonly Record<string, number>[] | undefined, name: string): number =>
    (details ?? []).reduce((total, detail) => total + (detail[name] ?? 0), 0);
  return {
    input: usage.inputTokens,
    output: usage.outputTokens,
    cacheRead: sum(usage.inputTokensDetails, 'cached_tokens'),
    cacheWrite: sum(usage.inputTokensDetails, 'cache_write_tokens'),
    reasoning: sum(usage.outputTokensDetails, 'reasoning_tokens'),
  };
};

/** Converts an answer that an operator changed or continued. */
export const toHostResponse = ({ content, usage, id }: TurnResponse): ModelResponse => ({
  output: answerItems(content),
  usage: new Usage({
    requests: 1,
    inputTokens: usage.input,
    outputTokens: usage.output,
    totalTokens: usage.input + usage.output,
    inputTokensDetails: [{ cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite }],
    outputTokensDetails: [{ reasoning_tokens: usage.reasoning }],
  }),
  ...(id !== undefined && { responseId: id }),
});
