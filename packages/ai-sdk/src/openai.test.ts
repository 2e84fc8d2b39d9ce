import { MessageList, type ModelResponse } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { outputsOf, requestFor, responseIn, weather } from '../test/calls.js';
import { openaiAt, sendOpenAI, startServer } from '../test/servers.js';
import { languageModel } from './language-model.js';

const serverWith = (chunks: readonly Record<string, unknown>[]) =>
  startServer((response) => {
    sendOpenAI(response, chunks);
    response.end('data: [DONE]\n\n');
  });

const chatChunk = (delta: Record<string, unknown>, finish: string | null = null, usage?: Record<string, unknown>) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-test',
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...(usage && { usage }),
});

const chatUsage = {
  prompt_tokens: 1_000,
  completion_tokens: 60,
  total_tokens: 1_060,
  prompt_tokens_details: { cached_tokens: 900 },
  completion_tokens_details: { reasoning_tokens: 45 },
};

describe('languageModel with OpenAI chat on the wire', () => {
  const modelAt = (url: string) => languageModel(openaiAt(url).chat('gpt-4o'));

  it('includes cached tokens in the input and reasoning in the output once', async () => {
    const server = await serverWith([chatChunk({ content: 'Yes.' }), chatChunk({}, 'stop', chatUsage)]);
    const { usage, id, model } = responseIn(await outputsOf(modelAt(server.url)));
    expect(usage).toEqual({ input: 1_000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 45 });
    expect({ id, model }).toEqual({ id: 'chatcmpl-1', model: 'gpt-4o-test' });
  });

  it('reports zero usage if the provider sends none', async () => {
    const server = await serverWith([chatChunk({ content: 'Yes.' }), chatChunk({}, 'stop')]);
    const { usage } = responseIn(await outputsOf(modelAt(server.url)));
    expect(usage).toEqual({ input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 });
  });

  it('keeps invalid tool input as text', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"town":"Ro' } };
    const server = await serverWith([chatChunk({ tool_calls: [call] }), chatChunk({}, 'tool_calls', chatUsage)]);
    const { content } = responseIn(await outputsOf(modelAt(server.url), requestFor({ tools: [weather] })));
    expect(content).toEqual([{ type: 'tool-call', toolCallId: 'call_1', toolName: 'weather', input: '{"town":"Ro' }]);
  });

  it('treats missing tool input as an empty object', async () => {
    const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'now', arguments: '' } };
    const server = await serverWith([chatChunk({ tool_calls: [call] }), chatChunk({}, 'tool_calls', chatUsage)]);
    const { content } = responseIn(
      await outputsOf(modelAt(server.url), requestFor({ tools: [{ ...weather, name: 'now' }] })),
    );
    expect(content).toEqual([{ type: 'tool-call', toolCallId: 'call_1', toolName: 'now', input: {} }]);
  });

  it('omits cache breakpoints from the body', async () => {
    const server = await serverWith([chatChunk({ content: 'Yes.' }), chatChunk({}, 'stop', chatUsage)]);
    await outputsOf(
      modelAt(server.url),
      requestFor({ system: [{ text: 'Be brief.', cache: {} }], cacheMessages: { ttl: '1h' } }),
    );
    expect(server.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'hello' },
    ]);
  });

  it('sends tool results of every kind, and one message for each call', async () => {
    const server = await serverWith([chatChunk({ content: 'Yes.' }), chatChunk({}, 'stop', chatUsage)]);
    const call = (toolCallId: string) =>
      ({ type: 'tool-call', toolCallId, toolName: 'weather', input: { town: toolCallId } }) as const;
    const result = { type: 'tool-result', toolName: 'weather' } as const;
    const messages = MessageList.of([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [call('a'), call('b'), call('c'), call('d')] },
      { role: 'tool', content: [{ ...result, toolCallId: 'a', output: { type: 'text', value: 'sun' } }] },
      {
        role: 'tool',
        content: [
          { ...result, toolCallId: 'b', output: { type: 'json', value: { sky: 'blue' } } },
          { ...result, toolCallId: 'c', output: { type: 'error-text', value: 'No such town.' } },
          { ...result, toolCallId: 'd', output: { type: 'execution-denied', reason: 'Not today.' } },
        ],
      },
    ]);
    await outputsOf(modelAt(server.url), requestFor({ messages, tools: [weather] }));
    const sent = server.requests.flatMap(({ body }) => body['messages'] as { role: string }[]);
    expect(sent.filter(({ role }) => role === 'tool')).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'sun' },
      { role: 'tool', tool_call_id: 'b', content: '{"sky":"blue"}' },
      { role: 'tool', tool_call_id: 'c', content: '{"error":"No such town."}' },
      { role: 'tool', tool_call_id: 'd', content: expect.stringContaining('Not today.') as string },
    ]);
  });
});

