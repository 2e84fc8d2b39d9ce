import type { HostFormat } from '@h/bridge';
import {
  fileSource,
  TurnError,
  type AssistantPart,
  type JSONObject,
  type ProviderOptions,
  type ToolPart,
  type ToolResultContentPart,
  type ToolResultOutput,
  type UserPart,
} from '@h/turn';
import {
  renderSystemMessageUpdate,
  type AssistantMessage,
  type ImageContent,
  type Message as PiMessage,
  type TextContent,
  type ToolResultMessage,
  type Usage as PiUsage,
} from '@earendil-works/pi-ai';

/** The name of pi in provider options, where members of a message without an equivalent are stored. */
const pi = 'pi';

type AssistantBlock = AssistantMessage['content'][number];
type ResultBlock = TextContent | ImageContent;

/**
 * Converts between the messages of pi and those of a turn.
 *
 * Members without an equivalent, such as signatures and usage, are preserved, so `write` restores what `read` was given.
 * Messages that only an app knows are converted with its `convertToLlm` first.
 */
export const piMessages: HostFormat<PiMessage> = {
  read: (message) => {
    switch (message.role) {
      case 'system':
        return { role: 'system', content: renderSystemMessageUpdate(message), ...rest(message, 'role') };
      case 'user': {
        const { content } = message;
        const parts = typeof content === 'string' ? content : content.map(toUserPart);
        return { role: 'user', content: parts, ...rest(message, 'role', 'content') };
      }
      case 'assistant':
        return { role: 'assistant', content: assistantParts(message), ...rest(message, 'role', 'content') };
      case 'toolResult': {
        const { toolCallId, toolName } = message;
        const part: ToolPart = { type: 'tool-result', toolCallId, toolName, output: outputOf(message) };
        return { role: 'tool', content: [part], ...rest(message, 'role', 'content', 'isError', 'toolName') };
      }
      default:
        throw unknownMessage(message);
    }
  },
  write: (message) => {
    const extra = extraOf(message.providerOptions);
    switch (message.role) {
      case 'system':
        return [toSystemMessage(message.content, extra)];
      case 'user': {
        const content = typeof message.content === 'string' ? message.content : message.content.map(fromUserPart);
        return [{ timestamp: 0, ...extra, role: 'user', content }];
      }
      case 'assistant':
        return [{ ...noAnswer, ...extra, role: 'assistant', content: assistantBlocks(message.content) }];
      case 'tool':
        return message.content.flatMap((part) => (part.type === 'tool-result' ? [toToolResult(part, extra)] : []));
    }
  },
};

const unknownMessage = (message: unknown): TurnError => {
  const { role } = Object(message) as { readonly role?: unknown };
  return new TurnError(
    'invalid-input',
    `A message with the role ${JSON.stringify(role)} is not a message of pi. Convert messages of your app with convertToLlm() first.`,
  );
};

/** Stores all members but those named here. */
const rest = (message: object, ...known: readonly string[]): { readonly providerOptions?: ProviderOptions } => {
  const entries = Object.entries(message).filter(([name, value]) => !known.includes(name) && value !== undefined);
  return entries.length === 0 ? {} : { providerOptions: { [pi]: Object.fromEntries(entries) } };
};

const extraOf = (options: ProviderOptions | undefined): JSONObject => options?.[pi] ?? {};

/** The members of an answer that an operator created. */
export const noUsageOfPi: PiUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const noAnswer = { api: '', provider: '', model: '', usage: noUsageOfPi, stopReason: 'stop' as const, timestamp: 0 };

/** Restores a system message; one whose text an operator changed loses its sections, which the text contains. */
const toSystemMessage = (text: string, extra: JSONObject): PiMessage => {
  const given = { timestamp: 0, content: '', ...extra, role: 'system' } as Extract<PiMessage, { role: 'system' }>;
  if (renderSystemMessageUpdate(given) === text) return given;
  const { sections: _, ...without } = given;
  return { ...without, content: text };
};

const toUserPart = (block: ResultBlock): UserPart =>
  block.type === 'text'
    ? { type: 'text', text: block.text, ...rest(block, 'type', 'text') }
    : {
        type: 'file',
        data: block.data,
        mediaType: block.mimeType,
        ...rest(block, 'type', 'data', 'mimeType'),
      };

const fromUserPart = (part: UserPart): ResultBlock => {
  if (part.type === 'text') return { ...extraOf(part.providerOptions), type: 'text', text: part.text };
  const source = fileSource(part.type === 'image' ? part.image : part.data);
  const mimeType = part.mediaType ?? 'image/*';
  if (!mimeType.startsWith('image/')) {
    throw new TurnError(
      'invalid-input',
      `An operator added a file of the type ${JSON.stringify(mimeType)}, but messages of pi contain text and images only.`,
    );
  }
  if (source && 'base64' in source) {
    return { ...extraOf(part.providerOptions), type: 'image', data: source.base64, mimeType };
  }
  throw new TurnError(
    'invalid-input',
    'An operator added an image whose data is neither bytes nor base64 text, which messages of pi cannot contain.',
  );
};

