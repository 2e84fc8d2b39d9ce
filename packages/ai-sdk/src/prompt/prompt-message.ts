import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolApprovalResponsePart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import {
  InvalidInputError,
  type AssistantMessage,
  type AssistantPart,
  type FileData,
  type Message,
  type ToolMessage,
  type ToolResultPart,
  type UserMessage,
  type UserPart,
} from '@h/turn';
import { toFileData } from './file-data.js';
import { optionsMember } from './provider-options.js';
import { toToolOutput } from './tool-output.js';

type Content<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>['content'];
type PromptAssistantPart = Content<'assistant'>[number];

/** The state while a conversation is converted from its beginning. */
export interface ConversionState {
  /** The provider of the model, to which a bare file id belongs. */
  readonly provider: string;
  /** Calls that the provider runs itself: it receives approval answers for these only. */
  readonly providerCalls: Set<string>;
  /** Maps the id of an approval request to its call. */
  readonly approvals: Map<string, string>;
}

/** Converts a message to the provider's shape, without metadata; `undefined` if the result is empty. */
export const toPromptMessage = (message: Message, state: ConversionState): LanguageModelV4Message | undefined => {
  const converted = convert(message, state);
  return converted.content.length === 0 ? undefined : { ...converted, ...optionsMember(message.providerOptions) };
};

const convert = (message: Message, state: ConversionState): LanguageModelV4Message => {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      return { role: 'user', content: userContent(message) };
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message, state) };
    case 'tool':
      return { role: 'tool', content: toolContent(message, state) };
    default:
      throw new InvalidInputError(
        `A message has the role ${JSON.stringify((message as { role: unknown }).role)}. Use system, user, assistant or tool.`,
      );
  }
};

const userContent = ({ content }: UserMessage): Content<'user'> =>
  typeof content === 'string' ? textContent(content) : content.filter(isSaid).map(toUserPart);

const textContent = (text: string): LanguageModelV4TextPart[] => (text === '' ? [] : [{ type: 'text', text }]);

/** Providers reject empty text; an empty part with provider options (an item's id, for example) is kept. */
const isSaid = (part: UserPart | AssistantPart): boolean =>
  part.type !== 'text' || part.text !== '' || part.providerOptions !== undefined;

const toUserPart = (part: UserPart): Content<'user'>[number] => {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text, ...optionsMember(part.providerOptions) };
    case 'image':
      return toFilePart(part.image, part.mediaType ?? 'image/*', part);
    case 'file':
      return toFilePart(part.data, part.mediaType, part);
  }
};

const toFilePart = (
  source: FileData,
  statedType: string,
  part: { readonly filename?: string | undefined; readonly providerOptions?: UserPart['providerOptions'] },
): LanguageModelV4FilePart => {
  const { data, mediaType = statedType } = toFileData(source);
  return {
    type: 'file',
    data,
    mediaType,
    ...(part.filename !== undefined && { filename: part.filename }),
    ...optionsMember(part.providerOptions),
  };
};

const assistantContent = ({ content }: AssistantMessage, state: ConversionState): Content<'assistant'> =>
  typeof content === 'string'
    ? textContent(content)
    : content.flatMap((part) => (isSaid(part) ? (toAssistantPart(part, state) ?? []) : []));

const toAssistantPart = (part: AssistantPart, state: ConversionState): PromptAssistantPart | undefined => {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, text: part.text, ...optionsMember(part.providerOptions) };
    case 'custom':
      return { type: 'custom', kind: part.kind, ...optionsMember(part.providerOptions) };
    case 'file':
      return toFilePart(part.data, part.mediaType, part);
    case 'reasoning-file':
      return reasoningFile(toFilePart(part.data, part.mediaType, part));
    case 'tool-call':
      return toToolCall(part, state);
    case 'tool-result':
      return toToolResult(part, state);
    case 'tool-approval-request':
      state.approvals.set(part.approvalId, part.toolCallId);
      return undefined;
  }
};

const reasoningFile = ({ data, mediaType, providerOptions }: LanguageModelV4FilePart): PromptAssistantPart => {
  if (data.type !== 'data' && data.type !== 'url') {
    throw new InvalidInputError(
      `A reasoning-file part has data of the type ${JSON.stringify(data.type)}; it can be bytes or a URL.`,
    );
  }
  return { type: 'reasoning-file', data, mediaType, ...optionsMember(providerOptions) };
};

const toToolCall = (
  part: Extract<AssistantPart, { type: 'tool-call' }>,
  state: ConversionState,
): PromptAssistantPart => {
  const { toolCallId, toolName, providerExecuted } = part;
  if (providerExecuted === true) state.providerCalls.add(toolCallId);
  const input = providerExecuted === true || isObject(part.input) ? part.input : {};
  return {
    type: 'tool-call',
    toolCallId,
    toolName,
    input,
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...optionsMember(part.providerOptions),
  };
};

/** Providers reject any other input in a history; the result of the call explains what was wrong with it. */
const isObject = (input: unknown): boolean => typeof input === 'object' && input !== null && !Array.isArray(input);

const toToolResult = (part: ToolResultPart, state: ConversionState): LanguageModelV4ToolResultPart => ({
  type: 'tool-result',
  toolCallId: part.toolCallId,
  toolName: part.toolName,
  output: toToolOutput(part.output, state.provider),
  ...optionsMember(part.providerOptions),
});

const toolContent = ({ content }: ToolMessage, state: ConversionState): Content<'tool'> =>
  content.flatMap((part): (LanguageModelV4ToolResultPart | LanguageModelV4ToolApprovalResponsePart)[] => {
    if (part.type === 'tool-result') return [toToolResult(part, state)];
    const call = state.approvals.get(part.approvalId);
    if (call === undefined || !state.providerCalls.has(call)) return [];
    const { type, approvalId, approved, reason } = part;
    return [{ type, approvalId, approved, ...(reason !== undefined && { reason }) }];
  });
