import { mkdtempSync, rmSync } from 'node:fs';
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
import { generateText, stepCountIs, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { parseConfig, startProxy, type RunningProxy } from '../src/index.js';
import { recordingFetch, startTap } from './tap.js';

type Run = (base: string, fetch: typeof globalThis.fetch) => Promise<unknown>;

// Without its exporter, whose timer would run on in the test files that follow.
setTraceProcessors([]);

const weatherSchema = { type: 'object' as const, properties: { town: { type: 'string' } }, required: ['town'] };
const question = [{ role: 'user' as const, content: 'Weather in Oslo?' }];

const collect = async (stream: AsyncIterable<unknown>): Promise<readonly unknown[]> => {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

const anthropic = (base: string, fetch: typeof globalThis.fetch): Anthropic =>
  new Anthropic({ baseURL: base, apiKey: 'sk-ant-client', fetch, maxRetries: 0 });
const openai = (base: string, fetch: typeof globalThis.fetch): OpenAI =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey: 'sk-client', fetch, maxRetries: 0 });

const failure = async (run: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await run();
  } catch (error) {
    const { name, status, message, error: body } = error as Error & { status?: number; error?: unknown };
    return { name, status, message, body };
  }
};

const cached = [{ type: 'text' as const, text: 'You are terse.', cache_control: { type: 'ephemeral' as const } }];
const anthropicTools = [{ name: 'weather', description: 'Weather', input_schema: weatherSchema }];
const openaiTools = [
  { type: 'function' as const, function: { name: 'weather', description: 'Weather', parameters: weatherSchema } },
];

const scenarios: Readonly<Record<string, Run>> = {
  'Anthropic SDK: a message': (base, fetch) =>
    anthropic(base, fetch).messages.create(
      { model: 'claude-sonnet-5', max_tokens: 64, system: cached, messages: question },
      { headers: { 'anthropic-beta': 'context-1m-2025-08-07', 'x-claude-code-session-id': 'alice' } },
    ),
  'Anthropic SDK: a streamed message with tools': (base, fetch) =>
    collect(
      anthropic(base, fetch).messages.stream({
        model: 'claude-sonnet-5',
        max_tokens: 64,
        messages: [{ role: 'user', content: 'call a tool' }],
        tools: anthropicTools,
      }),
    ),
  'Anthropic SDK: thinking blocks with signatures': (base, fetch) =>
    anthropic(base, fetch).messages.create({
      model: 'claude-sonnet-5',
      max_tokens: 2048,
      thinking: { type: 'enabled', budget_tokens: 1024 },
      tools: anthropicTools,
      messages: [
        ...question,
        {
          role: 'assistant',
          content: [
            {
              type: 'thinking',
              thinking: 'Use the tool.',
              signature: 'EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrzLoky3dl1pk\u002b=',
            },
            { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { town: 'Oslo' } },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'Sun' }] },
      ],
    }),
  'Anthropic SDK: an error': (base, fetch) =>
    failure(() =>
      anthropic(base, fetch).messages.create({
        model: 'claude-sonnet-5',
        max_tokens: 64,
        messages: [{ role: 'user', content: 'overloaded' }],
      }),
    ),
  'OpenAI SDK: a chat completion': (base, fetch) =>
    openai(base, fetch).chat.completions.create({
      model: 'gpt-5',
      messages: question,
      temperature: 1,
      metadata: { town: 'äöü €' },
    }),
  'OpenAI SDK: a streamed chat completion with tools': async (base, fetch) =>
    collect(
      await openai(base, fetch).chat.completions.create({
        model: 'gpt-5',
        messages: [{ role: 'user', content: 'call a tool' }],
        tools: openaiTools,
        stream: true,
        stream_options: { include_usage: true },
      }),
    ),
  'OpenAI SDK: a response': (base, fetch) =>
    openai(base, fetch).responses.create({ model: 'gpt-5', input: 'Weather in Oslo?' }),
  'OpenAI SDK: a streamed response': async (base, fetch) =>
    collect(await openai(base, fetch).responses.create({ model: 'gpt-5', input: question, stream: true })),
  'OpenAI SDK: an error': (base, fetch) =>
    failure(() =>
      openai(base, fetch).chat.completions.create({
        model: 'gpt-5',
        messages: [{ role: 'user', content: 'overloaded' }],
      }),
    ),
  'AI SDK: a tool loop with Anthropic': async (base, fetch) => {
    const provider = createAnthropic({ baseURL: `${base}/v1`, apiKey: 'sk-ant-client', fetch });
    const { text } = await generateText({
      model: provider('claude-sonnet-5'),
      tools: { weather: tool({ inputSchema: z.object({ town: z.string() }), execute: () => 'Sun' }) },
      stopWhen: stepCountIs(3),
      prompt: 'call a tool',
    });
    return text;
  },
  'AI SDK: a stream with OpenAI Responses': async (base, fetch) => {
    const provider = createOpenAI({ baseURL: `${base}/v1`, apiKey: 'sk-client', fetch });
    return streamText({ model: provider('gpt-5'), prompt: 'Weather in Oslo?' }).text;
  },
  'OpenAI Agents SDK: a run with Responses': async (base, fetch) => {
    const model = new OpenAIResponsesModel(openai(base, fetch), 'gpt-5');
    return runAgent(model);
  },
  'OpenAI Agents SDK: a run with Chat Completions': async (base, fetch) => {
    const model = new OpenAIChatCompletionsModel(openai(base, fetch), 'gpt-5');
    return runAgent(model);
  },
  'LangChain: a streamed chat': async (base, fetch) => {
    const configuration = { baseURL: `${base}/v1`, fetch };
    const model = new ChatOpenAI({ model: 'gpt-5', apiKey: 'sk-client', configuration, maxRetries: 0 });
    const chunks = await collect(await model.stream('Weather in Oslo?'));
    return chunks.map((chunk) => (chunk as { readonly content: unknown }).content).join('');
  },
};

