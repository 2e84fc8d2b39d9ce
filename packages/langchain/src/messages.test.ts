import { convertHistory } from '@h/bridge';
import { ModelServer } from '@h/bridge/testing';
import { repairHistory, type FileData } from '@h/turn';
import {
  AIMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
  type ContentBlock,
} from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { langchainMessages } from './messages.js';

const repair = convertHistory(langchainMessages, repairHistory);
const text = fc.string({ minLength: 1 });
const callId = fc.constantFrom('1', '2', '3');
const toolCall = fc.record({
  type: fc.constant('tool_call' as const),
  id: callId,
  name: fc.constantFrom('read', 'list'),
  args: fc.dictionary(fc.string(), fc.string()),
});
const message: fc.Arbitrary<BaseMessage> = fc.oneof(
  text.map((content) => new HumanMessage(content)),
  text.map((content) => new SystemMessage(content)),
  fc
    .record({ content: text, tool_calls: fc.array(toolCall, { maxLength: 3 }), id: fc.string() })
    .map((fields) => new AIMessage(fields)),
  fc
    .record({ tool_call_id: callId, name: fc.constantFrom('read', 'list'), content: text, artifact: fc.jsonValue() })
    .map((fields) => new ToolMessage(fields)),
);

/** Returns the ids of calls without exactly one result right after their answer, and of results without a call. */
const unpaired = (messages: readonly BaseMessage[]): readonly string[] => {
  const open = new Set<string>();
  const wrong: string[] = [];
  for (const one of messages) {
    if (ToolMessage.isInstance(one)) {
      if (!open.delete(one.tool_call_id)) wrong.push(one.tool_call_id);
      continue;
    }
    wrong.push(...open);
    open.clear();
    if (AIMessage.isInstance(one)) for (const { id = '' } of one.tool_calls ?? []) open.add(id);
  }
  return [...wrong, ...open];
};

describe('convertHistory with langchainMessages', () => {
  it('pairs calls and results, and returns a valid history byte for byte', () => {
    fc.assert(
      fc.property(fc.array(message), (history) => {
        const { messages } = repair(history);
        expect(unpaired(messages)).toEqual([]);
        const again = repair(messages);
        expect(again.repairs).toEqual([]);
        expect(again.messages.every((one, index) => one === messages[index])).toBe(true);
      }),
    );
  });

  it('restores the blocks of an answer that gets another call id', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'abc' },
      { type: 'text', text: 'Again.' },
    ] as unknown as ContentBlock[];
    const asks = (id: string) =>
      new AIMessage({ content, tool_calls: [{ type: 'tool_call', id, name: 'read', args: { path: 'a' } }] });
    const result = () => new ToolMessage({ tool_call_id: '1', name: 'read', content: 'text' });
    const { messages, repairs } = repair([asks('1'), result(), asks('1'), result()]);
    expect(repairs).toMatchObject([{ problem: 'duplicate-call-id', index: 2, toolCallId: '1' }]);
    expect(messages[2]?.content).toEqual(content);
    expect(unpaired(messages)).toEqual([]);
  });

  it('refuses what is not a message of LangChain, and repairHistory alone refuses its messages', () => {
    const history = [new HumanMessage('Hi'), { role: 'assistant', content: 'Hello' }] as readonly BaseMessage[];
    expect(() => repair(history)).toThrow(/index 1 .*not a message of LangChain/);
    expect(() => repairHistory([new AIMessage('Hello')] as never)).toThrow(/index 0 .*convertHistory/);
  });

  it('returns histories that ChatOpenAI sends as they are', async () => {
    const server = new ModelServer();
    await server.start();
    onTestFinished(() => server.stop());
    const model = new ChatOpenAI({
      model: 'gpt-4o',
      apiKey: 'test',
      maxRetries: 0,
      configuration: { baseURL: `${server.url}/v1` },
    });
    for (const history of fc.sample(fc.array(message, { minLength: 2, maxLength: 12 }), { numRuns: 10, seed: 7 })) {
      server.begin([{ text: 'Fine.' }]);
      const { messages } = repair(history);
      await model.invoke([...messages, new HumanMessage('Go on.')]);
      const sent = JSON.parse(server.requests[0]?.body ?? '{}') as {
        readonly messages: readonly { readonly role: string }[];
      };
      expect(sent.messages).toHaveLength(messages.length + 1);
    }
  });
});

it.each<[FileData, object]>([
  [
    { type: 'data', data: new Uint8Array([104, 105]) },
    { type: 'image', data: 'aGk=' },
  ],
  ['https://example.com/a.png', { type: 'image', url: 'https://example.com/a.png' }],
])('writes the file %j of an operator', (data, block) => {
  const content = [{ type: 'file' as const, data, mediaType: 'image/png' }];
  const [written] = langchainMessages.write({ role: 'user', content });
  expect(written?.content).toEqual([{ ...block, mimeType: 'image/png' }]);
});

it('refuses the id of a file at a provider', () => {
  const content = [{ type: 'file' as const, data: { openai: 'file-1' }, mediaType: 'image/png' }];
  expect(() => langchainMessages.write({ role: 'user', content })).toThrow('neither bytes, base64 nor a URL');
});

const png = 'data:image/png;base64,aGk=';
const file = (data: string | URL, mediaType: string): object => ({ type: 'file', data, mediaType });

it.each<[object, object]>([
  [
    { type: 'text', text: 'Hi' },
    { type: 'text', text: 'Hi' },
  ],
  [{ type: 'image_url', image_url: 'https://a.example/a.png' }, file(new URL('https://a.example/a.png'), 'image/*')],
  [{ type: 'image_url', image_url: { url: png } }, file(new URL(png), 'image/*')],
  [{ type: 'image', url: png, mimeType: 'image/png' }, file(new URL(png), 'image/png')],
  [{ type: 'image', data: 'aGk=', mime_type: 'image/png' }, file('aGk=', 'image/png')],
  [{ type: 'file', data: 'aGk=' }, file('aGk=', 'application/octet-stream')],
  [{ type: 'audio', data: 'aGk=', mimeType: 'audio/wav' }, file('aGk=', 'audio/wav')],
  [
    { type: 'video', url: 'https://a.example/v', mimeType: 'video/mp4' },
    file(new URL('https://a.example/v'), 'video/mp4'),
  ],
  // Blocks without an equivalent, and broken ones, whose error is that of the model.
  [
    { type: 'video', url: 'no address' },
    { type: 'text', text: '[video]' },
  ],
  [
    { type: 'image_url', image_url: { url: 'no address' } },
    { type: 'text', text: '[image_url]' },
  ],
  [{ type: 'image_url' }, { type: 'text', text: '[image_url]' }],
  [
    { type: 'custom_block', data: 'aGk=' },
    { type: 'text', text: '[custom_block]' },
  ],
])('reads the block %j of a user', (block, part) => {
  const message = new HumanMessage({ content: [block as ContentBlock] });
  expect(langchainMessages.read(message)).toEqual({ role: 'user', content: [part] });
});
