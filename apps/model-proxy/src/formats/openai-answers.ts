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
  stop: 'stop',
  length: 'length',
  max_output_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'content-filter',
};

/** Maximum number of parallel tool calls that are read from one answer. */
const maxCalls = 1000;

/**
 * Returns a reader of answers in the format of OpenAI Chat Completions. Reads the first choice of several, and counts
 * the characters of all.
 */
export const readChatAnswer = (listener?: PartListener): AnswerReader => {
  const text = partOf('text', '');
  const reasoning = partOf('reasoning', '');
  const calls = new Map<number, { id: string; name: string; chunks: string[] }>();
  let usage: TokenUsage | undefined;
  let head: JsonObject = {};
  let finish: string | undefined;
  let error: Answer['error'];
  let otherChars = 0;

  const take = (message: JsonObject): void => {
    const chunk = stringOf(message['content']) ?? stringOf(message['refusal']) ?? '';
    text.chunks.push(chunk);
    if (chunk !== '') listener?.chunk('text', text, chunk);
    // The names of OpenRouter, vLLM and DeepSeek.
    reasoning.chunks.push(stringOf(message['reasoning_content']) ?? stringOf(message['reasoning']) ?? '');
    for (const [position, value] of arrayOf(message['tool_calls']).entries()) {
      const call = objectOf(value);
      const { name, arguments: input } = objectOf(call['function']);
      const index = numberOf(call['index']) ?? position;
      const known = calls.get(index) ?? { id: '', name: '', chunks: [] };
      if (calls.size >= maxCalls && !calls.has(index)) return;
      known.id = stringOf(call['id']) ?? known.id;
      known.name = stringOf(name) ?? known.name;
      const part = stringOf(input) ?? '';
      known.chunks.push(part);
      calls.set(index, known);
      listener?.chunk(`call ${index}`, { type: 'tool-call', id: known.id, name: known.name }, part);
    }
  };
  const read = (value: JsonObject, member: 'delta' | 'message'): void => {
    if (value['error'] !== undefined && value['error'] !== null) error = errorOf(value['error']);
    if (stringOf(value['id']) !== undefined) head = value;
    usage = chatUsage(value['usage']) ?? usage;
    for (const item of arrayOf(value['choices'])) {
      const choice = objectOf(item);
      if ((numberOf(choice['index']) ?? 0) !== 0) {
        otherChars += charsIn(objectOf(choice[member]));
        continue;
      }
      take(objectOf(choice[member]));
      finish = stringOf(choice['finish_reason']) ?? finish;
    }
  };
  const open = (): readonly OpenPart[] => [
    ...(reasoning.chunks.some((chunk) => chunk !== '') ? [reasoning] : []),
    ...(text.chunks.some((chunk) => chunk !== '') ? [text] : []),
    ...[...calls.values()].map(({ id, name, chunks }) => ({ type: 'tool-call' as const, id, name, chunks })),
  ];

  return {
    event: (data) => read(objectOf(data), 'delta'),
    body: (body) => read(objectOf(body), 'message'),
    answer: () => ({
      usage,
      model: stringOf(head['model']),
      id: stringOf(head['id']),
      content: open().map(closePart),
      finishReason: finishReasons[finish ?? ''] ?? 'other',
      outputChars: charsOf(open()) + otherChars,
      isComplete: finish !== undefined,
      error,
    }),
  };
};

/** Counts the characters of a message, or of a part of it. */
const charsIn = (message: JsonObject): number => {
  const texts = ['content', 'refusal', 'reasoning_content', 'reasoning'].map((name) => message[name]);
  const inputs = arrayOf(message['tool_calls']).map((call) => objectOf(objectOf(call)['function'])['arguments']);
  return [...texts, ...inputs].reduce<number>((sum, text) => sum + (stringOf(text)?.length ?? 0), 0);
};

