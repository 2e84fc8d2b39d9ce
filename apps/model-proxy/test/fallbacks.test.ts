import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { LLMock } from '@copilotkit/aimock';
import { ChatOpenAI } from '@langchain/openai';
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTraceProcessors,
  tool as agentTool,
} from '@openai/agents';
import { generateText, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConfigError, createKey, parseConfig, type ProxyConfigInput } from '../src/index.js';
import { messages, post, proxyFor, sendMessage, startProvider } from './provider.js';
import { startTap, type Exchange } from './tap.js';

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const cleanups: (() => Promise<void>)[] = [];
const open = async <Value extends { close(): Promise<void> }>(value: Promise<Value>): Promise<Value> => {
  const opened = await value;
  cleanups.push(opened.close);
  return opened;
};
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

const { key, keyHash } = createKey();
const env = { CLAUDE: 'sk-ant-proxy', GPT: 'sk-proxy' };
const withKeys = {
  clients: [{ name: 'alice', keyHash }],
  anthropic: { keys: [{ id: 'one', env: 'CLAUDE' }] },
  openai: { keys: [{ id: 'one', env: 'GPT' }] },
} satisfies ProxyConfigInput;

/** Fails for the model "down"; otherwise makes a call, then answers. */
const mockProviders = (): LLMock => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', latency: 0, chunkSize: 5 });
  mock.on({ model: 'down' }, { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
  mock.on(
    { predicate: ({ messages: all }) => all.at(-1)?.role !== 'tool' },
    {
      toolCalls: [
        { id: 'call_1', name: 'weather', arguments: '{"town":"Oslo"}' },
        { id: 'call_2', name: 'weather', arguments: '{"town":"Rome"}' },
      ],
    },
  );
  mock.on({ predicate: () => true }, { content: 'Sun in Oslo, 14 °C. ☀️' });
  return mock;
};

type Format = 'anthropic' | 'chat' | 'responses';

const targets = {
  anthropic: { provider: 'anthropic', model: 'other' },
  chat: { provider: 'openai', model: 'other', api: 'chat' },
  responses: { provider: 'openai', model: 'other', api: 'responses' },
} as const;
const paths = { anthropic: '/v1/messages', chat: '/v1/chat/completions', responses: '/v1/responses' } as const;

/** A client that runs a tool loop, reports each call, and returns its final text. */
type Client = (base: string, onCall: (town: string) => string) => Promise<string>;

const sdkModel = (format: Format, base: string): LanguageModel => {
  if (format === 'anthropic') return createAnthropic({ baseURL: `${base}/v1`, apiKey: key })('down');
  const openai = createOpenAI({ baseURL: `${base}/v1`, apiKey: key });
  return format === 'chat' ? openai.chat('down') : openai.responses('down');
};

const aiSdk =
  (format: Format, isStream: boolean): Client =>
  async (base, onCall) => {
    const weather = tool({
      description: 'Weather',
      inputSchema: z.object({ town: z.string() }),
      execute: ({ town }) => onCall(town),
    });
    const call = {
      model: sdkModel(format, base),
      system: 'Be terse.',
      tools: { weather },
      stopWhen: stepCountIs(3),
      prompt: 'Weather in Oslo?',
      maxRetries: 0,
      // The items that OpenAI would store do not exist at another provider.
      providerOptions: { openai: { store: false } },
    };
    return isStream ? streamText(call).text : (await generateText(call)).text;
  };

const agents =
  (format: 'chat' | 'responses'): Client =>
  async (base, onCall) => {
    const client = new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: 0 });
    const model =
      format === 'chat' ? new OpenAIChatCompletionsModel(client, 'down') : new OpenAIResponsesModel(client, 'down');
    const parameters = z.object({ town: z.string() });
    const weather = agentTool({
      name: 'weather',
      description: 'Weather',
      parameters,
      execute: ({ town }) => onCall(town),
    });
    const agent = new Agent({ name: 'Assistant', instructions: 'Be terse.', model, tools: [weather] });
    const result = await new Runner().run(agent, 'Weather in Oslo?', { stream: true });
    await result.completed;
    return String(result.finalOutput);
  };

