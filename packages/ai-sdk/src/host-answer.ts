import type {
  LanguageModelV4Content,
  LanguageModelV4GenerateResult,
  LanguageModelV4ToolResult,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import {
  InvalidInputError,
  type AssistantPart,
  type ModelResponse,
  type ProviderOptions,
  type ToolResultPart,
  type Usage,
} from '@h/turn';
import { toFileData } from './file-data.js';
import { toModelResponse, type ModelResult } from './model-response.js';

/** An answer that the host's model gave, as it was and as operators saw it. */
export interface HostAnswer {
  readonly result: ModelResult;
  readonly response: ModelResponse;
  /** What each part of the response was made of. */
  readonly origins: ReadonlyMap<AssistantPart, LanguageModelV4Content>;
}

export const hostAnswer = (result: ModelResult): HostAnswer => {
  const origins = new Map<AssistantPart, LanguageModelV4Content>();
  return { result, response: toModelResponse(result, origins), origins };
};

/**
 * The answer that left the operators, as the host takes it. What none of them touched is as the model gave it.
 *
 * @param answer - The last one that the model gave; `undefined` where an operator answered in its place.
 */
export const toHostResult = (
  response: ModelResponse,
  answer: HostAnswer | undefined,
): LanguageModelV4GenerateResult => {
  const { result, response: original } = answer ?? {};
  return {
    ...(result ?? { warnings: [], ...responseMember(response) }),
    content: result && response.content === original?.content ? result.content : toContent(response.content, answer),
    finishReason:
      result && response.finishReason === original?.finishReason
        ? result.finishReason
        : { unified: response.finishReason, raw: result?.finishReason.raw },
    usage: result && response.usage === original?.usage ? result.usage : toHostUsage(response.usage),
  };
};

const responseMember = ({ id, model }: ModelResponse): Pick<LanguageModelV4GenerateResult, 'response'> => ({
  response: { ...(id !== undefined && { id }), ...(model !== undefined && { modelId: model }) },
});

/** Changed content; what operators cannot see (sources, say) stays before it. */
const toContent = (parts: readonly AssistantPart[], answer: HostAnswer | undefined): LanguageModelV4Content[] => {
  const seen = new Set(answer?.origins.values());
  const unseen = answer?.result.content.filter((part) => !seen.has(part)) ?? [];
  return [...unseen, ...parts.map((part) => answer?.origins.get(part) ?? toHostPart(part))];
};

/** A part that an operator made, as a model would have said it. */
const toHostPart = (part: AssistantPart): LanguageModelV4Content => {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...metadataOf(part) };
    case 'custom':
      return { type: 'custom', kind: part.kind, ...metadataOf(part) };
    case 'file':
    case 'reasoning-file':
      return toHostFile(part);
    case 'tool-call': {
      const { toolCallId, toolName, providerExecuted } = part;
      const input = typeof part.input === 'string' ? part.input : JSON.stringify(part.input ?? {});
      return {
        type: 'tool-call',
        toolCallId,
        toolName,
        input,
        ...(providerExecuted !== undefined && { providerExecuted }),
        ...metadataOf(part),
      };
    }
    case 'tool-result':
      return toHostToolResult(part);
    case 'tool-approval-request':
      return { type: 'tool-approval-request', approvalId: part.approvalId, toolCallId: part.toolCallId };
  }
};

const metadataOf = ({
  providerOptions,
}: {
  readonly providerOptions?: ProviderOptions | undefined;
}): { providerMetadata?: ProviderOptions } =>
  providerOptions === undefined ? {} : { providerMetadata: providerOptions };

const toHostFile = (part: Extract<AssistantPart, { type: 'file' | 'reasoning-file' }>): LanguageModelV4Content => {
  const { data, mediaType = part.mediaType } = toFileData(part.data);
  if (data.type === 'data' || data.type === 'url') return { type: part.type, data, mediaType, ...metadataOf(part) };
  throw new InvalidInputError(
    `An operator put a file into an answer whose data has the type ${JSON.stringify(data.type)}; it can be bytes or a URL.`,
  );
};

const toHostToolResult = (part: ToolResultPart): LanguageModelV4Content => {
  const { toolCallId, toolName, output } = part;
  const isError = output.type.startsWith('error');
  const said = output.type === 'execution-denied' ? output.reason : output.value;
  const result = (said ?? '') as LanguageModelV4ToolResult['result'];
  return { type: 'tool-result', toolCallId, toolName, result, ...(isError && { isError }), ...metadataOf(part) };
};

export const toHostUsage = ({ input, cacheRead, cacheWrite, output, reasoning }: Usage): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
  outputTokens: { total: output, text: output - reasoning, reasoning },
});
