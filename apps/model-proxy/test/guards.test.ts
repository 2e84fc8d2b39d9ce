import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createKey } from '../src/index.js';
import { messages, post, proxyFor, sendMessage, startProvider } from './provider.js';

const cleanups: (() => Promise<void>)[] = [];
const open = async <Value extends { close(): Promise<void> }>(value: Promise<Value>): Promise<Value> => {
  const opened = await value;
  cleanups.push(opened.close);
  return opened;
};
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

const anthropicRound = (id: number, output: string): readonly unknown[] => [
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: `toolu_${id}`, name: 'bash', input: { command: 'npm test' } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${id}`, content: output, is_error: true }] },
];
const chatRound = (id: number, output: string): readonly unknown[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `c${id}`, type: 'function', function: { name: 'bash', arguments: '{"command":"npm test"}' } }],
  },
  { role: 'tool', tool_call_id: `c${id}`, content: output },
];
const responsesRound = (id: number, output: string): readonly unknown[] => [
  { type: 'function_call', call_id: `c${id}`, name: 'bash', arguments: '{"command":"npm test"}' },
  { type: 'function_call_output', call_id: `c${id}`, output },
];

const formats = [
  ['/v1/messages', 'messages', anthropicRound],
  ['/v1/chat/completions', 'messages', chatRound],
  ['/v1/responses', 'input', responsesRound],
] as const;

describe('loops', () => {
  it.each(formats)('are warned about and ended: %s', async (path, member, round) => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { loops: true }));
    const history: unknown[] = [{ role: 'user', content: 'Fix the test' }];
    const found: number[] = [];
    for (let id = 1; id <= 8 && found.at(-1) !== 400; id += 1) {
      history.push(...round(id, `Error: 1 failing, ${id * 31} ms`));
      const answer = await post(proxy.url, { model: 'm', [member]: history }, { path });
      found.push(answer.status);
      const text = await answer.text();
      if (answer.status === 400) expect(text).toContain('The run was ended because it makes no progress');
    }
    expect(found.at(-1)).toBe(400);
    const sent = provider.received.map(({ body }) => body[member] as readonly unknown[]);
    expect(JSON.stringify(sent.at(-1))).toContain('[Note from the proxy: bash has given the same result');
    // Each request begins with the one before, so the cache of the provider stays valid.
    for (const [index, entries] of sent.slice(1).entries()) {
      expect(entries.slice(0, sent[index]?.length)).toEqual(sent[index]);
    }
    history.push({ role: 'user', content: 'Try something else' });
    expect((await post(proxy.url, { model: 'm', [member]: history }, { path })).status).toBe(200);
  });

  it('changes nothing in a request with progress', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { loops: true, redact: true }));
    const text = `{ "model":"m", "seed": 12345678901234567890,\n "messages":[{"role":"user","content":"\\u0048i"}] }`;
    await post(proxy.url, text);
    expect(provider.received[0]?.text).toBe(text);
  });
});

describe('redaction', () => {
  const secret = 'correct-horse-battery';
  const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6'].join('_');

  it('removes secrets from what goes to the provider, and nothing else', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { redact: { env: ['PASSPHRASE'] } }, { env: { PASSPHRASE: secret } }));
    const thinking = { type: 'thinking', thinking: `I see ${token}`, signature: `sig-${token}` };
    const body = {
      ...messages(
        `My token is ${token}`,
        {
          role: 'assistant',
          content: [
            thinking,
            {
              type: 'tool_use',
              id: 'toolu_1',
              name: 'login',
              input: { password: 'hunter2x9', user: 'bob', data: secret },
            },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `API_KEY=${secret}` }] },
      ),
      system: [{ type: 'text', text: `Never say ${secret}`, cache_control: { type: 'ephemeral' } }],
    };
    await post(proxy.url, body);
    const [request] = provider.received;
    const { text = '', body: sent } = request ?? {};
    expect(text).not.toContain(secret);
    expect(text).not.toContain('hunter2x9');
    const [first, second] = (sent?.['messages'] ?? []) as readonly { readonly content: never }[];
    expect(first).toEqual({ role: 'user', content: 'My token is [redacted]' });
    // The provider verifies reasoning by its signature.
    expect(second?.content[0]).toEqual(thinking);
    expect(sent?.['system']).toEqual([
      { type: 'text', text: 'Never say [redacted]', cache_control: { type: 'ephemeral' } },
    ]);
  });
});

describe('redaction of what is not a message', () => {
  const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6'].join('_');
  const sent = async (body: object): Promise<Readonly<Record<string, unknown>>> => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { redact: true }));
    await post(proxy.url, { ...messages('Hi'), ...body });
    return provider.received[0]?.body ?? {};
  };

  it('replaces secrets in what a model reads of a tool, and no credential of the provider', async () => {
    const schema = (secret: string) => ({ type: 'object', properties: { url: { type: 'string', default: secret } } });
    const tools = (secret: string) => [
      { name: 'query', description: `Uses ${secret}.`, input_schema: schema(secret) },
      { type: 'function', function: { name: 'query', description: `Uses ${secret}.`, parameters: schema(secret) } },
      { type: 'mcp', server_url: 'https://mcp.example', headers: { authorization: `Bearer ${token}` } },
    ];
    expect((await sent({ tools: tools(token) }))['tools']).toEqual(tools('[redacted]'));
  });

  it('replaces secrets in documents that are text, and changes no encoded file', async () => {
    const source = (data: string) => ({ type: 'document', source: { type: 'text', media_type: 'text/plain', data } });
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: token.replace('_', 'A') } };
    const { messages: [message] = [] } = (await sent({
      messages: [{ role: 'user', content: [source(`The key is ${token}`), image] }],
    })) as { readonly messages?: readonly { readonly content: unknown }[] };
    expect(message?.content).toEqual([source('The key is [redacted]'), image]);
  });
});

describe('cache report', () => {
  it('reports what changed the beginning of a conversation and what it cost', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing, { input: 10_000, output: 1 })));
    const folder = mkdtempSync(join(tmpdir(), 'model-proxy-log-'));
    const log = join(folder, 'calls.jsonl');
    const proxy = await proxyFor(provider, {
      log,
      prices: { 'claude-*': { input: 10, output: 10, cacheRead: 1 } },
    });
    const tool = (name: string): unknown => ({ name, input_schema: { type: 'object' } });
    const reply = { role: 'assistant', content: 'Hello.' };
    const send = (tools: readonly unknown[], ...entries: readonly unknown[]) =>
      post(proxy.url, { ...messages(...entries), tools });
    await send([tool('a'), tool('b')], 'Hi');
    await send([tool('a'), tool('b')], 'Hi', reply, 'more');
    await send([tool('a'), tool('c')], 'Hi', reply, 'more', reply, 'and more');
    await proxy.close();
    const lines = readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    rmSync(folder, { recursive: true, force: true });
    expect(new Set(lines.map(({ thread }) => thread)).size).toBe(1);
    expect(lines.map(({ cacheBreak }) => cacheBreak)).toEqual([
      undefined,
      undefined,
      { from: 'tools', change: 'c added, b removed', lostTokens: 10_000, lostCost: expect.closeTo(0.09) as number },
    ]);
    expect(lines[0]).toMatchObject({ usage: { input: 10_000, output: 1 }, cacheHitRate: 0, status: 200 });
  });
});

describe('the log', () => {
  it('rotates by size', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const folder = mkdtempSync(join(tmpdir(), 'model-proxy-log-'));
    const file = join(folder, 'calls.jsonl');
    const proxy = await proxyFor(provider, { log: { file, maxBytes: 1, maxFiles: 2 } });
    for (const text of ['a', 'b', 'c', 'd']) await post(proxy.url, messages(text));
    await proxy.close();
    const conversations = ['.2', '.1', ''].map((end) => {
      const { conversation } = JSON.parse(readFileSync(file + end, 'utf8')) as { readonly conversation: string };
      return conversation;
    });
    expect(new Set(conversations).size).toBe(3);
    expect(readdirSync(folder)).toHaveLength(3);
    rmSync(folder, { recursive: true, force: true });
  });
});

const secret =
  'sk-ant-api03-aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2bC4dE6fG8hJ0kL2mN4pQ6rS8tU0vW2xY4zA6bC8dE0fG2hJ4kL6mN8-AAAAAA';

/** A line of a recording. */
interface RecordedLine {
  readonly event: { readonly type: string; readonly outcome?: string };
}

describe('telemetry', () => {
  it('exports a span and metrics for each call, as a child of the span of the client, and records it', async () => {
    const exported: { readonly url: string; readonly text: string }[] = [];
    const collector = await open(
      startProvider(({ url, text }, outgoing) => {
        exported.push({ url, text });
        outgoing.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      }),
    );
    const call = { type: 'tool_use', id: 'toolu_1', name: 'bash', input: {} };
    const provider = await open(
      startProvider(({ body }, outgoing) => {
        if (body['max_tokens'] === 100) sendMessage(outgoing, { content: [call], input: 1234 });
        else {
          const error = { type: 'invalid_request_error', message: `The key ${secret} has no access to this model.` };
          outgoing.writeHead(400).end(JSON.stringify({ type: 'error', error }));
        }
      }),
    );
    const folder = mkdtempSync(join(tmpdir(), 'model-proxy-otel-'));
    const recording = join(folder, 'calls.jsonl');
    const proxy = await proxyFor(provider, { otel: collector.url, recording });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
    expect((await post(proxy.url, messages('Secret question'), { headers })).status).toBe(200);
    expect((await post(proxy.url, { ...messages('Again'), max_tokens: 7 })).status).toBe(400);
    await proxy.close();
    const spans = exported.filter(({ url }) => url === '/v1/traces').map(({ text }) => text);
    expect(spans.join('\n')).toContain(`"traceId":"${traceId}","spanId"`);
    expect(spans.join('\n')).toContain('"parentSpanId":"b7ad6b7169203331"');
    expect(spans.join('\n')).toContain('chat claude-opus-4-5');
    expect(spans.join('\n')).toContain('1234');
    expect(exported.some(({ url, text }) => url === '/v1/metrics' && text.includes('gen_ai.client'))).toBe(true);
    const lines = readFileSync(recording, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as RecordedLine);
    const ends = lines.map(({ event }) => event);
    expect(ends.filter(({ type }) => type === 'turn.end').map(({ outcome }) => outcome)).toEqual([
      'completed',
      'error',
    ]);
    expect(JSON.stringify([exported, lines])).not.toContain('Secret question');
    expect(JSON.stringify(lines)).toContain('has no access to this model');
    expect(JSON.stringify([exported, lines])).not.toContain(secret);
    // What the client sent and received is not changed.
    expect(provider.received[0]?.headers['traceparent']).toBe(headers.traceparent);
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('failover', () => {
  it('answers with another key, then with another model, and remembers what failed', async () => {
    const provider = await open(
      startProvider(({ headers, body }, outgoing) => {
        if (headers['x-api-key'] === 'key-1') {
          outgoing.writeHead(429, { 'content-type': 'application/json', 'retry-after': '60' });
          outgoing.end('{"type":"error","error":{"type":"rate_limit_error","message":"Rate limit"}}');
        } else if (body['model'] === 'claude-opus-4-5') {
          outgoing.writeHead(529).end('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}');
        } else sendMessage(outgoing);
      }),
    );
    const { key, keyHash } = createKey();
    const proxy = await open(
      proxyFor(
        provider,
        {
          clients: [{ name: 'alice', keyHash }],
          anthropic: {
            keys: [
              { id: 'one', env: 'ONE' },
              { id: 'two', env: 'TWO' },
            ],
            models: ['claude-sonnet-4-5'],
          },
        },
        { env: { ONE: 'key-1', TWO: 'key-2' } },
      ),
    );
    const text = `{"max_tokens":100, "model": "claude-opus-4-5" ,"messages":[{"role":"user","content":"Hi"}]}`;
    expect((await post(proxy.url, text, { headers: { 'x-api-key': key } })).status).toBe(200);
    expect(provider.received.map(({ headers, body }) => [headers['x-api-key'], body['model']])).toEqual([
      ['key-1', 'claude-opus-4-5'],
      ['key-2', 'claude-opus-4-5'],
      ['key-2', 'claude-sonnet-4-5'],
    ]);
    expect(provider.received[2]?.text).toBe(text.replace('claude-opus-4-5', 'claude-sonnet-4-5'));
    expect((await post(proxy.url, text, { headers: { 'x-api-key': key } })).status).toBe(200);
    expect(provider.received).toHaveLength(4);
  });

  it('answers that the request may be repeated when a key is available again, while all are in cooldown', async () => {
    const provider = await open(
      startProvider((_request, outgoing) => {
        outgoing.writeHead(429, { 'content-type': 'application/json', 'retry-after': '3600' });
        outgoing.end('{"type":"error","error":{"type":"rate_limit_error","message":"Rate limit"}}');
      }),
    );
    const { key, keyHash } = createKey();
    const keys = [
      { id: 'one', env: 'ONE' },
      { id: 'two', env: 'TWO' },
    ];
    const config = { clients: [{ name: 'alice', keyHash }], anthropic: { keys } };
    const proxy = await open(proxyFor(provider, config, { env: { ONE: 'key-1', TWO: 'key-2' } }));
    const ask = () => post(proxy.url, messages('Hi'), { headers: { 'x-api-key': key } });
    expect((await ask()).status).toBe(429);
    const answer = await ask();
    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([503, 'true']);
    expect(answer.headers.get('retry-after')).toMatch(/^3\d{3}$/);
    expect(await answer.json()).toEqual({
      type: 'error',
      error: { type: 'overloaded_error', message: 'All credentials are in cooldown after earlier failures.' },
    });
    expect(provider.received).toHaveLength(2);
  });

  it('forwards the last failure as it was received', async () => {
    const failure = '{"type":"error", "error":{"type":"api_error","message":"Internal"},"request_id":"r"}';
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(500, { 'content-type': 'application/json', 'Request-Id': 'r' });
        outgoing.end(failure);
      }),
    );
    const proxy = await open(proxyFor(provider, { anthropic: { models: ['claude-sonnet-4-5'] } }));
    const answer = await post(proxy.url, messages('Hi'));
    expect([answer.status, await answer.text()]).toEqual([500, failure]);
    expect(answer.headers.get('request-id')).toBe('r');
    expect(provider.received).toHaveLength(2);
  });

  it('does not repeat a call after the first byte of an answer', async () => {
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write('data: {}\n\n', () => outgoing.destroy());
      }),
    );
    const proxy = await open(proxyFor(provider, { anthropic: { models: ['claude-sonnet-4-5'] } }));
    const answer = await post(proxy.url, messages('Hi'));
    await expect(answer.text()).rejects.toThrow();
    expect(provider.received).toHaveLength(1);
  });
});