const anthropicSdk: Client = async (base, onCall) => {
  const client = new Anthropic({ baseURL: base, apiKey: key, maxRetries: 0 });
  const history: Anthropic.MessageParam[] = [{ role: 'user', content: 'Weather in Oslo?' }];
  for (;;) {
    const stream = client.messages.stream({
      model: 'down',
      max_tokens: 1024,
      messages: history,
      tools: [{ name: 'weather', input_schema: { type: 'object', properties: { town: { type: 'string' } } } }],
    });
    const { content, stop_reason: reason } = await stream.finalMessage();
    if (reason !== 'tool_use') return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const results = content.flatMap((block) =>
      block.type === 'tool_use'
        ? [
            {
              type: 'tool_result' as const,
              tool_use_id: block.id,
              content: onCall((block.input as { readonly town: string }).town),
            },
          ]
        : [],
    );
    history.push({ role: 'assistant', content }, { role: 'user', content: results });
  }
};

const langchain: Client = async (base, onCall) => {
  const configuration = { baseURL: `${base}/v1` };
  const definition = {
    type: 'function' as const,
    function: { name: 'weather', parameters: { type: 'object', properties: { town: { type: 'string' } } } },
  };
  const model = new ChatOpenAI({ model: 'down', apiKey: key, configuration, maxRetries: 0 }).bindTools([definition]);
  const first = await model.invoke('Weather in Oslo?');
  const results = (first.tool_calls ?? []).map(({ id = '', args }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: onCall(String(args['town'])),
  }));
  return (await model.invoke([{ role: 'user', content: 'Weather in Oslo?' }, first, ...results])).text;
};

const clients: readonly (readonly [name: string, format: Format, client: Client])[] = [
  ...(['anthropic', 'chat', 'responses'] as const).flatMap((format) => [
    [`AI SDK, ${format}`, format, aiSdk(format, false)] as const,
    [`AI SDK, ${format}, streamed`, format, aiSdk(format, true)] as const,
  ]),
  ['Anthropic SDK', 'anthropic', anthropicSdk],
  ['OpenAI Agents SDK, chat', 'chat', agents('chat')],
  ['OpenAI Agents SDK, responses', 'responses', agents('responses')],
  ['LangChain', 'chat', langchain],
];
const pairs = clients.flatMap(([name, format, client]) =>
  (['anthropic', 'chat', 'responses'] as const)
    .filter((target) => target !== format)
    .map((target) => [name, target, format, client] as const),
);

