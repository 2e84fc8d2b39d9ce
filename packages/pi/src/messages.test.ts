import { convertHistory } from '@h/bridge';
// oxlint-disable-next-line h/package-imports -- a test of the format with the function that it is for
import { compact } from '@h/compaction';
import { ModelServer } from '@h/bridge/testing';
import { repairHistory, type FileData } from '@h/turn';
import { normalizeContext, type AssistantMessage, type Message, type ToolResultMessage } from '@earendil-works/pi-ai';
import { streamSimple as streamAnthropic } from '@earendil-works/pi-ai/api/anthropic-messages';
import { streamSimple as streamCompletions } from '@earendil-works/pi-ai/api/openai-completions';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { noUsageOfPi, outputOf, piMessages } from './messages.js';

const repair = convertHistory(piMessages, repairHistory);
const timestamp = fc.nat();
const text = fc.string({ minLength: 1 });
const textBlock = fc.record(
  { type: fc.constant('text' as const), text, textSignature: fc.string() },
  { requiredKeys: ['type', 'text'] },
);
const image = fc.record({
  type: fc.constant('image' as const),
  data: fc.base64String(),
  mimeType: fc.constantFrom('image/png', 'image/jpeg'),
});
const callId = fc.constantFrom('1', '2', '3');
const block = fc.oneof(
  textBlock,
  fc.record(
    {
      type: fc.constant('thinking' as const),
      thinking: fc.string(),
      thinkingSignature: fc.string(),
      redacted: fc.boolean(),
    },
    { requiredKeys: ['type', 'thinking'] },
  ),
  fc.record(
    {
      type: fc.constant('toolCall' as const),
      id: callId,
      name: fc.constantFrom('read', 'list'),
      arguments: fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())),
      thoughtSignature: fc.string(),
      namespace: fc.string(),
    },
    { requiredKeys: ['type', 'id', 'name', 'arguments'] },
  ),
);
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    role: fc.constant('user' as const),
    content: fc.oneof(text, fc.array(fc.oneof(textBlock, image), { minLength: 1 })),
    timestamp,
  }),
  fc.record(
    {
      role: fc.constant('assistant' as const),
      content: fc.array(block, { minLength: 1 }),
      api: fc.constant('openai-completions'),
      provider: fc.string(),
      model: fc.string(),
      responseId: fc.string(),
      usage: fc.constant(noUsageOfPi),
      stopReason: fc.constantFrom('stop' as const, 'toolUse' as const, 'length' as const),
      timestamp,
    },
    { requiredKeys: ['role', 'content', 'api', 'provider', 'model', 'usage', 'stopReason', 'timestamp'] },
  ),
  fc.record(
    {
      role: fc.constant('toolResult' as const),
      toolCallId: callId,
      toolName: fc.constantFrom('read', 'list'),
      content: fc.array(fc.oneof(textBlock, image)),
      details: fc.jsonValue().map((value) => value as never),
      isError: fc.boolean(),
      timestamp,
    },
    { requiredKeys: ['role', 'toolCallId', 'toolName', 'content', 'isError', 'timestamp'] },
  ),
  fc.record(
    {
      role: fc.constant('system' as const),
      content: fc.oneof(text, fc.array(textBlock, { minLength: 1 })),
      sections: fc.dictionary(fc.string({ minLength: 1 }), fc.option(fc.string(), { nil: null })),
      timestamp,
    },
    { requiredKeys: ['role', 'content', 'timestamp'] },
  ),
);

/** Returns the ids of calls without exactly one result right after their answer, and of results without a call. */
const unpaired = (messages: readonly Message[]): readonly string[] => {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const one of messages) {
    if (one.role === 'toolResult') {
      if (!open.delete(one.toolCallId)) wrong.push(one.toolCallId);
      continue;
    }
    wrong.push(...open);
    open.clear();
    if (one.role !== 'assistant') continue;
    for (const part of one.content) if (part.type === 'toolCall') open.add(part.id);
  }
  return [...wrong, ...open];
};

describe('piMessages', () => {
  it('restores each message from its conversion', () => {
    fc.assert(
      fc.property(message, (one) => {
        expect(piMessages.write(piMessages.read(one))).toEqual([one]);
      }),
    );
  });

  it('does not restore blocks of a result whose text was changed', () => {
    const content = [
      { type: 'text' as const, text: 'The key is' },
      { type: 'text' as const, text: 'sk-123' },
    ];
    const read = piMessages.read({
      role: 'toolResult',
      toolCallId: '1',
      toolName: 'read',
      content,
      isError: true,
      timestamp: 0,
    });
    const redacted = JSON.parse(JSON.stringify(read).replace('is\\nsk-123', 'is hidden')) as typeof read;
    expect(JSON.stringify(piMessages.write(redacted)[0])).not.toContain('sk-123');
  });

  it('rejects a message of an app and names the conversion', () => {
    const history = [{ role: 'user', content: 'Hi', timestamp: 0 }, { role: 'bashExecution' }] as readonly Message[];
    expect(() => repair(history)).toThrow(/index 1 .*"bashExecution".*convertToLlm/);
    expect(() => repairHistory(history as never)).toThrow(/index 1 .*convertHistory/);
  });
});

