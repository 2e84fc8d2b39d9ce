import type { LLMock } from '@copilotkit/aimock';
import { harness, MessageList, reply, type ModelDriver } from '@h/turn';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { lastValueFrom, toArray } from 'rxjs';
import { expectTypeOf, describe, expect, it } from 'vitest';
import { deltasIn, outputsOf, requestFor, responseIn, streamedText, weather } from '../test/calls.js';
import { anthropicAt, openaiAt, startMock } from '../test/servers.js';
import { languageModel } from './language-model.js';

const models: readonly (readonly [string, (url: string) => LanguageModelV4])[] = [
  ['Anthropic', (url) => anthropicAt(url)('claude-sonnet-4-5')],
  ['OpenAI chat', (url) => openaiAt(url).chat('gpt-4o')],
  ['OpenAI responses', (url) => openaiAt(url).responses('gpt-5')],
];

const romeCall = { name: 'weather', arguments: '{"town":"Rome"}', id: 'call_rome' };
const osloCall = { name: 'weather', arguments: '{"town":"Oslo"}', id: 'call_oslo' };

/** The messages of the last request, as aimock understood them. */
const messagesOf = (mock: LLMock): { role: string; content: string }[] => {
  const [last] = mock.getRequests().slice(-1);
  return (last as unknown as { body: { messages: { role: string; content: string }[] } }).body.messages;
};

describe.each(models)('languageModel with %s', (_, modelAt) => {
  it('streams text and ends with the complete text', async () => {
    const mock = await startMock({ chunkSize: 5 });
    mock.onMessage('hello', { content: 'Good morning to you.', usage: { prompt_tokens: 12, completion_tokens: 7 } });
    const outputs = await outputsOf(languageModel(modelAt(mock.url)));
    expect(deltasIn(outputs).length).toBeGreaterThan(2);
    expect(streamedText(outputs)).toBe('Good morning to you.');
    const { content, finishReason, usage, id, model } = responseIn(outputs);
    expect(content).toMatchObject([{ type: 'text', text: 'Good morning to you.' }]);
    expect(finishReason).toBe('stop');
    expect(usage).toEqual({ input: 12, cacheRead: 0, cacheWrite: 0, output: 7, reasoning: 0 });
    expect(id).toMatch(/\w/);
    expect(model).toMatch(/claude|gpt/);
  });

  it('streams the input of a tool call and returns the parsed call', async () => {
    const mock = await startMock({ chunkSize: 4 });
    mock.onMessage('hello', { toolCalls: [romeCall] });
    const outputs = await outputsOf(languageModel(modelAt(mock.url)), requestFor({ tools: [weather] }));
    expect(streamedText(outputs, 'tool-input')).toBe('{"town":"Rome"}');
    expect(deltasIn(outputs).at(0)).toMatchObject({ type: 'tool-input', toolCallId: 'call_rome', toolName: 'weather' });
    const { content, finishReason } = responseIn(outputs);
    expect(content).toMatchObject([
      { type: 'tool-call', toolCallId: 'call_rome', toolName: 'weather', input: { town: 'Rome' } },
    ]);
    expect(finishReason).toBe('tool-calls');
  });

  it('returns text and parallel calls in the order of the message', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'I look both up.', toolCalls: [romeCall, osloCall] });
    const { content } = responseIn(await outputsOf(languageModel(modelAt(mock.url)), requestFor({ tools: [weather] })));
    expect(content).toMatchObject([
      { type: 'text', text: 'I look both up.' },
      { type: 'tool-call', toolCallId: 'call_rome', input: { town: 'Rome' } },
      { type: 'tool-call', toolCallId: 'call_oslo', input: { town: 'Oslo' } },
    ]);
  });

  it('waits for a late first byte', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Sorry for the wait.' }, { streamingProfile: { ttft: 400, tps: 1_000 } });
    expect(streamedText(await outputsOf(languageModel(modelAt(mock.url))))).toBe('Sorry for the wait.');
  });

  it('ends a turn with the error of the model, after one request', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
    const agent = harness({ model: languageModel(modelAt(mock.url)) }).pipe();
    const events = await lastValueFrom(agent.turn({ session: 'alice', input: 'hello' }).pipe(toArray()));
    const error = {
      status: 529,
      code: 'overloaded_error',
      message: 'Overloaded',
      body: { error: { type: 'overloaded_error' } },
    };
    expect(events.find(({ type }) => type === 'model.error')).toMatchObject({ error });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'error', error });
    expect(mock.getRequests()).toHaveLength(1);
  });

  it('runs a complete turn with tool calls', async () => {
    const mock = await startMock();
    mock.on({ userMessage: /weather/, hasToolResult: false }, { toolCalls: [romeCall, osloCall] });
    mock.on({ hasToolResult: true }, { content: 'Sun in Rome, rain in Oslo.' });
    const agent = harness({
      model: languageModel(modelAt(mock.url)),
      tools: {
        definitions: () => [weather],
        run: (calls) =>
          calls.map(({ id, input }) => ({
            type: 'result',
            id,
            outcome: {
              status: 'ok',
              output: { type: 'text', value: (input as { town: string }).town === 'Rome' ? 'sun' : 'rain' },
            },
          })),
      },
    }).pipe();
    const { text, outcome } = await reply(agent.turn({ session: 'alice', input: 'How is the weather?' }));
    expect({ text, outcome }).toEqual({ text: 'Sun in Rome, rain in Oslo.', outcome: 'completed' });
    const results = messagesOf(mock).filter(({ role }) => role === 'tool');
    expect(results.map(({ content }) => content)).toEqual(['sun', 'rain']);
  });
});

