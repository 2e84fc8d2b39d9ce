import type { AssistantPart, Message, ToolResultContentPart, ToolResultOutput, UserPart } from '@h/turn';
import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../json-value.js';
import { inputOf, readChoice, readFormat, readFunction } from './chat-request.js';
import {
  checkMembers,
  fileOf,
  joined,
  NotConvertible,
  opaqueFile,
  opaquePart,
  writeEntries,
  type PortableEntries,
  type PortableRequest,
} from './portable-request.js';

const converted = [
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'text',
  'stream',
];
/** Members that concern one provider or one model. */
const leftOut = [
  'temperature',
  'top_p',
  'reasoning',
  'include',
  'store',
  'truncation',
  'user',
  'metadata',
  'service_tier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'stream_options',
  'client_metadata',
];
const members: ReadonlySet<string> = new Set([...converted, ...leftOut]);

/** Reads items of `input`. Items of unknown kinds become opaque parts. */
export const readResponsesEntries = (entries: readonly unknown[]): PortableEntries => {
  const names = new Map<string, string>();
  const system: string[] = [];
  const messages = entries.flatMap((value): readonly Message[] => {
    if (typeof value === 'string') return [{ role: 'user', content: value }];
    const item = objectOf(value);
    const { type = 'message', role, content, name } = item;
    if (type === 'function_call') {
      const toolCallId = stringOf(item['call_id']) ?? '';
      const toolName = stringOf(name) ?? '';
      names.set(toolCallId, toolName);
      const input = inputOf(stringOf(item['arguments']) ?? '');
      return [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] }];
    }
    if (type === 'function_call_output') {
      const toolCallId = stringOf(item['call_id']) ?? '';
      const output = outputOf(item['output']);
      return [
        { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName: names.get(toolCallId) ?? '', output }] },
      ];
    }
    if (type === 'reasoning') return [{ role: 'assistant', content: [{ type: 'reasoning', text: summaryOf(item) }] }];
    if (type !== 'message') return [{ role: 'assistant', content: [opaquePart(item)] }];
    const parts =
      typeof content === 'string' ? [{ type: 'input_text', text: content }] : arrayOf(content).map(objectOf);
    if (role === 'system' || role === 'developer') {
      system.push(parts.map(({ text }) => stringOf(text) ?? '').join('\n'));
      return [];
    }
    return [
      role === 'assistant' ? { role, content: parts.map(answerPart) } : { role: 'user', content: parts.map(userPart) },
    ];
  });
  return { system, messages };
};

const summaryOf = (item: JsonObject): string =>
  arrayOf(item['summary'])
    .map((part) => stringOf(objectOf(part)['text']) ?? '')
    .join('\n');

const answerPart = (part: JsonObject): AssistantPart => {
  const text = stringOf(part['text']) ?? stringOf(part['refusal']);
  return text === undefined ? opaquePart(part) : { type: 'text', text };
};

const userPart = (part: JsonObject): UserPart => {
  const { type, text, image_url: image, file_data: data, filename } = part;
  if (typeof text === 'string') return { type: 'text', text };
  if (type === 'input_image' && typeof image === 'string') return fileOf(image, 'image/*') ?? opaqueFile(part);
  const isFile = type === 'input_file' && typeof data === 'string';
  return (isFile ? fileOf(data, 'application/pdf', stringOf(filename)) : undefined) ?? opaqueFile(part);
};

const outputOf = (output: unknown): ToolResultOutput => {
  if (typeof output === 'string') return { type: 'text', value: output };
  return {
    type: 'content',
    value: arrayOf(output).map((value): ToolResultContentPart => {
      const part = userPart(objectOf(value));
      return part.type === 'text' || part.type === 'file' ? part : { type: 'custom' };
    }),
  };
};

/** @throws NotConvertible */
export const readResponsesRequest = (value: JsonObject, entries: readonly unknown[]): PortableRequest => {
  checkMembers(value, members);
  const { system, messages } = readResponsesEntries(entries);
  if (messages.at(-1)?.role === 'assistant') throw new NotConvertible('The beginning of an answer');
  const instructions = stringOf(value['instructions']);
  return {
    system: [...(instructions === undefined ? [] : [instructions]), ...system],
    messages: joined(messages),
    tools: arrayOf(value['tools']).map((tool) => readFunction(objectOf(tool)['type'], objectOf(tool))),
    toolChoice: readChoice(value['tool_choice'], ({ name }) => name),
    hasParallelCalls: typeof value['parallel_tool_calls'] === 'boolean' ? value['parallel_tool_calls'] : undefined,
    maxOutputTokens: numberOf(value['max_output_tokens']),
    stop: [],
    output: readFormat(objectOf(value['text'])['format'], (format) => format),
    isStream: value['stream'] === true,
  };
};

/** @throws NotConvertible */
export const writeResponsesRequest = (request: PortableRequest, model: string): JsonObject => {
  const { system, messages, tools, toolChoice, hasParallelCalls, maxOutputTokens, stop, output, isStream } = request;
  if (stop.length > 0) throw new NotConvertible('A stop sequence');
  const choice = typeof toolChoice === 'object' ? { type: 'function', name: toolChoice.name } : toolChoice;
  return {
    model,
    ...(system.length > 0 && { instructions: system.join('\n\n') }),
    input: writeEntries(messages, 'openai-responses'),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters, isStrict }) => ({
        type: 'function',
        name,
        ...(description !== undefined && { description }),
        parameters: parameters ?? { type: 'object', properties: {} },
        strict: isStrict,
      })),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(hasParallelCalls !== undefined && { parallel_tool_calls: hasParallelCalls }),
    }),
    ...(maxOutputTokens !== undefined && { max_output_tokens: maxOutputTokens }),
    ...(output && {
      text: {
        format:
          output.schema === undefined
            ? { type: 'json_object' }
            : { type: 'json_schema', name: output.name, schema: output.schema, strict: true },
      },
    }),
    // The proxy has the whole conversation, and the other provider must not store it.
    store: false,
    ...(isStream && { stream: true }),
  };
};
