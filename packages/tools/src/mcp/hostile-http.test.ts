import type { FetchLike } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCalls, toolCall, type RunCalls } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';

type Json = Readonly<Record<string, unknown>>;
/** A request of the client, and the signal that ends its response stream. */
type Received = Json & { readonly httpMethod: string; readonly signal: AbortSignal };
type Answer = (request: Received) => Response | Promise<Response>;

const message = (value: object): string => JSON.stringify({ jsonrpc: '2.0', ...value });
const json = (value: object): Response =>
  new Response(message(value), { headers: { 'content-type': 'application/json' } });
const event = (value: object | string): string => `data: ${typeof value === 'string' ? value : message(value)}\n\n`;

/** An event stream that begins with a text and continues with what `next` returns, until that is undefined. */
const stream = (text: string, next: () => string | undefined | Promise<string | undefined> = () => undefined) => {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(text)),
    pull: async (controller) => {
      const more = await next();
      if (more === undefined) controller.close();
      else controller.enqueue(encoder.encode(more));
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
};
const noMore = (): Promise<never> => new Promise(() => undefined);
const said = (text: string) => ({ content: [{ type: 'text', text }] });

const serverInfo = { name: 'hostile', version: '1' };
const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
/** The answers of an ordinary server before 2026-07-28. */
const ordinary: Readonly<Record<string, Answer>> = {
  initialize: ({ id }) =>
    json({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }),
  'tools/list': ({ id }) => json({ id, result: { tools: [tool('go')] } }),
  'tools/call': ({ id }) => json({ id, result: said('gone') }),
  GET: () => new Response(null, { status: 405 }),
};

/** Answers requests with these, by the method of the protocol or else of HTTP. */
const startHostile = (answers: Readonly<Record<string, Answer>>) => {
  const requests: Received[] = [];
  const fetch: FetchLike = async (_url, init) => {
    const httpMethod = init?.method ?? 'GET';
    const body = typeof init?.body === 'string' ? (JSON.parse(init.body) as Json) : {};
    const request = { ...body, httpMethod, signal: init?.signal as AbortSignal };
    requests.push(request);
    const name = typeof body['method'] === 'string' ? body['method'] : httpMethod;
    const answer = { ...ordinary, ...answers }[name];
    const other = body['id'] === undefined || body['method'] === undefined;
    const unknown = { id: body['id'], error: { code: -32_601, message: 'Unknown method' } };
    const response = answer?.(request) ?? (other ? new Response(null, { status: 202 }) : json(unknown));
    const { signal } = request;
    return Promise.race([
      response,
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      ),
    ]);
  };
  const count = (name: string): number =>
    requests.filter((request) => request['method'] === name || request.httpMethod === name).length;
  return { fetch, requests, count };
};

