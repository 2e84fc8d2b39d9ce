import { cleanUsage, type TokenUsage } from '@h/prices';
import type { FinishReason } from '@h/turn';
import { arrayOf, numberOf, objectOf, stringOf, type JsonObject } from '../wire/json-value.js';
import {
  charsOf,
  closePart,
  partOf,
  type Answer,
  type AnswerReader,
  type OpenPart,
  type PartListener,
} from './answer.js';

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'content-filter',
};

/** Returns a reader of answers in the format of Anthropic Messages. */
export const readAnthropicAnswer = (listener?: PartListener): AnswerReader => {
  const parts = new Map<number, OpenPart>();
  let message: JsonObject = {};
  let counts: JsonObject = {};
  let stopReason: string | undefined;
  let isComplete = false;
  let error: Answer['error'];

  const count = (usage: unknown): void => {
    // The counts of `message_delta` are cumulative and may leave out those of `message_start`.
    counts = {
      ...counts,
      ...Object.fromEntries(Object.entries(objectOf(usage)).filter(([, value]) => value !== null)),
    };
  };
  const fail = (value: unknown): void => {
    const { type, message: text } = objectOf(value);
    error = { type: stringOf(type) ?? 'api_error', message: stringOf(text) ?? 'The provider reported an error.' };
  };
  const block = (index: number, value: unknown): void => {
    const { type, text, thinking, id, name, input } = objectOf(value);
    if (type === 'text') parts.set(index, partOf('text', stringOf(text) ?? ''));
    if (type === 'thinking') parts.set(index, partOf('reasoning', stringOf(thinking) ?? ''));
    if (type !== 'tool_use') return;
    const given = Object.keys(objectOf(input)).length > 0 ? JSON.stringify(input) : '';
    parts.set(index, partOf('tool-call', given, stringOf(id), stringOf(name)));
  };
  const announce = (index: number, chunk: string): void => {
    const part = parts.get(index);
    if (part) listener?.chunk(String(index), part, chunk);
  };
  const take = (value: JsonObject): void => {
    message = value;
    count(value['usage']);
    stopReason = stringOf(value['stop_reason']) ?? stopReason;
  };

  return {
    event: (data) => {
      const event = objectOf(data);
      const index = numberOf(event['index']) ?? 0;
      switch (event['type']) {
        case 'message_start':
          return take(objectOf(event['message']));
        case 'content_block_start':
          block(index, event['content_block']);
          return announce(index, parts.get(index)?.chunks.join('') ?? '');
        case 'content_block_delta': {
          const { text, thinking, partial_json: json } = objectOf(event['delta']);
          const chunk = stringOf(text) ?? stringOf(thinking) ?? stringOf(json);
          if (chunk === undefined) return undefined;
          parts.get(index)?.chunks.push(chunk);
          return announce(index, chunk);
        }
        case 'content_block_stop':
          return listener?.close(String(index));
        case 'message_delta':
          count(event['usage']);
          stopReason = stringOf(objectOf(event['delta'])['stop_reason']) ?? stopReason;
          return undefined;
        case 'message_stop':
          isComplete = true;
          return undefined;
        case 'error':
          return fail(event['error']);
        default:
      }
    },
    body: (body) => {
      const value = objectOf(body);
      if (value['type'] === 'error') return fail(value['error']);
      take(value);
      for (const [index, part] of arrayOf(value['content']).entries()) block(index, part);
      isComplete = stringOf(value['stop_reason']) !== undefined;
    },
    answer: () => ({
      usage: usageOf(counts, isComplete),
      model: stringOf(message['model']),
      id: stringOf(message['id']),
      content: [...parts.values()].map(closePart),
      finishReason: finishReasons[stopReason ?? ''] ?? 'other',
      outputChars: charsOf(parts.values()),
      isComplete,
      error,
    }),
  };
};

const usageOf = (counts: JsonObject, isComplete: boolean): TokenUsage | undefined => {
  const input = numberOf(counts['input_tokens']);
  if (input === undefined || !isComplete) return undefined;
  const cacheRead = numberOf(counts['cache_read_input_tokens']) ?? 0;
  const cacheWrite = numberOf(counts['cache_creation_input_tokens']) ?? 0;
  const output = numberOf(counts['output_tokens']) ?? 0;
  return cleanUsage({ input: input + cacheRead + cacheWrite, cacheRead, cacheWrite, output });
};
