import type { Usage } from '@h/turn';
import {
  countIn,
  isObject,
  joinedText,
  objectIn,
  objectsIn,
  parsedOr,
  textIn,
  type AuditRecord,
  type Json,
  type RecordReader,
  type Settings,
} from './record.js';

/** Reads messages of OpenAI chat completions and of the AI SDK: one message is one entry. */
export const messageReader = (): RecordReader => {
  let settings: Settings = {};
  const read = (entry: Json): readonly AuditRecord[] => {
    const role = entry['role'];
    if (role === 'system' || role === 'developer') {
      settings = { ...settings, 'system prompt': joinedText(entry['content']) };
      return [];
    }
    if (role === 'user') return [{ type: 'message', role, text: joinedText(entry['content']) }];
    if (role === 'assistant') return answerRecords(entry, settings);
    return role === 'tool' ? resultRecords(entry) : [];
  };
  return { read, end: () => [] };
};

const answerRecords = (entry: Json, settings: Settings): readonly AuditRecord[] => {
  const usage = usageOf(objectIn(entry, 'usage'));
  const model = textIn(entry, 'model');
  const content = entry['content'];
  const calls = objectsIn(entry, 'tool_calls').map((call): AuditRecord => {
    const run = objectIn(call, 'function');
    return {
      type: 'call',
      id: textIn(call, 'id') ?? '',
      name: textIn(run, 'name') ?? '',
      input: parsedOr(textIn(run, 'arguments') ?? '{}'),
    };
  });
  const parts = objectsIn(entry, 'content').flatMap((part): readonly AuditRecord[] =>
    part['type'] === 'tool-call'
      ? [
          {
            type: 'call',
            id: textIn(part, 'toolCallId') ?? '',
            name: textIn(part, 'toolName') ?? '',
            input: part['input'],
          },
        ]
      : [],
  );
  return [
    { type: 'request', ...(model !== undefined && { model }), ...(usage && { usage }), settings },
    { type: 'message', role: 'assistant', text: joinedText(Array.isArray(content) ? content.filter(isText) : content) },
    ...calls,
    ...parts,
  ];
};

const isText = (part: unknown): boolean => isObject(part) && part['type'] === 'text';

const resultRecords = (entry: Json): readonly AuditRecord[] => {
  const id = textIn(entry, 'tool_call_id');
  if (id !== undefined) return [{ type: 'result', id, text: joinedText(entry['content']), isError: false }];
  return objectsIn(entry, 'content').flatMap((part): readonly AuditRecord[] => {
    if (part['type'] !== 'tool-result') return [];
    const output = objectIn(part, 'output');
    const text = joinedText(output['value'] ?? part['result']);
    const isError = String(output['type']).startsWith('error') || part['isError'] === true;
    return [{ type: 'result', id: textIn(part, 'toolCallId') ?? '', text, isError }];
  });
};

const usageOf = (usage: Json): Usage | undefined => {
  const input = countIn(usage, 'prompt_tokens', 'inputTokens', 'input_tokens');
  const output = countIn(usage, 'completion_tokens', 'outputTokens', 'output_tokens');
  if (input + output === 0) return undefined;
  const cacheRead =
    countIn(objectIn(usage, 'prompt_tokens_details'), 'cached_tokens') || countIn(usage, 'cachedInputTokens');
  const reasoning = countIn(objectIn(usage, 'completion_tokens_details'), 'reasoning_tokens');
  return { input, cacheRead, cacheWrite: 0, output, reasoning };
};
