import type { Answer } from './answer.js';
import { answerCalls, answerText, usageOfAnswer, type AnswerHead, type AnswerWriter } from './answer-writer.js';
import { objectOf, type JsonObject } from '../wire/json-value.js';

const stopReasons: Readonly<Partial<Record<Answer['finishReason'], string>>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
};

const stopReasonOf = ({ finishReason }: Answer): string => stopReasons[finishReason] ?? 'end_turn';

const usageOf = (answer: Pick<Answer, 'usage'>): JsonObject => {
  const { input, cacheRead, cacheWrite, output } = usageOfAnswer(answer);
  return {
    input_tokens: Math.max(0, input - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: output,
  };
};

const messageOf = ({ id, model }: Pick<AnswerHead, 'id' | 'model'>): JsonObject => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
});

/** Writes answers in the format of Anthropic Messages. */
export const anthropicWriter: AnswerWriter = {
  body: (answer) => {
    const text = answerText(answer);
    const calls = answerCalls(answer);
    return {
      ...messageOf({ id: answer.id ?? '', model: answer.model ?? '' }),
      content: [
        ...(text === '' ? [] : [{ type: 'text', text }]),
        ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: objectOf(input) })),
      ],
      stop_reason: stopReasonOf(answer),
      stop_sequence: null,
      usage: usageOf(answer),
    };
  },
  stream: (sendEvent, head) => {
    const send = (event: JsonObject): void => sendEvent(event, event['type'] as string);
    let index = -1;
    let isCall = false;
    const message = { ...messageOf(head), content: [], stop_reason: null, stop_sequence: null };
    send({ type: 'message_start', message: { ...message, usage: usageOf({ usage: undefined }) } });
    return {
      begin: ({ type, id, name }) => {
        index += 1;
        isCall = type === 'tool-call';
        const block = isCall ? { type: 'tool_use', id, name, input: {} } : { type: 'text', text: '' };
        send({ type: 'content_block_start', index, content_block: block });
      },
      chunk: (text) => {
        const delta = isCall ? { type: 'input_json_delta', partial_json: text } : { type: 'text_delta', text };
        send({ type: 'content_block_delta', index, delta });
      },
      end: () => send({ type: 'content_block_stop', index }),
      finish: (answer) => {
        if (answer.error) {
          return send({ type: 'error', error: { type: 'api_error', message: answer.error.message } });
        }
        const delta = { stop_reason: stopReasonOf(answer), stop_sequence: null };
        send({ type: 'message_delta', delta, usage: usageOf(answer) });
        return send({ type: 'message_stop' });
      },
    };
  },
};