describe('convertHistory with piMessages', () => {
  it('pairs calls and results, and returns a valid history byte for byte', () => {
    fc.assert(
      fc.property(fc.array(message), (history) => {
        const repaired = repair(history);
        expect(unpaired(repaired.messages)).toEqual([]);
        const again = repair(repaired.messages);
        expect(again.repairs).toEqual([]);
        expect(JSON.stringify(again.messages)).toBe(JSON.stringify(repaired.messages));
        expect(again.messages.every((one, index) => one === repaired.messages[index])).toBe(true);
      }),
    );
  });

  it('compacts a transcript, and preserves what no strategy changed by identity', async () => {
    const answer = (id: string): Message => ({
      role: 'assistant',
      api: 'openai-completions',
      provider: 'test',
      model: 'gpt-4o',
      stopReason: 'toolUse',
      content: [{ type: 'toolCall', id, name: 'read', arguments: { path: 'a.txt' } }],
      usage: noUsageOfPi,
      timestamp: 1,
    });
    const result = (toolCallId: string): Message => ({
      role: 'toolResult',
      toolCallId,
      toolName: 'read',
      isError: false,
      timestamp: 2,
      content: [{ type: 'text', text: 'A line of a long file. '.repeat(200) }],
    });
    const history: readonly Message[] = [
      { role: 'user', content: 'Look.', timestamp: 0 },
      ...Array.from({ length: 20 }, (_, index) => [answer(`c${index}`), result(`c${index}`)]).flat(),
      { role: 'user', content: 'And?', timestamp: 3 },
    ];
    const options = { window: 8000, reserve: 1000, protectTokens: 500, strategy: 'clear-tool-results' as const };
    const { messages, done } = await convertHistory(piMessages, compact)(history, options);
    expect(done?.strategies).toEqual(['clear-tool-results']);
    expect(messages).toHaveLength(history.length);
    expect(unpaired(messages)).toEqual([]);
    const changed = messages.filter((one, index) => one !== history[index]);
    expect(changed.length).toBeGreaterThan(10);
    expect(changed.every(({ role, timestamp: at }) => role === 'toolResult' && at === 2)).toBe(true);
  });

  it.each([
    ['openai-completions', '/v1', streamCompletions],
    ['anthropic-messages', '', streamAnthropic],
  ] as const)('returns histories that %s of pi sends with the same pairs', async (api, path, streamSimple) => {
    const server = new ModelServer();
    await server.start();
    onTestFinished(() => server.stop());
    const model = {
      id: 'gpt-4o',
      name: 'test',
      api,
      provider: 'test',
      baseUrl: `${server.url}${path}`,
      reasoning: false,
      input: ['text' as const],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 1000,
      maxTokens: 100,
    };
    const histories = fc.sample(fc.array(message, { minLength: 2, maxLength: 12 }), { numRuns: 12, seed: 7 });
    for (const history of histories) {
      server.begin([{ text: 'Fine.' }]);
      const { messages } = repair(history);
      const context = normalizeContext({ messages: [...messages, { role: 'user', content: 'Go on.', timestamp: 0 }] });
      const answer: AssistantMessage = await streamSimple(model as never, context, { apiKey: 'test' }).result();
      expect(answer).toMatchObject({ stopReason: 'stop' });
      const sent = server.requests[0]?.body ?? '';
      expect(sent.split('No result provided')).toHaveLength(1);
    }
  });
});

it('writes an image of any shape, and refuses a URL', () => {
  const write = (data: FileData) =>
    piMessages.write({ role: 'user', content: [{ type: 'file', data, mediaType: 'image/png' }] });
  expect(write({ type: 'data', data: new Uint8Array([104, 105]) })).toMatchObject([
    { content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] },
  ]);
  expect(() => write('https://example.com/a.png')).toThrow('neither bytes nor base64 text');
});

it.each([
  [7, '7'],
  [10n, '10'],
  [undefined, 'undefined'],
])('reads the text %s of a result, which a tool without types returned', (given, value) => {
  const content = [{ type: 'text', text: given }] as unknown as ToolResultMessage['content'];
  expect(outputOf({ content, isError: false })).toEqual({ type: 'text', value });
  expect(outputOf({ content, isError: true })).toMatchObject({ type: 'error-text', value });
});