describe('a fallback with another format', () => {
  it.each(pairs)('serves a tool loop: %s → %s', async (_, target, format, client) => {
    const tap = await open(startTap(mockProviders()));
    const models = [targets[target]];
    const provider = format === 'anthropic' ? 'anthropic' : 'openai';
    const config = { ...withKeys, [provider]: { ...withKeys[provider], models } };
    const proxy = await open(proxyFor(tap, config, { env }));
    const towns: string[] = [];
    const text = await client(proxy.url, (town) => {
      towns.push(town);
      return `Sun in ${town}`;
    });
    expect(text).toBe('Sun in Oslo, 14 °C. ☀️');
    expect(towns).toEqual(['Oslo', 'Rome']);
    const steps = tap.exchanges.map(({ path, status }: Exchange) => [path, status]);
    expect(steps).toEqual([
      [paths[format], 529],
      [paths[target], 200],
      [paths[target], 200],
    ]);
    const last = tap.exchanges.at(-1);
    const credential = target === 'anthropic' ? 'x-api-key: sk-ant-proxy' : 'authorization: Bearer sk-proxy';
    expect(last?.headers).toContain(credential);
    expect(String(last?.body)).toContain('Sun in Rome');
    expect(String(last?.body)).not.toContain(key);
  });

  it('skips a model whose format cannot express the request, and logs why', async () => {
    const overloaded = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}';
    const provider = await open(startProvider((_, outgoing) => outgoing.writeHead(529).end(overloaded)));
    const folder = mkdtempSync(join(tmpdir(), 'model-proxy-fallbacks-'));
    const log = join(folder, 'calls.jsonl');
    const anthropic = { ...withKeys.anthropic, models: [targets.chat] };
    const proxy = await proxyFor(provider, { ...withKeys, anthropic, log }, { env });
    const body = { ...messages('Hi'), tools: [{ type: 'web_search_20260209', name: 'web_search' }] };
    const answer = await post(proxy.url, body, { headers: { 'x-api-key': key } });
    expect([answer.status, await answer.text()]).toEqual([529, overloaded]);
    expect(provider.received).toHaveLength(1);
    await proxy.close();
    expect(JSON.parse(readFileSync(log, 'utf8'))).toMatchObject({
      skippedFallbacks: [{ model: 'openai/other', reason: expect.stringContaining('web_search') as string }],
    });
    rmSync(folder, { recursive: true, force: true });
  });

  it('reports the last failure in the error format of the client', async () => {
    const provider = await open(
      startProvider(({ url }, outgoing) => {
        outgoing.writeHead(url === paths.chat ? 429 : 529, { 'content-type': 'application/json', 'retry-after': '7' });
        outgoing.end('{"error":{"message":"Too many requests","type":"tokens","param":null,"code":null}}');
      }),
    );
    const anthropic = { ...withKeys.anthropic, models: [targets.chat] };
    const folder = mkdtempSync(join(tmpdir(), 'model-proxy-log-'));
    const log = join(folder, 'calls.jsonl');
    const proxy = await open(proxyFor(provider, { ...withKeys, anthropic, log }, { env }));
    const answer = await post(proxy.url, messages('Hi'), { headers: { 'x-api-key': key } });
    expect([answer.status, answer.headers.get('retry-after'), await answer.json()]).toEqual([
      429,
      '7',
      { type: 'error', error: { type: 'rate_limit_error', message: 'Too many requests' } },
    ]);
    const [line] = readFileSync(log, 'utf8').trim().split('\n');
    const { provider: asked, model } = targets.chat;
    expect(JSON.parse(line ?? '')).toMatchObject({ status: 429, provider: asked, model, credential: 'one' });
    rmSync(folder, { recursive: true, force: true });
  });

  it('counts the price of the model that answered', async () => {
    const provider = await open(
      startProvider(({ url }, outgoing) => {
        if (url !== paths.chat) return outgoing.writeHead(529).end('{}');
        outgoing.writeHead(200, { 'content-type': 'application/json' });
        const usage = { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 };
        const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' };
        return outgoing.end(JSON.stringify({ id: 'c', model: 'other', choices: [choice], usage }));
      }),
    );
    const anthropic = { ...withKeys.anthropic, models: [targets.chat] };
    const prices = { 'claude-*': { input: 1000, output: 0 }, other: { input: 5, output: 0 } };
    const proxy = await open(proxyFor(provider, { ...withKeys, anthropic, prices }, { env }));
    const answer = await post(proxy.url, messages('Hi'), { headers: { 'x-api-key': key } });
    expect(answer.headers.get('x-h-fallback')).toBe('openai/other');
    expect(await answer.json()).toMatchObject({ role: 'assistant', usage: { input_tokens: 1000, output_tokens: 0 } });
    const metric = async (): Promise<string | undefined> =>
      (await (await fetch(`${proxy.url}/_h/metrics`)).text())
        .split('\n')
        .find((line) => line.startsWith('h_proxy_cost_dollars_total{'));
    await expect
      .poll(metric, { timeout: 20_000 })
      .toBe('h_proxy_cost_dollars_total{client="alice",model="other"} 0.005');
  });

  it('turns thinking off for a request that continues calls of another provider', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const anthropic = { ...withKeys.anthropic, models: [targets.chat] };
    const proxy = await open(proxyFor(provider, { ...withKeys, anthropic }, { env }));
    const history = (id: string) =>
      messages(
        'Hi',
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'weather', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Sun' }] },
      );
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    for (const id of ['call_1', 'toolu_1']) {
      await post(proxy.url, { ...history(id), thinking }, { headers: { 'x-api-key': key } });
    }
    expect(provider.received.map(({ body }) => body['thinking'])).toEqual([{ type: 'disabled' }, thinking]);
  });

  it('requires keys of the other provider', () => {
    const anthropic = { ...withKeys.anthropic, models: [targets.chat] };
    expect(() => parseConfig({ clients: withKeys.clients, anthropic })).toThrow(ConfigError);
    expect(() => parseConfig({ clients: withKeys.clients, anthropic })).toThrow('requires `openai.keys`');
    const models = [{ ...targets.anthropic, api: 'chat' }];
    expect(() => parseConfig({ ...withKeys, openai: { ...withKeys.openai, models } })).toThrow('openai.models.0.api');
  });
});