/** Returns a reader of answers in the format of OpenAI Responses. */
export const readResponsesAnswer = (listener?: PartListener): AnswerReader => {
  let response: JsonObject = {};
  let isComplete = false;
  let error: Answer['error'];
  /** Deltas, for the estimate of a stream that ends early. */
  const streamed = partOf('text', '');

  /** Items of calls, by their index in the output. */
  const calls = new Map<string, Pick<OpenPart, 'type' | 'id' | 'name'>>();
  const announce = (type: string, event: JsonObject, to: PartListener): void => {
    const key = String(numberOf(event['output_index']) ?? 0);
    const chunk = stringOf(event['delta']) ?? '';
    const item = objectOf(event['item']);
    const call = calls.get(key);
    if (type === 'response.output_item.added' && item['type'] === 'function_call' && calls.size < maxCalls) {
      const added = {
        type: 'tool-call',
        id: stringOf(item['call_id']) ?? '',
        name: stringOf(item['name']) ?? '',
      } as const;
      calls.set(key, added);
      to.chunk(key, added, '');
    } else if (type === 'response.function_call_arguments.delta' && call) to.chunk(key, call, chunk);
    else if (type === 'response.output_text.delta' || type === 'response.refusal.delta') to.chunk(key, streamed, chunk);
    else if (type === 'response.output_item.done') to.close(key);
  };

  const take = (value: unknown): void => {
    response = objectOf(value);
    if (response['error'] !== undefined && response['error'] !== null) error = errorOf(response['error']);
  };

  return {
    event: (data) => {
      const event = objectOf(data);
      const type = stringOf(event['type']) ?? '';
      if (type.endsWith('.delta')) streamed.chunks.push(stringOf(event['delta']) ?? '');
      if (type === 'error') error = errorOf(event['error'] ?? event);
      if (listener) announce(type, event, listener);
      if (type !== 'response.created' && !/^response\.(?:completed|incomplete|failed)$/.test(type)) return;
      take(event['response']);
      isComplete = type !== 'response.created';
    },
    body: (body) => {
      const value = objectOf(body);
      take(value);
      isComplete = value['status'] !== 'in_progress' && value['status'] !== 'queued' && error === undefined;
    },
    answer: () => {
      const parts = isComplete ? arrayOf(response['output']).flatMap(itemParts) : [streamed];
      const reason = stringOf(objectOf(response['incomplete_details'])['reason']);
      const hasCalls = parts.some(({ type }) => type === 'tool-call');
      return {
        usage: responsesUsage(response['usage']),
        model: stringOf(response['model']),
        id: stringOf(response['id']),
        content: parts.map(closePart),
        finishReason: finishReasons[reason ?? (hasCalls ? 'tool_calls' : 'stop')] ?? 'other',
        outputChars: charsOf(parts),
        isComplete,
        error,
      };
    },
  };
};

const itemParts = (value: unknown): readonly OpenPart[] => {
  const item = objectOf(value);
  const texts = (member: string): string =>
    arrayOf(item[member])
      .map((part) => stringOf(objectOf(part)['text']) ?? '')
      .join('');
  switch (item['type']) {
    case 'message':
      return [partOf('text', texts('content'))];
    case 'reasoning':
      return [partOf('reasoning', texts('summary'))];
    case 'function_call':
    case 'custom_tool_call': {
      const input = stringOf(item['arguments']) ?? JSON.stringify(item['input'] ?? {});
      return [partOf('tool-call', input, stringOf(item['call_id']), stringOf(item['name']))];
    }
    default:
      return [];
  }
};

const errorOf = (value: unknown): NonNullable<Answer['error']> => {
  const { type, code, message } = objectOf(value);
  return {
    type: stringOf(code) ?? stringOf(type) ?? 'server_error',
    message: stringOf(message) ?? 'The provider reported an error.',
  };
};

const chatUsage = (value: unknown): TokenUsage | undefined => {
  const usage = objectOf(value);
  const input = numberOf(usage['prompt_tokens']);
  if (input === undefined) return undefined;
  return cleanUsage({
    input,
    cacheRead: numberOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']) ?? 0,
    output: numberOf(usage['completion_tokens']) ?? 0,
    reasoning: numberOf(objectOf(usage['completion_tokens_details'])['reasoning_tokens']) ?? 0,
  });
};

const responsesUsage = (value: unknown): TokenUsage | undefined => {
  const usage = objectOf(value);
  const input = numberOf(usage['input_tokens']);
  if (input === undefined) return undefined;
  return cleanUsage({
    input,
    cacheRead: numberOf(objectOf(usage['input_tokens_details'])['cached_tokens']) ?? 0,
    output: numberOf(usage['output_tokens']) ?? 0,
    reasoning: numberOf(objectOf(usage['output_tokens_details'])['reasoning_tokens']) ?? 0,
  });
};
