import { MessageList, type ModelResponse } from '@h/turn';
import { from, lastValueFrom, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { contextFor, outputsOf, requestFor, responseIn, streamedText, weather } from '../test/calls.js';
import {
  anthropicAt,
  anthropicBlock,
  anthropicEnd,
  anthropicStart,
  sendAnthropic,
  startServer,
} from '../test/servers.js';
import { languageModel } from './language-model.js';

/** Starts a server that answers every request with these blocks. */
const serverWith = (events: Parameters<typeof sendAnthropic>[1], end = anthropicEnd()) =>
  startServer((response) => {
    sendAnthropic(response, [anthropicStart(), ...events, ...end]);
    response.end();
  });

const modelAt = (url: string) => languageModel(anthropicAt(url)('claude-sonnet-4-5'));

const thinking = [
  ...anthropicBlock(0, { type: 'thinking', thinking: '' }, [
    { type: 'thinking_delta', thinking: 'The town ' },
    { type: 'thinking_delta', thinking: 'is Rome.' },
    { type: 'signature_delta', signature: 'c2lnbmF0dXJl' },
  ]),
  ...anthropicBlock(1, { type: 'redacted_thinking', data: 'aGlkZGVu' }, []),
  ...anthropicBlock(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Let me see.' }]),
  ...anthropicBlock(3, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }, [
    { type: 'input_json_delta', partial_json: '{"town":' },
    { type: 'input_json_delta', partial_json: '"Rome"}' },
  ]),
];

const historyAfter = ({ content }: ModelResponse) =>
  MessageList.of([
    { role: 'user', content: 'hello' },
    { role: 'assistant', content },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'toolu_1', toolName: 'weather', output: { type: 'text', value: 'sun' } },
      ],
    },
  ]);

