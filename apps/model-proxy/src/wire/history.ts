import { parseJson, arrayOf, numberOf, objectOf, stringOf } from './json-value.js';
import type { JsonPath } from './json-edit.js';
import type { WireRequest } from './wire-request.js';

/** A message of the user, a tool call or a tool result in a request, in order. */
export type HistoryItem =
  | { readonly type: 'user' }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly isError: boolean;
      /** The content as the client sent it, and where it is. */
      readonly content: unknown;
      readonly path: JsonPath;
    };

/** Returns the tool traffic of a request. */
export const historyOf = ({ format, member, entries }: WireRequest): readonly HistoryItem[] => {
  const read = { 'anthropic-messages': ofAnthropic, 'openai-chat': ofChat, 'openai-responses': ofResponses }[format];
  return entries.flatMap((entry, index) => read(entry, [member, index]));
};

const ofAnthropic = (value: unknown, path: JsonPath): readonly HistoryItem[] => {
  const { role, content } = objectOf(value);
  const items = arrayOf(content).flatMap((part, index): readonly HistoryItem[] => {
    const block = objectOf(part);
    if (block['type'] === 'tool_use') return [callOf(block['id'], block['name'], block['input'])];
    if (block['type'] !== 'tool_result') return [];
    const isError = block['is_error'] === true;
    return [resultOf(block['tool_use_id'], block['content'], [...path, 'content', index, 'content'], isError)];
  });
  // Agents add reminders beside tool results, which are not messages of the user.
  return items.length === 0 && role === 'user' ? [{ type: 'user' }] : items;
};

const ofChat = (value: unknown, path: JsonPath): readonly HistoryItem[] => {
  const entry = objectOf(value);
  if (entry['role'] === 'user') return [{ type: 'user' }];
  if (entry['role'] === 'tool') return [resultOf(entry['tool_call_id'], entry['content'], [...path, 'content'])];
  return arrayOf(entry['tool_calls']).map((item) => {
    const call = objectOf(item);
    const { name, arguments: input } = objectOf(call['function']);
    return callOf(call['id'], name, inputOf(input));
  });
};

const ofResponses = (value: unknown, path: JsonPath): readonly HistoryItem[] => {
  const item = objectOf(value);
  switch (item['type']) {
    case 'function_call':
      return [callOf(item['call_id'], item['name'], inputOf(item['arguments']))];
    case 'custom_tool_call':
      return [callOf(item['call_id'], item['name'], item['input'])];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [resultOf(item['call_id'], item['output'], [...path, 'output'])];
    default:
      return typeof value === 'string' || item['role'] === 'user' ? [{ type: 'user' }] : [];
  }
};

const callOf = (id: unknown, name: unknown, input: unknown): HistoryItem => ({
  type: 'call',
  id: stringOf(id) ?? '',
  name: stringOf(name) ?? '',
  input,
});

const resultOf = (callId: unknown, content: unknown, path: JsonPath, isError = false): HistoryItem => ({
  type: 'result',
  callId: stringOf(callId) ?? '',
  isError: isError || exitCodeOf(content) > 0,
  content,
  path,
});

const inputOf = (input: unknown): unknown => (typeof input === 'string' ? (parseJson(input) ?? input) : input);

/** Codex reports the exit code of a command beside its output. */
const exitCodeOf = (content: unknown): number => {
  if (typeof content !== 'string' || !content.startsWith('{"output":')) return 0;
  return numberOf(objectOf(objectOf(parseJson(content))['metadata'])['exit_code']) ?? 0;
};

/** Returns the content of a tool result as text. */
export const textOfContent = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : arrayOf(content)
        .map((part) => stringOf(objectOf(part)['text']) ?? JSON.stringify(part))
        .join('\n');
