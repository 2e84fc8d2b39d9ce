import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import {
  checkMembers,
  NotConvertible,
  readConversation,
  writeEntries,
  type PortableRequest,
  type PortableTool,
} from './portable-request.js';

const converted = [
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'stop',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'response_format',
  'n',
];
/** Members that concern one provider or one model. */
const leftOut = [
  'temperature',
  'top_p',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'reasoning_effort',
  'verbosity',
  'user',
  'metadata',
  'service_tier',
  'store',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
];
const members: ReadonlySet<string> = new Set([...converted, ...leftOut]);

/** @throws NotConvertible */
export const readChatRequest = (value: JsonObject, entries: readonly unknown[]): PortableRequest => {
  checkMembers(value, members);
  if ((numberOf(value['n']) ?? 1) !== 1) throw new NotConvertible('A request for several answers');
  const { system, messages } = readConversation(entries, 'openai-chat');
  const { stop } = value;
  return {
    system,
    messages,
    tools: arrayOf(value['tools']).map((tool) => {
      const { type, function: definition } = objectOf(tool);
      return readFunction(type, objectOf(definition));
    }),
    toolChoice: readChoice(value['tool_choice'], (choice) => objectOf(choice['function'])['name']),
    hasParallelCalls: typeof value['parallel_tool_calls'] === 'boolean' ? value['parallel_tool_calls'] : undefined,
    maxOutputTokens: numberOf(value['max_completion_tokens']) ?? numberOf(value['max_tokens']),
    stop: typeof stop === 'string' ? [stop] : arrayOf(stop).filter((text) => typeof text === 'string'),
    output: readFormat(value['response_format'], (format) => objectOf(format['json_schema'])),
    isStream: value['stream'] === true,
  };
};

/** Reads a function tool of OpenAI. @throws NotConvertible for another tool */
export const readFunction = (type: unknown, { name, description, parameters, strict }: JsonObject): PortableTool => {
  if (type !== 'function') throw new NotConvertible(`A tool of the type ${JSON.stringify(type ?? null)}`);
  return { name: stringOf(name) ?? '', description: stringOf(description), parameters, isStrict: strict === true };
};

/** Reads a choice of tools in the notation of OpenAI. @throws NotConvertible */
export const readChoice = (value: unknown, nameOf: (choice: JsonObject) => unknown): PortableRequest['toolChoice'] => {
  if (value === undefined || value === null) return undefined;
  if (value === 'auto' || value === 'none' || value === 'required') return value;
  const choice = objectOf(value);
  if (choice['type'] === 'function') return { name: stringOf(nameOf(choice)) ?? '' };
  throw new NotConvertible('The member "tool_choice"');
};

/** Reads an output format in the notation of OpenAI. @throws NotConvertible */
export const readFormat = (value: unknown, schemaOf: (format: JsonObject) => JsonObject): PortableRequest['output'] => {
  const format = objectOf(value);
  switch (format['type']) {
    case undefined:
    case 'text':
      return undefined;
    case 'json_object':
      return { name: 'answer', schema: undefined };
    case 'json_schema': {
      const { name, schema } = schemaOf(format);
      return { name: stringOf(name) ?? 'answer', schema };
    }
    default:
      throw new NotConvertible('The output format');
  }
};

/** @throws NotConvertible */
export const writeChatRequest = (request: PortableRequest, model: string): JsonObject => {
  const { system, messages, tools, toolChoice, hasParallelCalls, maxOutputTokens, stop, output, isStream } = request;
  const choice =
    typeof toolChoice === 'object' ? { type: 'function', function: { name: toolChoice.name } } : toolChoice;
  const prompt = system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : [];
  return {
    model,
    messages: [...prompt, ...writeEntries(messages, 'openai-chat')],
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters, isStrict }) => ({
        type: 'function',
        function: {
          name,
          ...(description !== undefined && { description }),
          parameters: parameters ?? { type: 'object', properties: {} },
          ...(isStrict && { strict: true }),
        },
      })),
      ...(choice !== undefined && { tool_choice: choice }),
      ...(hasParallelCalls !== undefined && { parallel_tool_calls: hasParallelCalls }),
    }),
    ...(maxOutputTokens !== undefined && { max_completion_tokens: maxOutputTokens }),
    ...(stop.length > 0 && { stop }),
    ...(output && {
      response_format:
        output.schema === undefined
          ? { type: 'json_object' }
          : { type: 'json_schema', json_schema: { name: output.name, schema: output.schema, strict: true } },
    }),
    ...(isStream && { stream: true, stream_options: { include_usage: true } }),
  };
};
