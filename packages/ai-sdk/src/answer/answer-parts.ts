import type {
  LanguageModelV4Content,
  LanguageModelV4ToolCall,
  LanguageModelV4ToolResult,
  SharedV4FileData,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { AssistantPart, FileData, JSONObject, JSONValue, ProviderOptions, ToolResultOutput } from '@h/turn';

/**
 * Converts a finished part of an answer to a part of the history; `undefined` if the history has no equivalent.
 *
 * Provider metadata of a part is stored in its `providerOptions` and sent with the next request: signatures of
 * reasoning, ids of items, thought signatures of tool calls.
 */
export const toAssistantPart = (content: LanguageModelV4Content): AssistantPart | undefined => {
  const options = toProviderOptions(content.providerMetadata);
  switch (content.type) {
    case 'text':
      return content.text === '' && !options.providerOptions
        ? undefined
        : { type: 'text', text: content.text, ...options };
    case 'reasoning':
      return { type: 'reasoning', text: content.text, ...options };
    case 'file':
    case 'reasoning-file':
      return { type: content.type, data: toStoredFile(content.data), mediaType: content.mediaType, ...options };
    case 'custom':
      return bookkeeping.has(content.kind) ? undefined : { type: 'custom', kind: content.kind, ...options };
    case 'tool-call':
      return { ...toToolCallPart(content), ...options };
    case 'tool-result':
      return content.preliminary === true ? undefined : { ...toToolResultPart(content), ...options };
    case 'tool-approval-request':
      return { type: 'tool-approval-request', approvalId: content.approvalId, toolCallId: content.toolCallId };
    case 'source':
      return undefined;
  }
};

/** Metadata that providers do not expect in later requests; the response already contains the id and the usage. */
const bookkeeping: ReadonlySet<string> = new Set(['anthropic.message_start']);

/** Converts metadata to plain JSON for the journal. */
const toProviderOptions = (metadata: SharedV4ProviderMetadata | undefined): { providerOptions?: ProviderOptions } =>
  metadata === undefined ? {} : { providerOptions: toJSON(metadata) as ProviderOptions };

/** Converts a value to JSON: drops `undefined` members and converts dates to strings. */
export const toJSON = (value: object): JSONObject => JSON.parse(JSON.stringify(value)) as JSONObject;

/** Converts bytes to base64 and a URL to a string, because histories are stored as JSON. */
const toStoredFile = (data: SharedV4FileData): FileData => {
  switch (data.type) {
    case 'data':
      return {
        type: 'data',
        data: typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64'),
      };
    case 'url':
      return data.originalUrl ?? data.url.href;
    case 'reference':
    case 'text':
      return data;
  }
};

const toToolCallPart = ({
  toolCallId,
  toolName,
  input,
  providerExecuted,
}: LanguageModelV4ToolCall): Part<'tool-call'> => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input: parseInput(input),
  ...(providerExecuted !== undefined && { providerExecuted }),
});

type Part<Type extends AssistantPart['type']> = Extract<AssistantPart, { type: Type }>;

/**
 * Parses the input of a call. An empty string is an empty input; invalid JSON stays a string, which the tool driver
 * rejects.
 */
const parseInput = (text: string): unknown => {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
};

const toToolResultPart = ({
  toolCallId,
  toolName,
  result,
  isError,
}: LanguageModelV4ToolResult): Part<'tool-result'> => ({
  type: 'tool-result',
  toolCallId,
  toolName,
  output: toOutput(result, isError === true),
});

const toOutput = (result: JSONValue, isError: boolean): ToolResultOutput =>
  typeof result === 'string'
    ? { type: isError ? 'error-text' : 'text', value: result }
    : {
        type: isError ? 'error-json' : 'json',
        value: typeof result === 'object' && result !== null ? toJSON(result) : result,
      };