const reasoningItem = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'ZW5jcnlwdGVk' };
const callItem = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: '{"town":"Rome"}',
  status: 'completed',
};
const responsesUsage = {
  input_tokens: 1_000,
  input_tokens_details: { cached_tokens: 900 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 45 },
};
const responsesEvents = (end: Record<string, unknown> = {}) => [
  { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-test' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoningItem, encrypted_content: null } },
  { type: 'response.reasoning_summary_part.added', item_id: 'rs_1', summary_index: 0 },
  { type: 'response.reasoning_summary_text.delta', item_id: 'rs_1', summary_index: 0, delta: 'Rome it is.' },
  { type: 'response.output_item.done', output_index: 0, item: reasoningItem },
  { type: 'response.output_item.added', output_index: 1, item: { ...callItem, arguments: '', status: 'in_progress' } },
  { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 1, delta: '{"town":"Rome"}' },
  { type: 'response.output_item.done', output_index: 1, item: callItem },
  { type: 'response.completed', response: { usage: responsesUsage }, ...end },
];

describe('languageModel with OpenAI responses on the wire', () => {
  const modelAt = (url: string) => languageModel(openaiAt(url).responses('gpt-5'));
  const settings = {
    reasoning: 'low',
    providerOptions: { openai: { store: false, include: ['reasoning.encrypted_content'] } },
  } as const;

  const historyAfter = ({ content }: ModelResponse) =>
    MessageList.of([
      { role: 'user', content: 'hello' },
      { role: 'assistant', content },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'call_1', toolName: 'weather', output: { type: 'text', value: 'sun' } },
        ],
      },
    ]);

  it('sends encrypted reasoning and item ids', async () => {
    const server = await serverWith(responsesEvents());
    const first = responseIn(await outputsOf(modelAt(server.url), requestFor({ tools: [weather], settings })));
    await outputsOf(modelAt(server.url), requestFor({ tools: [weather], settings, messages: historyAfter(first) }));
    expect(server.requests[0]?.body).toMatchObject({ reasoning: { effort: 'low' }, store: false });
    expect(server.requests[1]?.body['input']).toMatchObject([
      { role: 'user' },
      {
        type: 'reasoning',
        encrypted_content: 'ZW5jcnlwdGVk',
        summary: [{ type: 'summary_text', text: 'Rome it is.' }],
      },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"town":"Rome"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'sun' },
    ]);
  });

  it('includes cached tokens in the input and reasoning in the output once', async () => {
    const server = await serverWith(responsesEvents());
    const { usage, finishReason } = responseIn(await outputsOf(modelAt(server.url), requestFor({ tools: [weather] })));
    expect(usage).toEqual({ input: 1_000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 45 });
    expect(finishReason).toBe('tool-calls');
  });

  it('reports an answer that reached the output limit', async () => {
    const server = await serverWith([
      { type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-test' } },
      { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg_1', phase: null } },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'Once upon a' },
      { type: 'response.output_item.done', output_index: 0, item: { type: 'message', id: 'msg_1', phase: null } },
      {
        type: 'response.incomplete',
        response: { incomplete_details: { reason: 'max_output_tokens' }, usage: responsesUsage },
      },
    ]);
    expect(responseIn(await outputsOf(modelAt(server.url))).finishReason).toBe('length');
  });
});
