import type { ContentPart, Message as AgUiMessage, ToolMessage } from '@ag-ui/client';
import { plainJSON, type HostFormat } from '@h/bridge';
import {
  fileSource,
  type AssistantPart,
  type FilePart,
  type ImagePart,
  type Message,
  type SystemBlock,
  type TextPart,
  type ToolOutcome,
  type ToolPart,
  type ToolResultOutput,
  type UserPart,
} from '@h/turn';

/**
 * Messages of AG-UI that are one message of a turn: an answer of the agent may consist of reasoning, activities, several
 * assistant messages, and results of tools that the agent ran.
 */
export interface MessageGroup {
  readonly messages: readonly AgUiMessage[];
  /** The tool of a result. */
  readonly toolName?: string | undefined;
}

/** Converts between groups of messages and messages of a turn. */
export const groupFormat: HostFormat<MessageGroup> = {
  read: ({ messages, toolName = '' }) => {
    const [first] = messages;
    switch (first?.role) {
      case 'tool':
        if (messages.length === 1) return { role: 'tool', content: [resultPart(first, toolName)] };
        break;
      case 'user':
        return { role: 'user', content: userContent(first.content) };
      case 'system':
      case 'developer':
        return { role: 'system', content: textOfContent(first.content) };
      default:
    }
    return { role: 'assistant', content: messages.flatMap(assistantParts) };
  },
  write: (message) => writeMessage(message),
};

/** The messages of a client without those that begin it as a prompt. */
export const promptOf = (messages: readonly AgUiMessage[]): readonly AgUiMessage[] => {
  const length = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  return messages.slice(0, length === -1 ? messages.length : length);
};

/** The blocks of a prompt. */
export const blocksOf = (prompt: readonly AgUiMessage[]): readonly SystemBlock[] =>
  prompt.map(({ content }) => ({ text: textOfContent(content as string) }));

/** The messages of a prompt that left the operators: those of the client if no operator changed it. */
export const writePrompt = (blocks: readonly SystemBlock[], prompt: readonly AgUiMessage[]): readonly AgUiMessage[] => {
  const given = blocksOf(prompt);
  const isSame = blocks.length === given.length && blocks.every(({ text }, index) => text === given[index]?.text);
  return isSame
    ? prompt
    : blocks.map(({ text }, index) => ({ id: `h-system-${index}`, role: 'system', content: text }));
};

/**
 * Groups the messages of a thread.
 *
 * @param isAgentCall - whether the agent ran the call with this id
 */
export const groupsOf = (
  messages: readonly AgUiMessage[],
  isAgentCall: (id: string) => boolean,
): readonly MessageGroup[] => {
  const groups: { messages: AgUiMessage[]; toolName?: string }[] = [];
  const names = new Map<string, string>();
  let answer: AgUiMessage[] | undefined;
  for (const message of messages) {
    const { role } = message;
    if (role === 'assistant') {
      for (const call of message.toolCalls ?? []) names.set(call.id, call.function.name);
    }
    const isPart =
      role === 'assistant' ||
      role === 'reasoning' ||
      role === 'activity' ||
      (role === 'tool' && isAgentCall(message.toolCallId));
    if (isPart && answer) answer.push(message);
    else if (role === 'tool' && !isPart) {
      groups.push({ messages: [message], toolName: names.get(message.toolCallId) ?? '' });
      answer = undefined;
    } else {
      const group = { messages: [message] };
      groups.push(group);
      answer = isPart ? group.messages : undefined;
    }
  }
  return groups;
};

/** The text of a result, as the agent reads it. */
export const textOfOutput = (output: ToolResultOutput): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'execution-denied':
      return `Denied: ${output.reason ?? 'a policy does not allow this call.'}`;
    default:
      return JSON.stringify(output.value);
  }
};

/** The outcome of a call that a client ran. */
export const outcomeOf = (message: ToolMessage): ToolOutcome => {
  const output = outputOf(message);
  if (message.error === undefined) return { status: 'ok', output };
  return { status: 'failed', error: { name: 'Error', message: message.error }, output };
};

/** The input of a call; text that is not JSON is passed as it is. */
export const inputOf = (text: string): { readonly input: unknown; readonly isValid: boolean } => {
  if (text.trim() === '') return { input: {}, isValid: true };
  try {
    return { input: JSON.parse(text) as unknown, isValid: true };
  } catch {
    return { input: text, isValid: false };
  }
};