/** Returns the parts of an answer. */
export const assistantParts = ({ content }: Pick<AssistantMessage, 'content'>): readonly AssistantPart[] =>
  content.map((block): AssistantPart => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text, ...rest(block, 'type', 'text') };
      case 'thinking':
        return { type: 'reasoning', text: block.thinking, ...rest(block, 'type', 'thinking') };
      case 'toolCall':
        return {
          type: 'tool-call',
          toolCallId: block.id,
          toolName: block.name,
          input: block.arguments,
          ...rest(block, 'type', 'id', 'name', 'arguments'),
        };
    }
  });

/** Returns the blocks of an answer. Parts without an equivalent in pi are omitted. */
export const assistantBlocks = (content: string | readonly AssistantPart[]): AssistantBlock[] => {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.flatMap((part): AssistantBlock[] => {
    switch (part.type) {
      case 'text':
        return [{ ...extraOf(part.providerOptions), type: 'text', text: part.text }];
      case 'reasoning':
        return [{ ...extraOf(part.providerOptions), type: 'thinking', thinking: part.text }];
      case 'tool-call': {
        const call = { type: 'toolCall' as const, id: part.toolCallId, name: part.toolName };
        return [{ ...extraOf(part.providerOptions), ...call, arguments: argumentsOf(part.input) }];
      }
      default:
        return [];
    }
  });
};

type Arguments = Extract<AssistantBlock, { type: 'toolCall' }>['arguments'];

const argumentsOf = (input: unknown): Arguments =>
  typeof input === 'object' && input !== null && !Array.isArray(input) ? (input as Arguments) : {};

/** Converts the content of a result to a tool output. */
export const outputOf = ({ content, isError }: Pick<ToolResultMessage, 'content' | 'isError'>): ToolResultOutput => {
  const [first] = content;
  const isPlain = content.length === 1 && first?.type === 'text' && Object.keys(first).length === 2;
  // Outputs that are errors have no parts; the blocks are restored if their text is unchanged.
  const blocks = isPlain ? {} : { providerOptions: { [pi]: { blocks: content as unknown as JSONObject[] } } };
  if (isError) return { type: 'error-text', value: textIn(content), ...blocks };
  if (isPlain) return { type: 'text', value: textOf(first) };
  return {
    type: 'content',
    value: content.map((block): ToolResultContentPart =>
      block.type === 'text'
        ? { type: 'text', text: textOf(block), ...rest(block, 'type', 'text') }
        : {
            type: 'image-data',
            data: block.data,
            mediaType: block.mimeType,
            ...rest(block, 'type', 'data', 'mimeType'),
          },
    ),
  };
};

const textIn = (content: readonly ResultBlock[]): string =>
  content.flatMap((block) => (block.type === 'text' ? [textOf(block)] : [])).join('\n');

/** Returns the text of a block as the model reads it. Tools without types also put numbers and objects there. */
const textOf = ({ text }: { readonly text: unknown }): string => (typeof text === 'string' ? text : String(text));

/** Whether the model reads this output as an error. */
export const isErrorOutput = ({ type }: ToolResultOutput): boolean =>
  type === 'error-text' || type === 'error-json' || type === 'execution-denied';

/** Converts a tool output to the content of a result. */
export const resultContent = (output: ToolResultOutput): ResultBlock[] => {
  switch (output.type) {
    case 'text':
      return [{ type: 'text', text: output.value }];
    case 'error-text': {
      const blocks = extraOf(output.providerOptions)['blocks'] as unknown as ResultBlock[] | undefined;
      return blocks && textIn(blocks) === output.value ? blocks : [{ type: 'text', text: output.value }];
    }
    case 'execution-denied':
      return [{ type: 'text', text: `Denied: ${output.reason ?? 'a policy does not allow this call.'}` }];
    case 'json':
    case 'error-json':
      return [{ type: 'text', text: JSON.stringify(output.value) }];
    case 'content':
      return output.value.map(resultBlock);
  }
};

const resultBlock = (part: ToolResultContentPart): ResultBlock => {
  if (part.type === 'text') return { ...extraOf(part.providerOptions), type: 'text', text: part.text };
  const isImage = 'mediaType' in part && part.mediaType?.startsWith('image/') === true;
  if (isImage && 'data' in part && typeof part.data === 'string') {
    return { ...extraOf(part.providerOptions), type: 'image', data: part.data, mimeType: part.mediaType };
  }
  return { type: 'text', text: `[${part.type}]` };
};

const toToolResult = (part: Extract<ToolPart, { type: 'tool-result' }>, extra: JSONObject): ToolResultMessage => {
  const { toolCallId, toolName, output } = part;
  return {
    timestamp: 0,
    ...(extra['toolCallId'] === toolCallId && extra),
    role: 'toolResult',
    toolCallId,
    toolName,
    content: resultContent(output),
    isError: isErrorOutput(output),
  };
};
