import type { AssistantPart, Message, ToolPart, ToolResultContentPart, ToolResultOutput, UserPart } from '@h/turn';
import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../json-value.js';
import {
  checkMembers,
  fileOf,
  NotConvertible,
  opaqueFile,
  opaquePart,
  writeEntries,
  type PortableEntries,
  type PortableRequest,
  type PortableTool,
} from './portable-request.js';

/** `max_tokens` is required; all current models of Anthropic accept this value. */
const defaultMaxTokens = 8_192;

const converted = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'stop_sequences',
  'stream',
  'output_config',
];
/** Members that concern one provider or one model. */
const leftOut = [
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'thinking',
  'cache_control',
  'speed',
  'context_management',
  'inference_geo',
];
const members: ReadonlySet<string> = new Set([...converted, ...leftOut]);

/** Reads entries of `messages`. Content of unknown kinds becomes opaque parts. */
export const readAnthropicEntries = (entries: readonly unknown[]): PortableEntries => {
  const names = new Map<string, string>();
  const system: string[] = [];
  const messages = entries.flatMap((value): readonly Message[] => {
    const { role, content } = objectOf(value);
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : arrayOf(content).map(objectOf);
    if (role === 'assistant') {
      const parts = blocks.map(answerPart);
      for (const part of parts) if (part.type === 'tool-call') names.set(part.toolCallId, part.toolName);
      return [{ role, content: parts }];
    }
    if (role === 'system') {
      system.push(...blocks.map(({ text }) => stringOf(text) ?? ''));
      return [];
    }
    const results = blocks.filter(({ type }) => type === 'tool_result').map((block) => toolResult(block, names));
    const rest = blocks.filter(({ type }) => type !== 'tool_result').map(userPart);
    return [
      ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
      ...(rest.length > 0 || results.length === 0 ? [{ role: 'user' as const, content: rest }] : []),
    ];
  });
  return { system, messages };
};

const answerPart = (block: JsonObject): AssistantPart => {
  const { type, text, thinking, id, name, input } = block;
  if (type === 'text') return { type, text: stringOf(text) ?? '' };
  if (type === 'thinking') return { type: 'reasoning', text: stringOf(thinking) ?? '' };
  if (type === 'redacted_thinking') return { type: 'reasoning', text: '' };
  if (type !== 'tool_use') return opaquePart(block);
  return { type: 'tool-call', toolCallId: stringOf(id) ?? '', toolName: stringOf(name) ?? '', input };
};

const userPart = (block: JsonObject): UserPart => {
  const { type, text, source, title } = block;
  if (type === 'text') return { type, text: stringOf(text) ?? '' };
  const { type: kind, media_type: given, data, url } = objectOf(source);
  const mediaType = stringOf(given) ?? (type === 'image' ? 'image/*' : 'application/pdf');
  if ((type !== 'image' && type !== 'document') || block['citations'] !== undefined) return opaqueFile(block);
  const filename = stringOf(title);
  if (kind === 'base64') {
    return { type: 'file', data: stringOf(data) ?? '', mediaType, ...(filename !== undefined && { filename }) };
  }
  if (kind === 'text') return { type: 'text', text: stringOf(data) ?? '' };
  return (kind === 'url' ? fileOf(stringOf(url) ?? '', mediaType, filename) : undefined) ?? opaqueFile(block);
};

const toolResult = (block: JsonObject, names: ReadonlyMap<string, string>): ToolPart => {
  const toolCallId = stringOf(block['tool_use_id']) ?? '';
  const isError = block['is_error'] === true;
  return {
    type: 'tool-result',
    toolCallId,
    toolName: names.get(toolCallId) ?? '',
    output: outputOf(block['content'], isError),
  };
};

const outputOf = (content: unknown, isError: boolean): ToolResultOutput => {
  const blocks = arrayOf(content).map(objectOf);
  if (blocks.every(({ type }) => type === 'text')) {
    const value = typeof content === 'string' ? content : blocks.map(({ text }) => stringOf(text) ?? '').join('\n');
    return { type: isError ? 'error-text' : 'text', value };
  }
  return {
    type: 'content',
    value: blocks.map((block): ToolResultContentPart => {
      const part = userPart(block);
      return part.type === 'text' || part.type === 'file' ? part : { type: 'custom' };
    }),
  };
};

/** @throws NotConvertible */
export const readAnthropicRequest = (value: JsonObject, entries: readonly unknown[]): PortableRequest => {
  checkMembers(value, members);
  const { system, messages } = readAnthropicEntries(entries);
  if (messages.at(-1)?.role === 'assistant') throw new NotConvertible('The beginning of an answer');
  const given = value['system'];
  const prompt = typeof given === 'string' ? [given] : arrayOf(given).map((part) => stringOf(objectOf(part)['text']));
  const choice = objectOf(value['tool_choice']);
  const format = objectOf(objectOf(value['output_config'])['format']);
  return {
    system: [...prompt.filter((text) => text !== undefined), ...system],
    messages,
    tools: arrayOf(value['tools']).map(readTool),
    toolChoice: readChoice(choice),
    hasParallelCalls: choice['disable_parallel_tool_use'] === true ? false : undefined,
    maxOutputTokens: numberOf(value['max_tokens']),
    stop: arrayOf(value['stop_sequences']).filter((text) => typeof text === 'string'),
    output: format['type'] === 'json_schema' ? { name: 'answer', schema: format['schema'] } : undefined,
    isStream: value['stream'] === true,
  };
};

const readTool = (value: unknown): PortableTool => {
  const { type, name, description, input_schema: parameters, strict } = objectOf(value);
  if (type !== undefined && type !== null && type !== 'custom') {
    throw new NotConvertible(`The tool "${stringOf(name) ?? ''}", which the provider defines,`);
  }
  return { name: stringOf(name) ?? '', description: stringOf(description), parameters, isStrict: strict === true };
};

const readChoice = ({ type, name }: JsonObject): PortableRequest['toolChoice'] => {
  if (type === 'tool') return { name: stringOf(name) ?? '' };
  if (type === 'any') return 'required';
  return type === 'auto' || type === 'none' ? type : undefined;
};

/** @throws NotConvertible */
export const writeAnthropicRequest = (request: PortableRequest, model: string): JsonObject => {
  const { system, messages, tools, toolChoice, hasParallelCalls, maxOutputTokens, stop, output, isStream } = request;
  if (output && output.schema === undefined) throw new NotConvertible('The output format "json_object"');
  const single = hasParallelCalls === false && { disable_parallel_tool_use: true };
  const choice = toolChoice ?? (single ? 'auto' : undefined);
  return {
    model,
    max_tokens: maxOutputTokens ?? defaultMaxTokens,
    ...(system.length > 0 && { system: system.map((text) => ({ type: 'text', text })) }),
    messages: writeEntries(messages, 'anthropic-messages'),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        ...(description !== undefined && { description }),
        input_schema: parameters ?? { type: 'object' },
      })),
    }),
    ...(tools.length > 0 && choice !== undefined && { tool_choice: { ...writeChoice(choice), ...single } }),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...(output && { output_config: { format: { type: 'json_schema', schema: output.schema } } }),
    ...(isStream && { stream: true }),
  };
};

const writeChoice = (choice: NonNullable<PortableRequest['toolChoice']>): JsonObject => {
  if (typeof choice === 'object') return { type: 'tool', name: choice.name };
  return { type: choice === 'required' ? 'any' : choice };
};
