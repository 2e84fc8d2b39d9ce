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
import { toFileData } from '../prompt/file-data.js';
import { toModelResponse, type ModelResult } from './model-response.js';

/** An answer of the host's model, in its original form and in the form for operators. */
export interface HostAnswer {
  readonly result: ModelResult;
  readonly response: ModelResponse;
  /** Maps each part of the response to its original. */
  readonly origins: ReadonlyMap<AssistantPart, LanguageModelV4Content>;
}

export const hostAnswer = (result: ModelResult): HostAnswer => {
  const origins = new Map<AssistantPart, LanguageModelV4Content>();
  return { result, response: toModelResponse(result, origins), origins };
};

/**
 * Converts the answer that the operators emitted to the host's shape. Unchanged members keep the model's values.
 *
 * @param answer - The model's last answer; `undefined` if an operator answered instead.
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

/** Returns the changed content, after the parts that operators do not receive, such as sources. */
const toContent = (parts: readonly AssistantPart[], answer: HostAnswer | undefined): LanguageModelV4Content[] => {
  const seen = new Set(answer?.origins.values());
  const unseen = answer?.result.content.filter((part) => !seen.has(part)) ?? [];
  return [...unseen, ...parts.map((part) => answer?.origins.get(part) ?? toHostPart(part))];
};

/** Converts a part that an operator created to the model's shape. */
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
  const value = output.type === 'execution-denied' ? output.reason : output.value;
  const result = (value ?? '') as LanguageModelV4ToolResult['result'];
  return { type: 'tool-result', toolCallId, toolName, result, ...(isError && { isError }), ...metadataOf(part) };
};

export const toHostUsage = ({ input, cacheRead, cacheWrite, output, reasoning }: Usage): LanguageModelV4Usage => ({
  inputTokens: { total: input, noCache: input - cacheRead - cacheWrite, cacheRead, cacheWrite },
  outputTokens: { total: output, text: output - reasoning, reasoning },
});
