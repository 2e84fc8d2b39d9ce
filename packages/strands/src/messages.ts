import { plainJSON, type HostFormat } from '@h/bridge';
import {
  textOf,
  type AssistantPart,
  type JSONValue,
  type Message as TurnMessage,
  type SystemBlock,
  type ToolPart,
  type ToolResultOutput,
  type UserPart,
} from '@h/turn';
import {
  CachePointBlock,
  JsonBlock,
  Message,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
  type ContentBlock,
  type MessageData,
  type SystemPrompt,
} from '@strands-agents/sdk';

/** The name of the host in the provider options of parts that have no equivalent. */
const host = 'strands';

/** Converts between the messages of Strands, which has no role for tool results, and those of a turn. */
export const messageFormat: HostFormat<Message> = {
  read: ({ role, content }) => {
    if (role === 'assistant') return { role, content: assistantParts(content) };
    const results = content.filter((block) => block.type === 'toolResultBlock');
    if (results.length === 0) return { role: 'user', content: userParts(content) };
    return { role: 'tool', content: results.map(toToolPart) };
  },
  write: (message) => {
    switch (message.role) {
      case 'assistant':
        return [new Message({ role: 'assistant', content: assistantBlocks(message.content) })];
      case 'tool':
        return [new Message({ role: 'user', content: message.content.flatMap(resultBlock) })];
      case 'user':
        return [new Message({ role: 'user', content: userBlocks(message) })];
      case 'system':
        return [new Message({ role: 'user', content: [new TextBlock(message.content)] })];
    }
  },
};

/**
 * Joins neighbors with the same role, which some providers reject, if an operator wrote one of them.
 *
 * @param isOwn - whether Strands wrote the message
 */
export const alternating = (messages: readonly Message[], isOwn: (message: Message) => boolean): Message[] => {
  const joined: Message[] = [];
  for (const message of messages) {
    const previous = joined.at(-1);
    if (previous?.role !== message.role || (isOwn(previous) && isOwn(message))) joined.push(message);
    else joined[joined.length - 1] = withContent(previous, [...previous.content, ...message.content]);
  }
  return joined;
};

/** Adds a mark of the prompt cache to the end of a message. */
export const withCachePoint = (message: Message, ttl: string | undefined): Message =>
  withContent(message, [...message.content, cachePoint(ttl)]);

const withContent = ({ role }: Message, content: ContentBlock[]): Message => new Message({ role, content });

const cachePoint = (ttl: string | undefined): CachePointBlock =>
  new CachePointBlock({ cacheType: 'default', ...(ttl !== undefined && { ttl }) });

/** Converts the blocks of an answer. Each part stores its original block for the conversion back. */
export const assistantParts = (blocks: readonly ContentBlock[]): readonly AssistantPart[] =>
  blocks.map((block): AssistantPart => {
    switch (block.type) {
      case 'textBlock':
        return { type: 'text', text: block.text };
      case 'reasoningBlock':
        return { type: 'reasoning', text: block.text ?? '', ...original(block) };
      case 'toolUseBlock': {
        const { toolUseId: toolCallId, name: toolName, input, reasoningSignature } = block;
        return {
          type: 'tool-call',
          toolCallId,
          toolName,
          input,
          ...(reasoningSignature !== undefined && { providerOptions: { [host]: { reasoningSignature } } }),
        };
      }
      default:
        return { type: 'custom', kind: `${host}.${block.type}`, ...original(block) };
    }
  });

const original = (
  block: ContentBlock,
): { readonly providerOptions: Record<string, { readonly block: JSONValue }> } => ({
  providerOptions: { [host]: { block: plainJSON(block) } },
});

/** Converts an answer to blocks of Strands. */
export const assistantBlocks = (content: string | readonly AssistantPart[]): ContentBlock[] => {
  if (typeof content === 'string') return [new TextBlock(content)];
  return content.flatMap((part): ContentBlock[] => {
    const own = 'providerOptions' in part ? part.providerOptions?.[host] : undefined;
    if (part.type === 'text') return [new TextBlock(part.text)];
    if (part.type === 'tool-call') {
      const { toolCallId: toolUseId, toolName: name } = part;
      const signature = own?.['reasoningSignature'];
      return [
        new ToolUseBlock({
          toolUseId,
          name,
          input: plainJSON(part.input) as never,
          ...(typeof signature === 'string' && { reasoningSignature: signature }),
        }),
      ];
    }
    return own?.['block'] === undefined ? [] : [...restored(own['block'])];
  });
};