const text = (value: string): TextPart => ({ type: 'text', text: value });

/** Returns the text of a content. Clients also send `null` and values that are not text, such as the result of a tool. */
const textOfContent = (content: string | readonly ContentPart[] | null = ''): string => {
  if (typeof content === 'string') return content;
  if (Array.isArray(content)) {
    return (content as readonly ContentPart[]).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  }
  return content === null ? '' : JSON.stringify(plainJSON(content));
};

const outputOf = ({ content, error }: ToolMessage): ToolResultOutput => {
  if (error !== undefined) return { type: 'error-text', value: textOfContent(content) || error };
  return { type: 'text', value: textOfContent(content) };
};

const resultPart = (message: ToolMessage, toolName: string): ToolPart => ({
  type: 'tool-result',
  toolCallId: message.toolCallId,
  toolName,
  output: outputOf(message),
});

const userContent = (content: string | readonly ContentPart[]): string | readonly UserPart[] =>
  Array.isArray(content) ? (content as readonly ContentPart[]).map(userPart) : textOfContent(content);

/** Operators observe only the type of a part without an equivalent. */
const userPart = (part: ContentPart): UserPart => {
  if (part.type === 'text') return text(part.text);
  const { source } = part;
  if (source.type === 'data') return { type: 'file', data: source.value, mediaType: source.mimeType };
  if (source.type === 'url' && URL.canParse(source.value)) {
    return { type: 'file', data: new URL(source.value), mediaType: source.mimeType ?? `${part.type}/*` };
  }
  return text(`[${part.type}]`);
};

const assistantParts = (message: AgUiMessage): readonly AssistantPart[] => {
  if (message.role === 'reasoning') return [{ type: 'reasoning', text: message.content }];
  if (message.role !== 'assistant') return [];
  const content = textOfContent(message.content);
  return [
    ...(content === '' ? [] : [text(content)]),
    ...(message.toolCalls ?? []).map(({ id, function: { name, arguments: input } }): AssistantPart => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      input: inputOf(input).input,
    })),
  ];
};

const writeMessage = (message: Message): readonly MessageGroup[] => {
  // oxlint-disable-next-line h/no-clock -- the id of a message of the client; nothing else depends on it
  const id = crypto.randomUUID();
  switch (message.role) {
    case 'system':
      return [{ messages: [{ id, role: 'system', content: message.content }] }];
    case 'user':
      return [{ messages: [{ id, role: 'user', content: writeContent(message.content) }] }];
    case 'tool':
      return message.content.flatMap((part) =>
        part.type === 'tool-result'
          ? [
              {
                messages: [
                  {
                    id: `result-${part.toolCallId}`,
                    role: 'tool',
                    toolCallId: part.toolCallId,
                    content: textOfOutput(part.output),
                  },
                ],
                toolName: part.toolName,
              } satisfies MessageGroup,
            ]
          : [],
      );
    case 'assistant': {
      const parts: readonly AssistantPart[] =
        typeof message.content === 'string' ? [text(message.content)] : message.content;
      const content = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');
      const toolCalls = parts.flatMap((part) =>
        part.type === 'tool-call' && part.providerExecuted !== true
          ? [toolCallOf(part.toolCallId, part.toolName, part.input)]
          : [],
      );
      return [{ messages: [{ id, role: 'assistant', content, ...(toolCalls.length > 0 && { toolCalls }) }] }];
    }
  }
};

/** A call as it is part of an assistant message. */
export const toolCallOf = (id: string, name: string, input: unknown) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
});

const writeContent = (content: string | readonly UserPart[]): string | ContentPart[] => {
  if (typeof content === 'string') return content;
  return content.map((part): ContentPart => (part.type === 'text' ? part : toMedia(part)));
};

const toMedia = (part: FilePart | ImagePart): ContentPart => {
  const source = fileSource(part.type === 'image' ? part.image : part.data);
  const mediaType = part.mediaType ?? 'image/*';
  const [kind = ''] = mediaType.split('/');
  const type = kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document';
  // The client cannot read the id of a file at a provider.
  if (!source) return { type: 'text', text: `[${mediaType}]` };
  const content =
    'url' in source ? { type: 'url' as const, value: source.url } : { type: 'data' as const, value: source.base64 };
  return { type, source: { ...content, mimeType: mediaType } };
};
