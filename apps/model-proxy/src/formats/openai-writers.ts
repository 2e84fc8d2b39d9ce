import type { Answer } from './answer.js';
import {
  answerCalls,
  answerText,
  usageOfAnswer,
  type AnswerCall,
  type AnswerHead,
  type AnswerWriter,
} from './answer-writer.js';
import type { JsonObject } from '../wire/json-value.js';

const finishReasons: Readonly<Partial<Record<Answer['finishReason'], string>>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
};

const finishReasonOf = ({ finishReason }: Answer): string => finishReasons[finishReason] ?? 'stop';

const chatUsage = (answer: Answer): JsonObject => {
  const { input, cacheRead, output, reasoning } = usageOfAnswer(answer);
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
};

const callOf = ({ id, name, input }: AnswerCall): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: argumentsOf(input) },
});

/** Writes answers in the format of OpenAI Chat Completions. */
export const chatWriter: AnswerWriter = {
  body: (answer) => {
    const text = answerText(answer);
    const calls = answerCalls(answer).map(callOf);
    const content = text === '' ? null : text;
    const message = { role: 'assistant', content, refusal: null, ...(calls.length > 0 && { tool_calls: calls }) };
    return {
      id: `chatcmpl-${answer.id}`,
      object: 'chat.completion',
      created: nowSeconds(),
      model: answer.model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(answer) }],
      usage: chatUsage(answer),
    };
  },
  stream: (send, { id, model, created, wantsUsage }) => {
    const chunk = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created, model };
    const sendDelta = (delta: JsonObject, finishReason: string | null = null): void =>
      send({ ...chunk, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] });
    let calls = -1;
    let isCall = false;
    let hasInput = false;
    sendDelta({ role: 'assistant', content: '' });
    return {
      begin: ({ type, id: callId, name }) => {
        isCall = type === 'tool-call';
        if (!isCall) return;
        calls += 1;
        hasInput = false;
        const call = { index: calls, id: callId, type: 'function', function: { name, arguments: '' } };
        sendDelta({ tool_calls: [call] });
      },
      chunk: (text) => {
        hasInput = true;
        sendDelta(isCall ? { tool_calls: [{ index: calls, function: { arguments: text } }] } : { content: text });
      },
      end: () => {
        if (isCall && !hasInput) sendDelta({ tool_calls: [{ index: calls, function: { arguments: '{}' } }] });
      },
      finish: (answer) => {
        if (answer.error) {
          return send({ error: { message: answer.error.message, type: 'server_error', param: null, code: null } });
        }
        sendDelta({}, finishReasonOf(answer));
        if (wantsUsage) send({ ...chunk, choices: [], usage: chatUsage(answer) });
        return send('[DONE]');
      },
    };
  },
};

const nowSeconds = (): number => Math.floor(Date.now() / 1000);

const responseOf = ({ id, model, created }: Omit<AnswerHead, 'wantsUsage'>, status: string): JsonObject => ({
  id: `resp_${id}`,
  object: 'response',
  created_at: created,
  status,
  model,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  // A later request cannot refer to this answer: no provider stores it.
  previous_response_id: null,
  store: false,
  temperature: null,
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  output: [],
  usage: null,
});

const textPart = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const textItem = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [textPart(text)],
});

const callItem = (id: string, { id: callId, name, input }: AnswerCall): JsonObject => ({
  id,
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name,
  arguments: argumentsOf(input),
});

const endOf = (answer: Answer): JsonObject => {
  const { input, cacheRead, output, reasoning } = usageOfAnswer(answer);
  const reason = { length: 'max_output_tokens', 'content-filter': 'content_filter' }[answer.finishReason as string];
  return {
    status: reason === undefined ? 'completed' : 'incomplete',
    incomplete_details: reason === undefined ? null : { reason },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
};

/** Writes answers in the format of OpenAI Responses. */
export const responsesWriter: AnswerWriter = {
  body: (answer) => {
    const id = answer.id ?? '';
    const text = answerText(answer);
    const output = [
      ...(text === '' ? [] : [textItem(`msg_${id}`, text)]),
      ...answerCalls(answer).map((call, index) => callItem(`fc_${id}_${index}`, call)),
    ];
    const head = { id, model: answer.model ?? '', created: nowSeconds() };
    return { ...responseOf(head, 'completed'), ...endOf(answer), output };
  },
  stream: (sendEvent, head) => {
    let number = -1;
    const send = (event: JsonObject): void => {
      number += 1;
      sendEvent({ ...event, sequence_number: number }, event['type'] as string);
    };
    const output: JsonObject[] = [];
    let chunks: string[] = [];
    let call: Omit<AnswerCall, 'input'> | undefined;
    const position = (): { readonly id: string; readonly index: number } => {
      const index = output.length;
      return { id: `${call ? 'fc' : 'msg'}_${head.id}_${index}`, index };
    };
    send({ type: 'response.created', response: responseOf(head, 'in_progress') });
    send({ type: 'response.in_progress', response: responseOf(head, 'in_progress') });
    return {
      begin: ({ type, id: callId, name }) => {
        call = type === 'tool-call' ? { id: callId, name } : undefined;
        chunks = [];
        const { id, index } = position();
        const item = call ? callItem(id, { ...call, input: '' }) : { ...textItem(id, ''), content: [] };
        send({ type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } });
        if (call) return;
        const place = { item_id: id, output_index: index, content_index: 0 };
        send({ type: 'response.content_part.added', ...place, part: textPart('') });
      },
      chunk: (delta) => {
        chunks.push(delta);
        const { id, index } = position();
        const place = { item_id: id, output_index: index };
        if (call) return send({ type: 'response.function_call_arguments.delta', ...place, delta });
        return send({ type: 'response.output_text.delta', ...place, content_index: 0, delta, logprobs: [] });
      },
      end: () => {
        const { id, index } = position();
        const text = chunks.join('');
        const place = { item_id: id, output_index: index };
        const item = call ? callItem(id, { ...call, input: text === '' ? '{}' : text }) : textItem(id, text);
        if (call) {
          const { name } = call;
          send({ type: 'response.function_call_arguments.done', ...place, name, arguments: item['arguments'] });
        } else {
          send({ type: 'response.output_text.done', ...place, content_index: 0, text, logprobs: [] });
          send({ type: 'response.content_part.done', ...place, content_index: 0, part: textPart(text) });
        }
        send({ type: 'response.output_item.done', output_index: index, item });
        output.push(item);
      },
      finish: (answer) => {
        if (answer.error) {
          const error = { code: 'server_error', message: answer.error.message };
          return send({ type: 'response.failed', response: { ...responseOf(head, 'failed'), error, output } });
        }
        const end = endOf(answer);
        const type = end['status'] === 'completed' ? 'response.completed' : 'response.incomplete';
        return send({ type, response: { ...responseOf(head, 'completed'), ...end, output } });
      },
    };
  },
};

/** Writes the input of a call as JSON. Input that was not JSON is written as it was received. */
const argumentsOf = (input: unknown): string => (typeof input === 'string' ? input : (JSON.stringify(input) ?? '{}'));