const runAgent = async (model: OpenAIResponsesModel | OpenAIChatCompletionsModel): Promise<unknown> => {
  const weather = agentTool({
    name: 'weather',
    description: 'Weather',
    parameters: z.object({ town: z.string() }),
    execute: () => 'Sun',
  });
  const agent = new Agent({ name: 'Assistant', instructions: 'Be terse.', model, tools: [weather] });
  const result = await new Runner().run(agent, 'call a tool');
  return result.finalOutput;
};

const mockProvider = (): LLMock => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', latency: 0, chunkSize: 5 });
  mock.on({ userMessage: 'overloaded' }, { error: { message: 'Overloaded', type: 'overloaded_error' }, status: 529 });
  mock.on(
    {
      predicate: ({ messages }) => messages.at(-1)?.role !== 'tool' && JSON.stringify(messages).includes('call a tool'),
    },
    { toolCalls: [{ id: 'call_1', name: 'weather', arguments: '{"town":"Oslo"}' }] },
  );
  mock.on({ predicate: () => true }, { content: 'Sun in Oslo, 14 °C. ☀️' });
  return mock;
};

/** Ids and times that the mock generates for each answer. */
const stable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replaceAll(/"(?:id|item_id|response_id)":"[^"]*"/g, '"id":"_"')
      .replaceAll(/"(?:created|created_at|completed_at)":\d+/g, '"created":0'),
  );

/** The ids that the mock has generated return in the next request. */
const sent = (body: Buffer | undefined): string => String(body).replaceAll(/"id":"fc-[\w-]+"/g, '"id":"_"');

describe('clients with and without the proxy', () => {
  let folder: string;
  let proxy: RunningProxy;
  let tap: Awaited<ReturnType<typeof startTap>>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'model-proxy-'));
    tap = await startTap(mockProvider());
    proxy = await startProxy(
      parseConfig({
        listen: { port: 0 },
        anthropic: { url: tap.url },
        openai: { url: tap.url },
        state: join(folder, 'state'),
      }),
    );
  });
  afterAll(async () => {
    await proxy.close();
    await tap.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(Object.entries(scenarios))('sends and receives the same bytes: %s', async (_, run) => {
    const through = async (base: string) => {
      const from = tap.exchanges.length;
      const { fetch, answers } = recordingFetch();
      const result = await run(base, fetch);
      return { result, answers, exchanges: tap.exchanges.slice(from) };
    };
    const direct = await through(tap.url);
    const proxied = await through(proxy.url);
    expect(direct.exchanges.length).toBeGreaterThan(0);
    expect(stable(proxied.result)).toEqual(stable(direct.result));
    expect(proxied.exchanges.map(({ method, path, status }) => [method, path, status])).toEqual(
      direct.exchanges.map(({ method, path, status }) => [method, path, status]),
    );
    for (const [index, { headers, body }] of direct.exchanges.entries()) {
      expect(proxied.exchanges[index]?.headers).toEqual(headers);
      expect(sent(proxied.exchanges[index]?.body)).toBe(sent(body));
    }
    // The bytes that left the provider are the bytes that the client received.
    expect(proxied.answers.map(String)).toEqual(proxied.exchanges.map(({ answer }) => String(answer)));
  });
});