describe('languageModel with Anthropic on the wire', () => {
  it('sends reasoning with its signature before the tool call that followed the reasoning', async () => {
    const server = await serverWith(thinking, anthropicEnd('tool_use'));
    const first = responseIn(await outputsOf(modelAt(server.url), requestFor({ tools: [weather] })));
    const stored = JSON.parse(JSON.stringify(historyAfter(first))) as ReturnType<MessageList['toArray']>;
    await outputsOf(modelAt(server.url), requestFor({ tools: [weather], messages: MessageList.of(stored) }));
    expect(server.requests[1]?.body['messages']).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hello' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'The town is Rome.', signature: 'c2lnbmF0dXJl' },
          { type: 'redacted_thinking', data: 'aGlkZGVu' },
          { type: 'text', text: 'Let me see.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { town: 'Rome' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'sun' }] },
    ]);
  });

  it('sends cache breakpoints in the system blocks and the history, but not in the tail', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Yes.' }]),
    );
    await outputsOf(
      modelAt(server.url),
      requestFor({
        system: [
          { text: 'Who you are.', cache: { ttl: '1h' } },
          { text: 'What you may do.', cache: {} },
          { text: 'The date.' },
        ],
        messages: MessageList.of([
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'Hi.' },
        ]),
        cacheMessages: { ttl: '5m' },
        tail: [{ role: 'user', content: 'It is noon.' }],
      }),
    );
    expect(server.requests[0]?.body).toMatchObject({
      system: [
        { type: 'text', text: 'Who you are.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'What you may do.', cache_control: { type: 'ephemeral' } },
        { type: 'text', text: 'The date.' },
      ],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'hello' }] },
        {
          role: 'assistant',
          content: [{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral', ttl: '5m' } }],
        },
        { role: 'user', content: [{ type: 'text', text: 'It is noon.' }] },
      ],
    });
    expect(JSON.stringify(server.requests[0]?.body).split('cache_control')).toHaveLength(4);
  });

  it('counts cached tokens once in the input usage', async () => {
    const server = await startServer((response) => {
      const cached = {
        input_tokens: 10,
        cache_read_input_tokens: 300,
        cache_creation_input_tokens: 40,
        output_tokens: 1,
      };
      const end = anthropicEnd('end_turn', {
        ...cached,
        output_tokens: 25,
        output_tokens_details: { thinking_tokens: 15 },
      });
      sendAnthropic(response, [anthropicStart(cached), ...end]);
      response.end();
    });
    const { usage } = responseIn(await outputsOf(modelAt(server.url)));
    expect(usage).toEqual({ input: 350, cacheRead: 300, cacheWrite: 40, output: 25, reasoning: 15 });
  });

  it('stores invalid tool input as a string, and sends an empty object in later requests', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"town":"Ro' },
      ]),
      anthropicEnd('tool_use'),
    );
    const first = responseIn(await outputsOf(modelAt(server.url), requestFor({ tools: [weather] })));
    expect(first.content).toEqual([
      { type: 'tool-call', toolCallId: 'toolu_1', toolName: 'weather', input: '{"town":"Ro' },
    ]);
    await outputsOf(modelAt(server.url), requestFor({ tools: [weather], messages: historyAfter(first) }));
    expect(server.requests[1]?.body).toMatchObject({ messages: { 1: { content: [{ type: 'tool_use', input: {} }] } } });
  });

  it('stores provider-executed calls with their results, and emits no input deltas', async () => {
    const search = [
      ...anthropicBlock(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, [
        { type: 'input_json_delta', partial_json: '{"query":"rome"}' },
      ]),
      ...anthropicBlock(
        1,
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            {
              type: 'web_search_result',
              url: 'https://rome.example/',
              title: 'Rome',
              encrypted_content: 'ZW5j',
              page_age: null,
            },
          ],
        },
        [],
      ),
      ...anthropicBlock(2, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Sunny.' }]),
    ];
    const server = await serverWith(search);
    const outputs = await outputsOf(modelAt(server.url));
    const response = responseIn(outputs);
    expect(streamedText(outputs, 'tool-input')).toBe('');
    expect(response.content).toMatchObject([
      {
        type: 'tool-call',
        toolCallId: 'srvtoolu_1',
        toolName: 'web_search',
        input: { query: 'rome' },
        providerExecuted: true,
      },
      {
        type: 'tool-result',
        toolCallId: 'srvtoolu_1',
        output: { type: 'json', value: [{ url: 'https://rome.example/' }] },
      },
      { type: 'text', text: 'Sunny.' },
    ]);
    expect(response.providerMetadata).toMatchObject({
      'ai-sdk': { sources: [{ url: 'https://rome.example/', title: 'Rome' }] },
    });
    await outputsOf(
      modelAt(server.url),
      requestFor({
        messages: MessageList.of([
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: response.content },
          { role: 'user', content: 'And tomorrow?' },
        ]),
      }),
    );
    expect(server.requests[1]?.body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'rome' } },
            { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [{ url: 'https://rome.example/' }] },
            { type: 'text', text: 'Sunny.' },
          ],
        },
        {},
      ],
    });
  });

  it('stores provider warnings and the original finish reason', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Yes.' }]),
    );
    const outputs = await outputsOf(modelAt(server.url), requestFor({ settings: { seed: 7 } }));
    expect(responseIn(outputs).providerMetadata).toMatchObject({
      'ai-sdk': { finishReason: 'end_turn', warnings: [{ type: 'unsupported', feature: 'seed' }] },
    });
  });

  it('sends images given as bytes, base64, URLs and data URLs', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'A dot.' }]),
    );
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
      'base64',
    );
    await outputsOf(
      modelAt(server.url),
      requestFor({
        messages: MessageList.of([
          {
            role: 'user',
            content: [
              { type: 'image', image: png },
              { type: 'image', image: png.toString('base64'), mediaType: 'image/png' },
              { type: 'file', data: new URL('https://images.example/dot.png'), mediaType: 'image/png' },
              { type: 'file', data: `data:image/png;base64,${png.toString('base64')}`, mediaType: 'image' },
            ],
          },
        ]),
      }),
    );
    const inline = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } };
    expect(server.requests[0]?.body['messages']).toEqual([
      {
        role: 'user',
        content: [
          inline,
          inline,
          { type: 'image', source: { type: 'url', url: 'https://images.example/dot.png' } },
          inline,
        ],
      },
    ]);
  });

  it('sends settings, tools and the tool choice', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Yes.' }]),
    );
    const settings = {
      maxOutputTokens: 321,
      temperature: 0.5,
      topK: 40,
      stopSequences: ['END'],
      toolChoice: { toolName: 'weather' },
      providerOptions: { anthropic: { metadata: { userId: 'u-1' } } },
    } as const;
    const tool = { ...weather, providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } };
    await outputsOf(modelAt(server.url), requestFor({ tools: [tool], settings }));
    expect(server.requests[0]?.body).toMatchObject({
      max_tokens: 321,
      temperature: 0.5,
      top_k: 40,
      stop_sequences: ['END'],
      tools: [
        {
          name: 'weather',
          description: weather.description,
          input_schema: weather.inputSchema,
          cache_control: { type: 'ephemeral' },
        },
      ],
      tool_choice: { type: 'tool', name: 'weather' },
      metadata: { user_id: 'u-1' },
    });
  });

  it('requests the configured reasoning effort', async () => {
    const server = await serverWith(
      anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Yes.' }]),
    );
    await outputsOf(modelAt(server.url), requestFor({ settings: { reasoning: 'high' } }));
    expect(server.requests[0]?.body['thinking']).toMatchObject({ type: 'enabled' });
  });

  it('emits each delta when its chunk arrives', async () => {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const server = await startServer(async (response) => {
      sendAnthropic(response, [
        anthropicStart(),
        ...anthropicBlock(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'One' }]),
      ]);
      await released;
      sendAnthropic(response, [
        ...anthropicBlock(1, { type: 'text', text: '' }, [{ type: 'text_delta', text: 'Two' }]),
        ...anthropicEnd(),
      ]);
      response.end();
    });
    const seen: string[] = [];
    await lastValueFrom(
      from(modelAt(server.url)(requestFor(), contextFor())).pipe(
        tap((output) => {
          if (output.type === 'delta') seen.push(output.delta.text);
          release();
        }),
      ),
    );
    expect(seen).toEqual(['One', 'Two']);
  });
});
