import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import { readChoice, readFormat, readFunction } from './chat-request.js';
import {
  checkMembers,
  NotConvertible,
  readConversation,
  writeEntries,
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

/** @throws NotConvertible */
export const readResponsesRequest = (value: JsonObject, entries: readonly unknown[]): PortableRequest => {
  checkMembers(value, members);
  const { system, messages } = readConversation(entries, 'openai-responses');
  const instructions = stringOf(value['instructions']);
  return {
    system: [...(instructions === undefined ? [] : [instructions]), ...system],
    messages,
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