describe('languageModel', () => {
  it('returns the reasoning of a model', async () => {
    const mock = await startMock({ chunkSize: 6 });
    mock.onMessage('hello', { content: 'Four.', reasoning: 'Two and two make four.' });
    for (const model of [anthropicAt(mock.url)('claude-sonnet-4-5'), openaiAt(mock.url).responses('gpt-5')]) {
      const outputs = await outputsOf(languageModel(model));
      expect(streamedText(outputs, 'reasoning')).toBe('Two and two make four.');
      expect(responseIn(outputs).content).toMatchObject([
        { type: 'reasoning', text: 'Two and two make four.' },
        { type: 'text', text: 'Four.' },
      ]);
    }
  });

  it('resolves the model by name and credential for every call', async () => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Here.' });
    const asked: (readonly [string | undefined, string | undefined])[] = [];
    const driver = languageModel({
      resolve: async (name = 'gpt-4o', credential) => {
        asked.push([name, credential]);
        return openaiAt(mock.url).chat(name);
      },
    });
    responseIn(await outputsOf(driver, requestFor({ model: 'gpt-4o-mini', credential: 'spare' })));
    responseIn(await outputsOf(driver));
    expect(asked).toEqual([
      ['gpt-4o-mini', 'spare'],
      ['gpt-4o', undefined],
    ]);
    expect(mock.getRequests().map(({ body }) => (body as { model: string }).model)).toEqual(['gpt-4o-mini', 'gpt-4o']);
  });

  it.each(['anthropic', 'openai'])('reports an answer of %s that reached the output limit', async (name) => {
    const mock = await startMock();
    mock.onMessage('hello', { content: 'Once upon a', finishReason: 'length' });
    const model = name === 'anthropic' ? anthropicAt(mock.url)('claude-sonnet-4-5') : openaiAt(mock.url).chat('gpt-4o');
    expect(responseIn(await outputsOf(languageModel(model))).finishReason).toBe('length');
  });

  it('sends the tail after the history, without metadata', async () => {
    const mock = await startMock();
    mock.onMessage(/noon/, { content: 'Noted.' });
    await outputsOf(
      languageModel(openaiAt(mock.url).chat('gpt-4o')),
      requestFor({
        system: [{ text: 'Be brief.' }, { text: 'Be kind.' }],
        messages: MessageList.of([{ role: 'user', content: 'hello', metadata: { internal: true, kind: 'bootstrap' } }]),
        tail: [{ role: 'user', content: 'It is noon.', metadata: { internal: true } }],
      }),
    );
    expect(messagesOf(mock)).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hello' },
      { role: 'user', content: 'It is noon.' },
    ]);
  });

  it('is a model driver', () => {
    expectTypeOf(languageModel).returns.toEqualTypeOf<ModelDriver>();
  });
});
