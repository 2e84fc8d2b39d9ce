import {
  AIMessage,
  BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type ContentBlock,
  type UsageMetadata,
} from '@langchain/core/messages';
import { plainJSON, type HostFormat } from '@h/bridge';
import {
  fileSource,
  InvalidInputError,
  textOf,
  TurnError,
  type AssistantPart,
  type CacheMark,
  type FilePart,
  type JSONValue,
  type Message,
  type SystemBlock,
  type TextPart,
  type ToolPart,
  type ToolResultOutput,
  type UserPart,
} from '@h/turn';

type Block = Readonly<Record<string, unknown>> & { readonly type?: unknown };

/** Converts between the messages of LangChain and those of a turn. */
export const langchainMessages: HostFormat<BaseMessage> = {
  read: (message) => {
    if (!BaseMessage.isInstance(message)) throw unknownMessage(message);
    switch (message.type) {
      case 'ai':
        return { role: 'assistant', content: assistantParts(message as AIMessage) };
      case 'tool':
        return { role: 'tool', content: [toolResult(message as ToolMessage)] };
      case 'system':
        return { role: 'system', content: message.text };
      default:
        return { role: 'user', content: userContent(message) };
    }
  },
  write: (message) => {
    switch (message.role) {
      case 'assistant':
        return [toAIMessage(typeof message.content === 'string' ? [textPart(message.content)] : message.content)];
      case 'tool':
        return message.content.flatMap(toToolMessage);
      case 'system':
        return [new SystemMessage(message.content)];
      case 'user':
        return [new HumanMessage(toUserContent(message))];
    }
  },
};

const unknownMessage = (message: unknown): TurnError =>
  new TurnError(
    'invalid-input',
    `${JSON.stringify(message)?.slice(0, 100)} is not a message of LangChain. Convert messages with coerceMessageLikeToMessage() of @langchain/core first.`,
  );

const textPart = (text: string): TextPart => ({ type: 'text', text });

const blocksOf = ({ content }: BaseMessage): readonly Block[] =>
  typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : content;

const userContent = (message: BaseMessage): string | readonly UserPart[] =>
  typeof message.content === 'string' ? message.content : blocksOf(message).map(userPart);

/**
 * Converts a block. Operators observe only the type of a block without an equivalent; it reaches the model unchanged.
 */
const userPart = (block: Block): UserPart => {
  if (block.type === 'text') return textPart(asText(block['text']));
  return filePart(block) ?? textPart(`[${asText(block.type)}]`);
};

const filePart = ({ type, ...block }: Block): FilePart | undefined => {
  const isMedia = type === 'image' || type === 'file' || type === 'audio' || type === 'video';
  const { image_url: image, url, data } = block;
  const address =
    type === 'image_url' ? (typeof image === 'string' ? image : (image as Block | undefined)?.['url']) : url;
  const mediaType = asText(
    block['mimeType'] ?? block['mime_type'] ?? (type === 'file' ? 'application/octet-stream' : 'image/*'),
  );
  if ((isMedia || type === 'image_url') && typeof address === 'string' && URL.canParse(address)) {
    return { type: 'file', data: new URL(address), mediaType };
  }
  return isMedia && typeof data === 'string' ? { type: 'file', data, mediaType } : undefined;
};

/** Returns the parts of an answer. Each part stores its original block for the conversion back. */
export const assistantParts = (message: AIMessage): readonly AssistantPart[] => [
  ...blocksOf(message).flatMap(assistantPart),
  ...(message.tool_calls ?? []).map(({ id, name, args }): AssistantPart => ({
    type: 'tool-call',
    toolCallId: id ?? '',
    toolName: name,
    input: args,
  })),
  ...(message.invalid_tool_calls ?? []).map(({ id, name, args }): AssistantPart => ({
    type: 'tool-call',
    toolCallId: id ?? '',
    toolName: name ?? '',
    input: args,
  })),
];

const assistantPart = (block: Block): readonly AssistantPart[] => {
  switch (block.type) {
    case 'text':
    case 'text_delta':
      return [{ ...textPart(asText(block['text'])), ...original(block) }];
    case 'thinking':
    case 'reasoning':
      return [{ type: 'reasoning', text: asText(block['thinking'] ?? block['reasoning']), ...original(block) }];
    case 'tool_use':
    case 'tool_call':
    case 'input_json_delta':
      return [];
    default:
      return [{ type: 'custom', kind: `langchain.${asText(block.type)}`, ...original(block) }];
  }
};

const original = (block: Block): Pick<TextPart, 'providerOptions'> =>
  Object.keys(block).length <= 2 && block.type === 'text'
    ? {}
    : { providerOptions: { langchain: { block: plainJSON(block) } } };

