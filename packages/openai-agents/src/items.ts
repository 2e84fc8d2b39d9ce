import { plainJSON, type HostFormat } from '@h/bridge';
import {
  fileSource,
  InvalidInputError,
  type AssistantPart,
  type FilePart,
  type FileSource,
  type ImagePart,
  type Message,
  type ProviderOptions,
  type ToolPart,
  type ToolResultOutput,
  type UserPart,
} from '@h/turn';
import type { AgentInputItem } from '@openai/agents';

/** A message of the host: a message, a result, or the consecutive items of one answer. */
export type ItemGroup = readonly AgentInputItem[];
/** An item, read by its fields, because the union of the SDK has 19 members. */
type Item = Readonly<Record<string, unknown>>;

/** Key of the fields of an item that a message of a turn has no place for. */
const optionsKey = 'openaiAgents';
const resultTypes = new Set([
  'function_call_result',
  'computer_call_result',
  'shell_call_output',
  'apply_patch_call_output',
]);

/** Groups the items of a request. Results end an answer. */
export const groupItems = (input: string | readonly AgentInputItem[]): readonly ItemGroup[] => {
  if (typeof input === 'string') return [[{ type: 'message', role: 'user', content: input }]];
  const groups: AgentInputItem[][] = [];
  let isAnswer = false;
  for (const item of input) {
    const isPart = roleOf(item) === 'assistant';
    if (isPart && isAnswer) groups.at(-1)?.push(item);
    else groups.push([item]);
    isAnswer = isPart && !resultTypes.has(String(item.type));
  }
  return groups;
};

/** Converts between the items of the SDK and the messages of a turn. */
export const itemFormat: HostFormat<ItemGroup> = {
  read: (group) => {
    const first = group[0] as Item;
    switch (roleOf(first)) {
      case 'user':
        return { role: 'user', content: userContent(first['content']) };
      case 'system':
        return { role: 'system', content: asText(first['content']) };
      case 'tool':
        return { role: 'tool', content: [resultPart(first)] };
      default:
        return { role: 'assistant', content: answerParts(group) };
    }
  },
  write: (message) => writeMessage(message).map((items) => items as unknown as ItemGroup),
};

const roleOf = (item: Item | AgentInputItem): 'user' | 'system' | 'tool' | 'assistant' => {
  const { type, role } = item as Item;
  if (role === 'user' || role === 'system') return role;
  return type === 'function_call_result' ? 'tool' : 'assistant';
};

/** Returns the parts of an answer. */
export const answerParts = (items: readonly AgentInputItem[]): readonly AssistantPart[] =>
  items.flatMap((given): readonly AssistantPart[] => {
    const item = given as Item;
    if (item['role'] === 'assistant') return textParts(item);
    switch (item['type']) {
      case 'function_call':
        return [
          {
            type: 'tool-call',
            toolCallId: String(item['callId']),
            toolName: String(item['name']),
            input: inputOf(String(item['arguments'])).input,
            ...more(item, ['namespace', 'caller']),
          },
        ];
      case 'reasoning':
        return [{ type: 'reasoning', text: asText(item['rawContent'] ?? item['content']), ...whole(item) }];
      default:
        return [{ type: 'custom', kind: `openai.${String(item['type'])}`, ...whole(item) }];
    }
  });

const textParts = (item: Item): readonly AssistantPart[] => {
  const content = item['content'] as readonly Item[] | string;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part, index): AssistantPart => {
    const text = part['text'] ?? part['refusal'] ?? part['transcript'];
    if (typeof text !== 'string') return { type: 'custom', kind: `openai.${String(part['type'])}`, ...whole(item) };
    return { type: 'text', text, ...(index === 0 && more(item, ['phase'])) };
  });
};

/** Parses the arguments of a call. The input of a call with invalid arguments is the text. */
export const inputOf = (text: string): { readonly input: unknown; readonly error?: string } => {
  if (text.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(text) as unknown };
  } catch (error) {
    return { input: text, error: `The arguments are not valid JSON: ${(error as Error).message}` };
  }
};

const more = (item: Item, fields: readonly string[]): { readonly providerOptions?: ProviderOptions } => {
  const own = fields.flatMap((field) => (item[field] === undefined ? [] : [[field, item[field]]]));
  return own.length === 0
    ? {}
    : { providerOptions: { [optionsKey]: plainJSON(Object.fromEntries(own)) as ProviderOptions[string] } };
};

const whole = (item: Item): { readonly providerOptions: ProviderOptions } => ({
  providerOptions: { [optionsKey]: { item: plainJSON(item) } },
});

const asText = (value: unknown): string => {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return value === undefined ? '' : JSON.stringify(value);
  return value.map(({ text = '' }: { readonly text?: string }) => text).join('');
};

const userContent = (content: unknown): string | readonly UserPart[] =>
  typeof content === 'string' ? content : (content as readonly Item[]).map(userPart);

