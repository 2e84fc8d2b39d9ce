import { MessageList, type AssistantPart, type Message } from '@h/turn';
import { call, request, user } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { createTokenCounter } from './token-counter.js';

const image: Message = {
  role: 'user',
  content: [{ type: 'image', image: new Uint8Array(3_000_000), mediaType: 'image/png' }],
};
const resultOf = (value: string): Message => ({
  role: 'tool',
  content: [{ type: 'tool-result', toolCallId: '1', toolName: 'read', output: { type: 'text', value } }],
});

describe('createTokenCounter', () => {
  it('estimates until the tokenizer of a model is loaded, and counts exactly then', async () => {
    const counter = createTokenCounter();
    const text = 'Count von Count counts counters, uncountably.';
    expect(counter.gauge('gpt-5').name).toBe('estimate');
    const estimated = counter.text(text, 'gpt-5');
    expect(await counter.load('gpt-5')).toBe(true);
    expect(counter.gauge('gpt-5').name).toBe('o200k_base');
    expect(counter.text(text, 'gpt-5')).toBe(10);
    expect(counter.gauge('gpt-5', 'estimate').text(text)).toBe(estimated);
    expect(counter.text('a<|endoftext|>b', 'gpt-5')).toBeGreaterThan(5);
  });

  it('estimates models without a published vocabulary, on the side of too many', async () => {
    const counter = createTokenCounter();
    expect(await counter.load('claude-sonnet-4-5')).toBe(false);
    expect(await counter.load()).toBe(false);
    expect(counter.canLoad('claude-sonnet-4-5')).toBe(false);
    await counter.load('gpt-5');
    const text = 'Some words, and { "json": [1, 2, 3] }. '.repeat(50);
    expect(counter.text(text, 'claude-sonnet-4-5')).toBeGreaterThan(counter.text(text, 'gpt-5'));
  });

  it.each([
    ['gpt-5-mini', 'o200k_base'],
    ['openai/gpt-4o', 'o200k_base'],
    ['o3', 'o200k_base'],
    ['gpt-4-turbo', 'cl100k_base'],
    ['gpt-3.5-turbo', 'cl100k_base'],
  ])('knows that %s uses %s', async (model, encoding) => {
    const counter = createTokenCounter();
    await counter.load(model);
    expect(counter.gauge(model).name).toBe(encoding);
  });

  it('takes a vocabulary from the option encodingOf', async () => {
    const counter = createTokenCounter({ encodingOf: (model) => (model === 'local/llama' ? 'o200k_base' : undefined) });
    expect(await counter.load('gpt-5')).toBe(false);
    expect(await counter.load('local/llama')).toBe(true);
    expect(counter.gauge('local/llama').name).toBe('o200k_base');
  });

  it('counts a message once, by identity', () => {
    const counter = createTokenCounter();
    let reads = 0;
    const message: Message = {
      role: 'user',
      get content() {
        reads += 1;
        return 'Hello there';
      },
    };
    const tokens = counter.message(message);
    const before = reads;
    expect(counter.message(message)).toBe(tokens);
    expect(counter.messages([message, message])).toBe(2 * tokens);
    expect(reads).toBe(before);
  });

  it('counts images by the option imageTokens, whatever their size', () => {
    expect(createTokenCounter().message(image)).toBe(1604);
    expect(createTokenCounter({ imageTokens: 85 }).message(image)).toBe(89);
  });

  it('counts everything that a message can hold', () => {
    const counter = createTokenCounter();
    const content: readonly AssistantPart[] = [
      { type: 'text', text: 'word '.repeat(100) },
      { type: 'reasoning', text: 'word '.repeat(100), providerOptions: { anthropic: { signature: 'x'.repeat(400) } } },
      call('1', 'read', { path: 'word '.repeat(100) }),
      { type: 'file', data: 'x'.repeat(40_000), mediaType: 'application/pdf' },
      { type: 'file', data: { type: 'text', text: 'word '.repeat(100) }, mediaType: 'text/plain' },
      { type: 'custom', kind: 'openai.thing', providerOptions: { openai: { blob: 'x'.repeat(400) } } },
    ];
    for (const part of content) {
      expect(counter.message({ role: 'assistant', content: [part] }), part.type).toBeGreaterThanOrEqual(100);
    }
    const outputs = [
      { type: 'json', value: { text: 'word '.repeat(100) } },
      { type: 'error-text', value: 'word '.repeat(100) },
      { type: 'execution-denied', reason: 'word '.repeat(100) },
      {
        type: 'content',
        value: [
          { type: 'text', text: 'word '.repeat(90) },
          { type: 'image-data', data: 'x', mediaType: 'image/png' },
        ],
      },
      { type: 'content', value: [{ type: 'image-url', url: 'https://example.com/a.png' }] },
      { type: 'content', value: [{ type: 'file-data', data: 'x'.repeat(4_000), mediaType: 'text/csv' }] },
      { type: 'content', value: [{ type: 'custom', providerOptions: { a: { blob: 'x'.repeat(400) } } }] },
      {
        type: 'content',
        value: [{ type: 'file', data: new URL('https://example.com/a.pdf'), mediaType: 'application/pdf' }],
      },
      {
        type: 'content',
        value: [{ type: 'file', data: { type: 'data', data: new Uint8Array(4_000) }, mediaType: 'application/json' }],
      },
      { type: 'content', value: [{ type: 'file', data: 'https://example.com/a.pdf', mediaType: 'application/pdf' }] },
    ] as const;
    for (const output of outputs) {
      const message: Message = {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: '1', toolName: 'read', output }],
      };
      expect(counter.message(message), output.type).toBeGreaterThanOrEqual(100);
    }
  });

  it('counts an input that is no JSON', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(createTokenCounter().message({ role: 'assistant', content: [call('1', 'read', loop)] })).toBeGreaterThan(0);
  });

  it('counts what fills a request by its parts', () => {
    const counter = createTokenCounter();
    const tokens = counter.request(
      request({
        system: [{ text: 'You are helpful.' }],
        tools: [
          {
            name: 'read',
            description: 'Reads a file',
            inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
          },
        ],
        messages: [user('What is here?'), resultOf('a.txt')],
        tail: [user('It is noon.')],
      }),
    );
    const { system, tools, messages, tail, total } = tokens;
    expect(Math.min(system, tools, messages, tail)).toBeGreaterThan(5);
    expect(total).toBe(system + tools + messages + tail);
  });

  it('corrects its counts by the usage that a provider has reported, per model', () => {
    const counter = createTokenCounter();
    const messages = [user('Some words of a long history. '.repeat(200))];
    const counted = counter.request(request({ model: 'a', messages })).total;
    counter.calibration.learn('a', 'estimate', counted, counted * 0.8);
    expect(counter.request(request({ model: 'a', messages })).total).toBeCloseTo(counted * 0.8, -1);
    expect(counter.request(request({ model: 'b', messages })).total).toBe(counted);
  });

  it.each([
    ['a small request', 100, 150],
    ['missing usage', 5000, 0],
    ['usage without the cached tokens', 5000, 12],
    ['usage of something else', 5000, 1e6],
  ])('learns nothing from %s', (_, counted, reported) => {
    const { calibration } = createTokenCounter();
    calibration.learn('a', 'estimate', counted, reported);
    expect(calibration.factor('a', 'estimate')).toBe(1);
  });

  it.each([
    [
      { imageToken: 1 },
      'createTokenCounter(): unknown option "imageToken" (received 1). Did you mean "imageTokens"? Known options: encodingOf, imageTokens.',
    ],
    [{ imageTokens: -1 }, 'createTokenCounter(): "imageTokens" must be a number from 0; received -1.'],
    [{ encodingOf: 'o200k_base' }, 'createTokenCounter(): "encodingOf" must be a function; received "o200k_base".'],
    [null, 'createTokenCounter(): options must be an object; received null.'],
  ])('refuses %j', (options, message) => {
    expect(() => createTokenCounter(options as never)).toThrow(
      expect.objectContaining({ code: 'invalid-option', message }),
    );
  });

  it('counts lists of any length', () => {
    expect(createTokenCounter().messages(MessageList.empty)).toBe(0);
  });
});
