import { MessageList, type Message } from '@h/turn';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPrompt } from './prompt.js';

const promptOf = (messages: readonly Message[], more: Partial<Parameters<typeof toPrompt>[0]> = {}) =>
  toPrompt({ system: [], messages: MessageList.of(messages), tail: [], ...more }, 'anthropic');

const hello: Message = { role: 'user', content: 'hello' };
const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'weather', input: { town: 'Rome' } } as const;
const result = {
  type: 'tool-result',
  toolCallId: 'c1',
  toolName: 'weather',
  output: { type: 'text', value: 'sun' },
} as const;

describe('toPrompt', () => {
  it('orders system blocks, history and tail', () => {
    const prompt = promptOf([hello], {
      system: [{ text: 'Be brief.' }, { text: '' }, { text: 'Be kind.' }],
      tail: [{ role: 'user', content: 'It is noon.' }],
    });
    expect(prompt).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { role: 'user', content: [{ type: 'text', text: 'It is noon.' }] },
    ]);
  });

  it('adds cache breakpoints for Anthropic and Bedrock', () => {
    expect(
      promptOf([hello], { system: [{ text: 'Be brief.', cache: { ttl: '1h' } }], cacheMessages: {} }),
    ).toMatchObject([
      {
        role: 'system',
        providerOptions: {
          anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } },
          bedrock: { cachePoint: { type: 'default', ttl: '1h' } },
        },
      },
      {
        role: 'user',
        providerOptions: {
          anthropic: { cacheControl: { type: 'ephemeral' } },
          bedrock: { cachePoint: { type: 'default' } },
        },
      },
    ]);
  });

  it('preserves cache options of messages', () => {
    const own = { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' }, other: true } };
    expect(
      promptOf([{ ...hello, providerOptions: own }], { cacheMessages: { ttl: '5m' } })[0]?.providerOptions,
    ).toMatchObject(own);
  });

  it('adds no history breakpoint if the history is empty', () => {
    const prompt = promptOf([], { system: [{ text: 'Be brief.' }], tail: [hello], cacheMessages: {} });
    expect(JSON.stringify(prompt)).not.toContain('cacheControl');
  });

  it('omits metadata', () => {
    const metadata = { internal: true, kind: 'summary' };
    const messages: Message[] = [
      { role: 'system', content: 'S', metadata },
      { role: 'user', content: 'U', metadata },
      { role: 'assistant', content: 'A', metadata },
      { role: 'tool', content: [result], metadata },
    ];
    expect(JSON.stringify(promptOf(messages))).not.toContain('metadata');
  });

  it('omits empty text and empty messages', () => {
    const prompt = promptOf([
      hello,
      { role: 'assistant', content: [{ type: 'text', text: '' }] },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: [{ type: 'text', text: '', providerOptions: { openai: { itemId: 'm1' } } }, call] },
    ]);
    expect(prompt).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      { role: 'assistant', content: [{ type: 'text', text: '', providerOptions: { openai: { itemId: 'm1' } } }, call] },
    ]);
  });

  it('joins adjacent tool messages, and moves their options to the last part', () => {
    const mark = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    const second = { ...result, toolCallId: 'c2' };
    const prompt = promptOf([
      { role: 'tool', content: [result], providerOptions: mark },
      { role: 'tool', content: [second], providerOptions: { other: { a: 1 } } },
    ]);
    expect(prompt).toEqual([
      { role: 'tool', content: [{ ...result, providerOptions: mark }, second], providerOptions: { other: { a: 1 } } },
    ]);
  });

  it.each(['a text', null, 7, ['a'], undefined])(
    'replaces the call input %j, which providers reject, by an empty object',
    (input) => {
      expect(promptOf([{ role: 'assistant', content: [{ ...call, input }] }])).toEqual([
        { role: 'assistant', content: [{ ...call, input: {} }] },
      ]);
    },
  );

  it('preserves the input of calls that the provider ran', () => {
    const own = { ...call, input: 'print(1)', providerExecuted: true };
    expect(promptOf([{ role: 'assistant', content: [own] }])).toEqual([{ role: 'assistant', content: [own] }]);
  });

  it('sends every kind of part that providers accept', () => {
    const options = { providerOptions: { anthropic: { signature: 's' } } };
    const content = [
      { type: 'reasoning', text: 'Hm.', ...options },
      { type: 'reasoning-file', data: 'AQID', mediaType: 'image/png', ...options },
      { type: 'custom', kind: 'openai.compaction', ...options },
      { type: 'file', data: { type: 'data', data: 'AQID' }, mediaType: 'image/png', filename: 'a.png', ...options },
      { ...call, ...options },
      { ...result, ...options },
    ] as const;
    expect(promptOf([{ role: 'assistant', content, ...options }])).toEqual([
      {
        role: 'assistant',
        content: content.with(1, { ...content[1], data: { type: 'data', data: 'AQID' } } as never),
        ...options,
      },
    ]);
  });

  it('sends approval answers only for calls that the provider runs', () => {
    const request = (approvalId: string, toolCallId: string) =>
      ({ type: 'tool-approval-request', approvalId, toolCallId }) as const;
    const answer = (approvalId: string) =>
      ({ type: 'tool-approval-response', approvalId, approved: true, reason: 'Fine.' }) as const;
    const prompt = promptOf([
      {
        role: 'assistant',
        content: [
          call,
          { ...call, toolCallId: 'p1', providerExecuted: true },
          request('a1', 'c1'),
          request('a2', 'p1'),
        ],
      },
      { role: 'tool', content: [answer('a1'), answer('a2'), answer('a3')] },
    ]);
    expect(prompt).toEqual([
      { role: 'assistant', content: [call, { ...call, toolCallId: 'p1', providerExecuted: true }] },
      { role: 'tool', content: [answer('a2')] },
    ]);
  });

  it('reports the position of an invalid message', () => {
    const odd = {
      role: 'user',
      content: [{ type: 'file', data: { type: 'nonsense' }, mediaType: 'image/png' }],
    } as never;
    expect(() => promptOf([hello, odd])).toThrow(/messages\[1\].*"nonsense"/);
    expect(() => promptOf([], { tail: [odd] })).toThrow(/tail\[0\]/);
    expect(() => promptOf([{ role: 'developer', content: 'x' } as never])).toThrow(/messages\[0\].*"developer"/);
    expect(() =>
      promptOf([
        { role: 'assistant', content: [{ type: 'reasoning-file', data: { openai: 'f1' }, mediaType: 'image/png' }] },
      ]),
    ).toThrow(/reasoning-file/);
  });

  const options = fc.option(fc.constant({ anthropic: { a: 1 } }), { nil: undefined });
  const withOptions = <Part extends object>(part: fc.Arbitrary<Part>) =>
    fc
      .tuple(part, options)
      .map(([inner, providerOptions]) => ({ ...inner, ...(providerOptions && { providerOptions }) }));
  const textPart = withOptions(fc.record({ type: fc.constant('text' as const), text: fc.string() }));
  const filePart = withOptions(
    fc.record({
      type: fc.constant('file' as const),
      data: fc.oneof(
        fc.base64String(),
        fc.uint8Array(),
        fc.webUrl(),
        fc.webUrl().map((url) => new URL(url)),
      ),
      mediaType: fc.constant('image/png'),
    }),
  );
  const callPart = withOptions(
    fc.record({
      type: fc.constant('tool-call' as const),
      toolCallId: fc.string(),
      toolName: fc.string(),
      input: fc.jsonValue(),
    }),
  );
  const message: fc.Arbitrary<Message> = fc.oneof(
    fc.record({
      role: fc.constant('user' as const),
      content: fc.oneof(fc.string(), fc.array(fc.oneof(textPart, filePart))),
    }),
    fc.record({
      role: fc.constant('assistant' as const),
      content: fc.oneof(fc.string(), fc.array(fc.oneof(textPart, filePart, callPart))),
    }),
    fc.record({ role: fc.constant('tool' as const), content: fc.array(withOptions(fc.constant(result))) }),
  );

  it('is idempotent and mutates nothing', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), (messages) => {
        const before = structuredCloneOf(messages);
        const prompt = promptOf(messages);
        expect(structuredCloneOf(messages)).toEqual(before);
        expect(promptOf(prompt as readonly Message[])).toEqual(prompt);
      }),
    );
  });
});

/** Replaces URLs, which cannot be cloned, by their strings. */
const structuredCloneOf = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