/** What an answer has beside its content. */
export interface AnswerDetails {
  readonly id?: string;
  readonly usage_metadata?: UsageMetadata;
  readonly response_metadata?: Readonly<Record<string, unknown>>;
}

/** Converts an answer to a LangChain message. */
export const toAIMessage = (parts: readonly AssistantPart[], details: AnswerDetails = {}): AIMessage => {
  const blocks = parts.flatMap(toBlock);
  const isPlain = blocks.every((block) => block.type === 'text' && Object.keys(block).length === 2);
  return new AIMessage({
    ...(details as object),
    content: isPlain ? blocks.map((block) => block['text']).join('') : (blocks as ContentBlock[]),
    tool_calls: parts.flatMap((part) =>
      part.type === 'tool-call'
        ? [{ type: 'tool_call' as const, id: part.toolCallId, name: part.toolName, args: inputOf(part.input) }]
        : [],
    ),
  });
};

const toBlock = (part: AssistantPart): readonly Block[] => {
  const { block } = ('providerOptions' in part && part.providerOptions?.['langchain']) || {};
  if (part.type === 'text') return [{ ...(block as Block | undefined), type: 'text', text: part.text }];
  if (typeof block === 'object' && block !== null) return [block as unknown as Block];
  return part.type === 'reasoning' ? [{ type: 'reasoning', reasoning: part.text }] : [];
};

const inputOf = (input: unknown): Record<string, unknown> =>
  typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : { input };

const toolResult = (message: ToolMessage): ToolPart => ({
  type: 'tool-result',
  toolCallId: message.tool_call_id,
  toolName: message.name ?? '',
  output: outputOf(message),
});

/** Converts a tool message to a tool output. */
export const outputOf = (message: ToolMessage): ToolResultOutput => {
  if (message.status === 'error') return { type: 'error-text', value: message.text };
  if (typeof message.content === 'string') return { type: 'text', value: message.content };
  const blocks = blocksOf(message);
  if (blocks.every(({ type }) => type === 'text')) return { type: 'text', value: message.text };
  return { type: 'json', value: plainJSON(blocks) };
};

const toToolMessage = (part: ToolPart): readonly ToolMessage[] =>
  part.type === 'tool-result' ? [toolMessage(part.toolCallId, part.toolName, part.output)] : [];

/** Converts a result to a LangChain message. */
export const toolMessage = (id: string, name: string, output: ToolResultOutput): ToolMessage =>
  new ToolMessage({
    tool_call_id: id,
    name,
    status: output.type.startsWith('error') || output.type === 'execution-denied' ? 'error' : 'success',
    content: resultContent(output),
  });

const resultContent = (output: ToolResultOutput): string | ContentBlock[] => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return `Denied: ${output.reason ?? 'a policy does not allow this call.'}`;
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? textPart(part.text) : part)) as ContentBlock[];
    case 'json':
    case 'error-json':
      return isBlocks(output.value) ? output.value : JSON.stringify(output.value);
  }
};

const isBlocks = (value: unknown): value is ContentBlock[] =>
  Array.isArray(value) && value.length > 0 && value.every((item) => typeof (item as Block | null)?.type === 'string');

const toUserContent = (message: Message): string | ContentBlock[] =>
  message.role === 'user' && typeof message.content !== 'string'
    ? message.content.map((part) => (part.type === 'text' ? textPart(part.text) : toFileBlock(part)) as ContentBlock)
    : textOf(message);

const toFileBlock = (part: Exclude<UserPart, TextPart>): Block => {
  const source = fileSource(part.type === 'image' ? part.image : part.data);
  if (!source) {
    throw new InvalidInputError(
      'An operator added a file that is neither bytes, base64 nor a URL, which LangChain messages cannot contain.',
    );
  }
  const mimeType = part.mediaType ?? 'image/*';
  const type = mimeType.startsWith('image/') ? 'image' : 'file';
  return 'url' in source ? { type, url: source.url, mimeType } : { type, data: source.base64, mimeType };
};

const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));

/** Converts the system prompt to a message with the cache breakpoints of its blocks. */
export const toSystemMessage = (system: readonly SystemBlock[]): SystemMessage =>
  system.every(({ cache }) => cache === undefined)
    ? new SystemMessage(system.map(({ text }) => text).join('\n\n'))
    : new SystemMessage({ content: system.map(({ text, cache }) => ({ ...textPart(text), ...cacheControl(cache) })) });

export const cacheControl = (cache: CacheMark | undefined): { readonly cache_control?: JSONValue } =>
  cache === undefined
    ? {}
    : { cache_control: { type: 'ephemeral', ...(cache.ttl !== undefined && { ttl: cache.ttl }) } };