const problems: string[] = [];
const connect = async (fetch: FetchLike, options: Partial<McpServerOptions> = {}): Promise<McpServer> => {
  const server = await connectMcp({
    name: 'x',
    connection: { url: 'http://hostile.test/mcp', fetch },
    onProblem: ({ message: text }) => problems.push(text),
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
};
const call = (server: McpServer): RunCalls =>
  runCalls(toolDriver(createRegistry().register(server)), [toolCall('1', 'mcp__x__go')]);
const ended = async (ran: RunCalls): Promise<object> => {
  await expect.poll(() => ran.isComplete, { timeout: 10_000 }).toBe(true);
  expect(ran.results).toHaveLength(1);
  return ran.outcome('1');
};

beforeEach(() => {
  problems.length = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a hostile server over HTTP', () => {
  it.each([
    ['different', (count: number) => count],
    ['the same', () => 0],
  ] as const)('that sends requests with %s ids without end is not answered without end', async (_name, idOf) => {
    let count = 0;
    const flood = (): string =>
      Array.from({ length: 100 }, () => event({ id: idOf((count += 1)), method: 'ping' })).join('');
    const { fetch, requests } = startHostile({
      'tools/call': () => stream('', () => (count < 20_000 ? flood() : noMore())),
      POST: noMore,
    });
    const server = await connect(fetch, { timeoutMs: 500 });
    expect(await ended(call(server))).toMatchObject({ status: 'timed-out' });
    await expect.poll(() => count).toBe(20_000);
    expect(requests.filter(({ method }) => method === undefined).length).toBeLessThanOrEqual(101);
    expect(problems.filter((text) => text.includes('it is not answered'))).toHaveLength(1);
  });

  it.each([0, 1e11])('that ends its streams with "retry: %d" is connected again with a pause', async (retry) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { fetch, count } = startHostile({ GET: () => stream(`retry: ${retry}\nid: 1\ndata:\n\n`) });
    const server = await connect(fetch);
    const before = count('GET');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(count('GET') - before).toBeLessThanOrEqual(10);
    await server.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that never ends the stream of a call that was cancelled, or has an answer, does not hold it', async () => {
    const { fetch, requests } = startHostile({
      'tools/call': ({ id }) => stream(id === 2 ? event({ id, result: said('yes') }) : ': wait\n\n', noMore),
    });
    const server = await connect(fetch, { timeoutMs: 200 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await ended(call(server))).toMatchObject({ status: 'ok' });
    expect(await ended(call(server))).toMatchObject({ status: 'timed-out' });
    const signals = requests.filter(({ method }) => method === 'tools/call').map(({ signal }) => signal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });

  it('that sends an event that is too large fails its call with the reason, once', async () => {
    const { fetch, count } = startHostile({
      'tools/call': ({ id }) => stream(event({ id, result: said('x'.repeat(2_000)) })),
    });
    const server = await connect(fetch, { maxMessageBytes: 1_000 });
    expect(await ended(call(server))).toMatchObject({ status: 'failed', error: { code: 'mcp-too-large' } });
    expect(count('tools/call')).toBe(1);
  });

  it('that replies to an answer with an event that is too large does not fail the call with its id', async () => {
    let isAnswered = false;
    const { fetch } = startHostile({
      'tools/call': ({ id }) => {
        const rest = [
          async () => {
            await expect.poll(() => isAnswered).toBe(true);
            return event({ id, result: said('yes') });
          },
        ];
        return stream(event({ id, method: 'ping' }), () => rest.pop()?.());
      },
      POST: () => {
        isAnswered = true;
        return stream(event('x'.repeat(2_000)));
      },
    });
    const server = await connect(fetch, { maxMessageBytes: 1_000 });
    expect(await ended(call(server))).toMatchObject({ status: 'ok' });
  });

  it('that answers a call with a page of a website fails it', async () => {
    const page = (): Response => new Response('<html>', { headers: { 'content-type': 'text/html' } });
    const server = await connect(startHostile({ 'tools/call': page }).fetch);
    expect(await ended(call(server))).toMatchObject({ status: 'failed', error: { code: 'mcp-invalid-result' } });
  });

  it.each<[string, Readonly<Record<string, Answer>>, RegExp]>([
    ['that never accepts a notification', { 'notifications/initialized': noMore }, /connecting timed out after 300 ms/],
    [
      'whose list of tools has pages without end',
      {
        'tools/list': async ({ id }) => {
          await new Promise((resolve) => setTimeout(resolve, 50));
          return json({ id, result: { tools: [], nextCursor: String(id) } });
        },
      },
      /listing the tools timed out after 300 ms/,
    ],
    [
      'whose pages are larger together than a message may be',
      { 'tools/list': ({ id }) => json({ id, result: { tools: [tool('x'.repeat(800))], nextCursor: String(id) } }) },
      /more than 1000 bytes/,
    ],
  ])('%s is refused', async (_name, answers, reason) => {
    const { fetch } = startHostile(answers);
    const options = { connectTimeoutMs: 300, maxMessageBytes: 1_000 };
    await expect(connect(fetch, options)).rejects.toMatchObject({
      code: 'mcp-unavailable',
      message: expect.stringMatching(reason) as string,
    });
  });

  it('that describes an input with a huge schema cannot offer its tool', async () => {
    const huge = { ...tool('huge'), inputSchema: { type: 'object', description: 'x'.repeat(200_001) } };
    const { fetch } = startHostile({ 'tools/list': ({ id }) => json({ id, result: { tools: [tool('go'), huge] } }) });
    const server = await connect(fetch);
    expect(server.tools.map(({ name }) => name)).toEqual(['mcp__x__go']);
    expect(problems).toEqual([
      expect.stringMatching(/"huge" .* cannot be offered: its input schema has \d+ characters/),
    ]);
  });
});