const restored = (block: unknown): readonly ContentBlock[] =>
  Message.fromJSON({ role: 'assistant', content: [block] } as MessageData).content;

/** Operators observe only the type of a block without an equivalent; it reaches the model unchanged. */
const userParts = (blocks: readonly ContentBlock[]): readonly UserPart[] =>
  blocks.flatMap((block): readonly UserPart[] => {
    if (block.type === 'cachePointBlock') return [];
    return [{ type: 'text', text: block.type === 'textBlock' ? block.text : `[${block.type}]` }];
  });

const userBlocks = (message: TurnMessage): ContentBlock[] => {
  if (typeof message.content === 'string') return [new TextBlock(message.content)];
  if (message.content.every(({ type }) => type === 'text')) return [new TextBlock(textOf(message))];
  throw new TypeError('An operator added a file to a message, which the bridge to Strands cannot convert. Send text.');
};

const toToolPart = (block: ToolResultBlock): ToolPart => ({
  type: 'tool-result',
  toolCallId: block.toolUseId,
  toolName: '',
  output: outputOf(block),
});

/** Converts a tool result of Strands to a tool output. */
export const outputOf = ({ status, content }: ToolResultBlock): ToolResultOutput => {
  const texts = content.map((block) => (block.type === 'textBlock' ? block.text : undefined));
  const isText = texts.every((text) => text !== undefined);
  const [first] = content;
  if (status === 'error') {
    const value = isText ? texts.join('\n') : JSON.stringify(content);
    return { type: 'error-text', value };
  }
  if (isText) return { type: 'text', value: texts.join('\n') };
  if (content.length === 1 && first?.type === 'jsonBlock') return { type: 'json', value: plainJSON(first.json) };
  return { type: 'json', value: plainJSON(content) };
};

const resultBlock = (part: ToolPart): ToolResultBlock[] =>
  part.type === 'tool-result' ? [toResultBlock(part.toolCallId, part.output)] : [];

/** Converts a tool output to a tool result of Strands. */
export const toResultBlock = (toolUseId: string, output: ToolResultOutput): ToolResultBlock => {
  const isError = output.type.startsWith('error') || output.type === 'execution-denied';
  return new ToolResultBlock({ toolUseId, status: isError ? 'error' : 'success', content: [resultContent(output)] });
};

const resultContent = (output: ToolResultOutput): TextBlock | JsonBlock => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return new TextBlock(output.value);
    case 'execution-denied':
      return new TextBlock(`Denied: ${output.reason ?? 'a policy does not allow this call.'}`);
    case 'json':
    case 'error-json':
      return new JsonBlock({ json: output.value as never });
    case 'content':
      return new TextBlock(
        output.value.map((part) => (part.type === 'text' ? part.text : JSON.stringify(part))).join('\n'),
      );
  }
};

/** Converts a system prompt to blocks; a cache point marks the block before it. */
export const systemBlocks = (prompt: SystemPrompt | undefined): readonly SystemBlock[] => {
  if (prompt === undefined || prompt === '') return [];
  if (typeof prompt === 'string') return [{ text: prompt }];
  const blocks: SystemBlock[] = [];
  for (const block of prompt) {
    const last = blocks.at(-1);
    if (block.type === 'textBlock') blocks.push({ text: block.text });
    else if (block.type === 'guardContentBlock') blocks.push({ text: block.text?.text ?? '' });
    else if (last) blocks[blocks.length - 1] = { ...last, cache: cacheOf(block) };
  }
  return blocks;
};

const cacheOf = ({ ttl }: CachePointBlock): NonNullable<SystemBlock['cache']> =>
  ttl === undefined ? {} : ({ ttl } as NonNullable<SystemBlock['cache']>);

/** Converts system blocks to a system prompt with cache points. */
export const toSystemPrompt = (blocks: readonly SystemBlock[]): SystemPrompt =>
  blocks.every(({ cache }) => cache === undefined)
    ? blocks.map(({ text }) => text).join('\n\n')
    : blocks.flatMap(({ text, cache }) => [new TextBlock(text), ...(cache ? [cachePoint(cache.ttl)] : [])]);