/** Converts a part. Operators observe only the type of a part without an equivalent; it reaches the model unchanged. */
const userPart = (part: Item): UserPart => {
  const { type, text, image, file, audio, filename } = part;
  if (typeof text === 'string') return { type: 'text', text, ...more(part, ['promptCacheBreakpoint']) };
  const source = image ?? (typeof file === 'object' ? (file as Item | null)?.['url'] : file) ?? audio;
  if (typeof source !== 'string') return { type: 'text', text: `[${String(type)}]` };
  const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(source) ?? [];
  return {
    type: 'file',
    mediaType: mediaType ?? (type === 'input_image' ? 'image/*' : 'application/octet-stream'),
    data: data ?? (URL.canParse(source) ? new URL(source) : source),
    ...(typeof filename === 'string' && { filename }),
  };
};

const resultPart = (item: Item): ToolPart => ({
  type: 'tool-result',
  toolCallId: String(item['callId']),
  toolName: String(item['name']),
  output: outputOf(item['output']),
  ...more(item, ['namespace', 'caller']),
});

/** Converts the output of a result, or the value that a tool returned, to what operators and the model read. */
export const outputOf = (output: unknown): ToolResultOutput => {
  if (typeof output === 'string') return { type: 'text', value: output };
  if (isText(output)) return { type: 'text', value: output.text };
  if (Array.isArray(output) && output.length > 0 && output.every(isText)) {
    return { type: 'text', value: output.map(({ text }) => text).join('') };
  }
  return output === undefined ? { type: 'text', value: 'undefined' } : { type: 'json', value: plainJSON(output) };
};

const isText = (value: unknown): value is { readonly text: string } => {
  const { type, text } = (typeof value === 'object' && value !== null ? value : {}) as Item;
  return (type === 'text' || type === 'input_text') && typeof text === 'string';
};

/** Converts what the model reads of a call to a value that a tool may return. */
export const valueOf = (output: ToolResultOutput): unknown => {
  switch (output.type) {
    case 'text':
    case 'error-text':
    case 'json':
      return output.value;
    case 'error-json':
      return JSON.stringify(output.value);
    case 'execution-denied':
      return `Denied: ${output.reason ?? 'a policy does not allow this call.'}`;
    case 'content':
      return output.value.map((part) =>
        part.type === 'text' ? { type: 'text', text: part.text } : { type: 'text', text: JSON.stringify(part) },
      );
  }
};

const writeMessage = (message: Message): readonly (readonly Item[])[] => {
  switch (message.role) {
    case 'system':
      return [[{ type: 'message', role: 'system', content: message.content }]];
    case 'user':
      return [[{ type: 'message', role: 'user', content: userItems(message.content) }]];
    case 'assistant': {
      const { content } = message;
      return [answerItems(typeof content === 'string' ? [{ type: 'text', text: content }] : content)];
    }
    case 'tool':
      return message.content.flatMap((part) => (part.type === 'tool-result' ? [[resultItem(part)]] : []));
  }
};

const userItems = (content: string | readonly UserPart[]): unknown =>
  typeof content === 'string'
    ? content
    : content.map((part): Item => {
        if (part.type === 'text') return { type: 'input_text', text: part.text, ...optionsOf(part) };
        const mediaType = part.mediaType ?? 'image/*';
        const source = sourceOf(part);
        const url = 'url' in source ? source.url : `data:${mediaType};base64,${source.base64}`;
        return mediaType.startsWith('image/')
          ? { type: 'input_image', image: url }
          : {
              type: 'input_file',
              file: 'url' in source ? { url } : url,
              ...('filename' in part && part.filename !== undefined && { filename: part.filename }),
            };
      });

const sourceOf = (part: FilePart | ImagePart): FileSource => {
  const source = fileSource(part.type === 'image' ? part.image : part.data);
  if (source) return source;
  throw new InvalidInputError(
    'An operator added a file that is neither bytes, base64 nor a URL, which items of the OpenAI Agents SDK cannot contain.',
  );
};

const optionsOf = (part: { readonly providerOptions?: ProviderOptions | undefined }): Item =>
  part.providerOptions?.[optionsKey] ?? {};

/** Converts the parts of an answer to items. */
export const answerItems = (parts: readonly AssistantPart[]): AgentInputItem[] =>
  parts.flatMap((part): readonly Item[] => {
    const options = 'providerOptions' in part ? optionsOf(part) : {};
    if (part.type === 'text') {
      const content = [{ type: 'output_text', text: part.text }];
      return [{ ...options, type: 'message', role: 'assistant', status: 'completed', content }];
    }
    if (part.type === 'tool-call') {
      const { toolCallId: callId, toolName: name, input } = part;
      const text = typeof input === 'string' ? input : JSON.stringify(input);
      return [{ status: 'completed', ...options, type: 'function_call', callId, name, arguments: text }];
    }
    const { item } = options;
    return typeof item === 'object' && item !== null ? [item as Item] : [];
  }) as unknown as AgentInputItem[];

const resultItem = (part: ToolPart & { readonly type: 'tool-result' }): Item => {
  const value = valueOf(part.output);
  const isContent = Array.isArray(value) && value.length > 0 && value.every(isText);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return {
    ...optionsOf(part),
    type: 'function_call_result',
    name: part.toolName,
    callId: part.toolCallId,
    status: 'completed',
    output: isContent
      ? value.map((block: { text: string }) => ({ type: 'input_text', text: block.text }))
      : { type: 'text', text },
  };
};
