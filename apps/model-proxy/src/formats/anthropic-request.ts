import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import {
  checkMembers,
  NotConvertible,
  readConversation,
  writeEntries,
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

/** @throws NotConvertible */
export const readAnthropicRequest = (value: JsonObject, entries: readonly unknown[]): PortableRequest => {
  checkMembers(value, members);
  const { system, messages } = readConversation(entries, 'anthropic-messages');
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
