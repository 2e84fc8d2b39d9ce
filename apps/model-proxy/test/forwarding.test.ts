import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { get, request, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { gzipSync, brotliCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { createKey, type ProxyConfigInput } from '../src/index.js';
import { messages, post, proxyFor, sendMessage, startProvider } from './provider.js';
import { withResolvers } from './tap.js';

const cleanups: (() => Promise<void>)[] = [];
const open = async <Value extends { close(): Promise<void> }>(value: Promise<Value>): Promise<Value> => {
  const opened = await value;
  cleanups.push(opened.close);
  return opened;
};
afterEach(async () => {
  for (const close of cleanups.splice(0).toReversed()) await close();
});

const metric = async (base: string, name: string): Promise<string | undefined> => {
  const text = await (await fetch(`${base}/_h/metrics`)).text();
  return text.split('\n').find((line) => line.startsWith(name));
};

describe('forwarding', () => {
  it('passes each chunk of a stream on as it arrives', async () => {
    const next = withResolvers<undefined>();
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'Request-Id': 'r1' });
        outgoing.write('event: ping\ndata: {"type": "ping"}\n\n');
        void next.promise.then(() => outgoing.end('event: message_stop\ndata: {"type":"message_stop"}\n\n'));
      }),
    );
    const proxy = await open(proxyFor(provider));
    const answer = await post(proxy.url, messages('Hi'));
    const reader = answer.body?.getReader();
    // The provider sends the rest only after the client has read the first part.
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('event: ping\ndata: {"type": "ping"}\n\n');
    next.resolve(undefined);
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('message_stop');
    expect(answer.headers.get('request-id')).toBe('r1');
  });

  it('reads the whole answer, for chunks of any size', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 20_000 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(sizes, sizes, async (lengths, cuts) => {
        const block = 'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n';
        const deltas = lengths.map((length) => {
          const delta = { type: 'text_delta', text: 'x'.repeat(length) };
          return `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}\n\n`;
        });
        let rest = [block, ...deltas].join('');
        const sent = rest;
        const provider = await open(
          startProvider((_, outgoing) => {
            outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
            for (const cut of cuts) {
              if (rest === '') break;
              outgoing.write(rest.slice(0, cut));
              rest = rest.slice(cut);
            }
            outgoing.end(rest);
          }),
        );
        const proxy = await open(proxyFor(provider));
        expect(await (await post(proxy.url, messages('Hi'))).text()).toBe(sent);
        const chars = lengths.reduce((sum, length) => sum + length, 0);
        const name = 'h_proxy_tokens_total{client="anonymous",model="claude-opus-4-5",kind="output"}';
        await expect.poll(() => metric(proxy.url, name)).toBe(`${name} ${Math.ceil(chars / 3.5)}`);
      }),
      { numRuns: 15 },
    );
  });

  it('cancels the provider when the client leaves in mid-stream, and counts an estimate', async () => {
    const left = withResolvers<undefined>();
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write('data: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n');
        outgoing.once('close', () => left.resolve(undefined));
      }),
    );
    const proxy = await open(proxyFor(provider));
    const leaving = new AbortController();
    const answer = await post(proxy.url, messages('Hi'), { signal: leaving.signal });
    await answer.body?.getReader().read();
    leaving.abort();
    await left.promise;
    await expect.poll(() => metric(proxy.url, 'h_proxy_estimated_requests_total')).toMatch(/ 1$/);
    await expect.poll(() => metric(proxy.url, 'h_proxy_active_requests ')).toMatch(/ 0$/);
  });

  it('cancels the provider when the client leaves before the answer', async () => {
    const arrived = withResolvers<undefined>();
    const left = withResolvers<undefined>();
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.once('close', () => left.resolve(undefined));
        arrived.resolve(undefined);
      }),
    );
    const proxy = await open(proxyFor(provider));
    const leaving = new AbortController();
    const answer = post(proxy.url, messages('Hi'), { signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await left.promise;
  });

  it('cancels all requests that a client has sent at once when it leaves', async () => {
    const both = withResolvers<undefined>();
    const waiting = new Set<unknown>();
    const provider = await open(
      startProvider((_, outgoing) => {
        waiting.add(outgoing);
        outgoing.once('close', () => waiting.delete(outgoing));
        if (waiting.size === 2) both.resolve(undefined);
      }),
    );
    const proxy = await open(proxyFor(provider));
    const body = JSON.stringify(messages('Hi'));
    const head = `POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: k\r\ncontent-length: ${body.length}\r\n\r\n`;
    const client = connect(Number(new URL(proxy.url).port), '127.0.0.1');
    client.write(`${head}${body}${head}${body}`);
    await both.promise;
    client.destroy();
    await expect.poll(() => waiting.size).toBe(0);
    await expect.poll(() => metric(proxy.url, 'h_proxy_active_requests ')).toMatch(/ 0$/);
  });

  it('logs the calls that no provider answers, with their failure', async () => {
    const arrived = withResolvers<undefined>();
    const provider = await open(startProvider(() => arrived.resolve(undefined)));
    const folder = temporaryFolder();
    const log = join(folder, 'calls.jsonl');
    const leaving = new AbortController();
    const proxy = await open(proxyFor(provider, { log }));
    const answer = post(proxy.url, messages('Hi'), { signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    const silent = await open(proxyFor(provider, { log: `${log}.silent`, timeouts: { headMs: 50 } }));
    await post(silent.url, messages('Hi'));
    const linesOf = (file: string): unknown[] =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as unknown)
        : [];
    await expect.poll(() => linesOf(log)).toMatchObject([{ status: 499, delivery: 'client-left', estimated: true }]);
    await expect
      .poll(() => linesOf(`${log}.silent`))
      .toMatchObject([{ status: 504, delivery: 'complete', error: { type: 'timed-out' } }]);
    expect(await metric(silent.url, 'h_proxy_requests_total')).toMatch(/status="504"} 1$/);
  });

  it('breaks the answer of the client if the provider breaks it', async () => {
    const provider = await open(
      startProvider((_, outgoing) => {
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write('data: {}\n\n', () => outgoing.destroy());
      }),
    );
    const proxy = await open(proxyFor(provider));
    const answer = await post(proxy.url, messages('Hi'));
    await expect(answer.text()).rejects.toThrow();
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ] as const)('forwards answers in %s as they are and reads a copy', async (encoding, compress) => {
    const body = JSON.stringify({
      type: 'message',
      stop_reason: 'end_turn',
      usage: { input_tokens: 7, output_tokens: 3 },
    });
    const provider = await open(
      startProvider(({ headers }, outgoing) => {
        outgoing.writeHead(200, { 'content-encoding': encoding, 'x-accepted': headers['accept-encoding'] });
        outgoing.end(compress(body));
      }),
    );
    const proxy = await open(proxyFor(provider));
    const answer = await post(proxy.url, messages('Hi'), {
      headers: { 'accept-encoding': 'gzip, br, unheard-of;q=0.1' },
    });
    expect(answer.headers.get('content-encoding')).toBe(encoding);
    expect(answer.headers.get('x-accepted')).toBe('gzip, br');
    expect(await answer.text()).toBe(body);
    expect(await metric(proxy.url, 'h_proxy_tokens_total')).toMatch(/kind="input"} 7$/);
  });

  it.each([
    ['a status message with control characters', 'HTTP/1.1 299 Odd\u0001\r\ncontent-length: 0\r\n\r\n', 299],
    ['an error whose message has them', 'HTTP/1.1 599 Odd\u0001\r\ncontent-length: 0\r\n\r\n', 599],
    ['another protocol', 'HTTP/1.1 101 Switch\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nx', 502],
  ])('survives an answer with %s', async (_, head, status) => {
    const provider = await open(startProvider((_request, _outgoing, { socket }) => void socket.write(head)));
    const client = createKey();
    const keys = ['A', 'B'].map((env) => ({ id: env, env }));
    const config = { clients: [{ name: 'a', keyHash: client.keyHash }], anthropic: { keys } };
    const proxy = await open(proxyFor(provider, config, { env: { A: 'a', B: 'b' } }));
    const headers = { 'x-api-key': client.key };
    expect((await post(proxy.url, messages('Hi'), { headers })).status).toBe(status);
  });

  it('reads compressed requests and forwards them as they are', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider));
    const answer = await fetch(`${proxy.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(messages('Hi'))),
    });
    expect(answer.status).toBe(200);
    expect(provider.received[0]?.headers['content-encoding']).toBe('gzip');
  });

  it('passes count_tokens and lists of models without counting them', async () => {
    const provider = await open(startProvider((_, outgoing) => void outgoing.end('{"input_tokens":3}')));
    const proxy = await open(proxyFor(provider));
    await post(proxy.url, messages('Hi'), { path: '/v1/messages/count_tokens?beta=true' });
    await fetch(`${proxy.url}/v1/models?limit=2`, { headers: { 'anthropic-version': '2023-06-01' } });
    expect(provider.received.map(({ url }) => url)).toEqual([
      '/v1/messages/count_tokens?beta=true',
      '/v1/models?limit=2',
    ]);
    expect(await metric(proxy.url, 'h_proxy_requests_total')).toBeUndefined();
  });
});

describe('close', () => {
  it('ends requests that are being received, waiting or streaming', async () => {
    const arrived = withResolvers<undefined>();
    const provider = await open(
      startProvider(({ body }, outgoing) => {
        if (body['stream'] !== true) return arrived.resolve(undefined);
        outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
        outgoing.write('data: {}\n\n');
      }),
    );
    const proxy = await proxyFor(provider);
    const streaming = await post(proxy.url, { ...messages('a'), stream: true });
    const waiting = post(proxy.url, messages('b'));
    await arrived.promise;
    const { port } = new URL(proxy.url);
    const receiving = connect(Number(port), '127.0.0.1');
    receiving.write('POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n\r\n{');
    const ended = new Promise((resolve) => {
      receiving.once('close', resolve);
    });
    receiving.on('error', () => undefined);
    receiving.resume();
    await proxy.close();
    await ended;
    expect((await waiting).status).toBe(503);
    await expect(streaming.text()).rejects.toThrow();
  });
});

describe('refusals', () => {
  it.each([
    ['/v1/messages', { type: 'error', error: { type: 'request_too_large', message: expect.any(String) as string } }],
    [
      '/v1/responses',
      { error: expect.objectContaining({ type: 'invalid_request_error', code: 'too_large' }) as object },
    ],
  ])('use the error format of the provider: %s', async (path, expected) => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { maxBodyBytes: 100 }));
    const answer = await post(proxy.url, messages('x'.repeat(200)), { path });
    expect(answer.status).toBe(413);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toEqual(expected);
    expect(provider.received).toEqual([]);
  });

  it('answers 413 to a body of unknown length that is too large', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider, { maxBodyBytes: 100 }));
    const sent = request(`${proxy.url}/v1/messages`, { method: 'POST' });
    // The body does not end: the answer must not wait for the rest.
    sent.write('x'.repeat(200));
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    expect(answer.statusCode).toBe(413);
    sent.once('error', () => undefined).destroy();
    expect(provider.received).toEqual([]);
  });

  it('answers 502 if the provider cannot be reached', async () => {
    const provider = await startProvider(() => undefined);
    await provider.close();
    const proxy = await open(proxyFor(provider));
    const answer = await post(proxy.url, messages('Hi'));
    expect(answer.status).toBe(502);
    expect(await answer.text()).toContain('ECONNREFUSED');
  });

  it('answers 504 if the provider sends no answer', async () => {
    const provider = await open(startProvider(() => undefined));
    const proxy = await open(proxyFor(provider, { timeouts: { headMs: 50 } }));
    expect((await post(proxy.url, messages('Hi'))).status).toBe(504);
  });

  it.each([
    ['a web page', { origin: 'https://example.org' }],
    ['a rebound name', { host: 'example.org' }],
  ])('reject requests from %s', async (_, headers) => {
    const provider = await open(startProvider((__, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider));
    const { request } = await import('node:http');
    const status = await new Promise((resolve, reject) => {
      const sent = request(`${proxy.url}/v1/messages`, { method: 'POST', headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      sent.on('error', reject);
      sent.end('{}');
    });
    expect(status).toBe(403);
  });

  it.each(['/v1/images/generations', '/v1/batches', '/v1/messages/batches'])(
    'deny %s, which cannot be metered',
    async (path) => {
      const provider = await open(startProvider((_, outgoing) => void outgoing.end('{}')));
      const proxy = await open(proxyFor(provider));
      expect((await post(proxy.url, {}, { path })).status).toBe(403);
      const passing = await open(proxyFor(provider, { unmetered: 'pass' }));
      expect((await post(passing.url, {}, { path })).status).toBe(200);
    },
  );

  it('reject bodies that are not JSON objects', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider));
    const deep = `{"model":"m","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    for (const body of ['', '[]', '{"model":', 'null', deep]) expect((await post(proxy.url, body)).status).toBe(400);
  });
});

describe('clients', () => {
  it('receive 426 for a WebSocket, so that Codex uses HTTP at once', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider));
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      get(`${proxy.url}/v1/responses`, { headers }, resolve).once('error', reject);
    });
    expect(answer.statusCode).toBe(426);
    expect(JSON.stringify(await json(answer))).toContain('HTTP POST');
    expect(provider.received).toHaveLength(0);
  });

  it('replaces the key of a client by the key of the provider', async () => {
    const { key, keyHash } = createKey();
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const config = {
      clients: [{ name: 'alice', keyHash }],
      anthropic: { keys: [{ id: 'main', env: 'KEY' }] },
    };
    const proxy = await open(proxyFor(provider, config, { env: { KEY: 'sk-ant-secret' } }));
    expect((await post(proxy.url, messages('Hi'), { headers: { 'x-api-key': 'sk-ant-wrong' } })).status).toBe(401);
    expect((await post(proxy.url, messages('Hi'))).status).toBe(401);
    expect((await post(proxy.url, messages('Hi'), { headers: { authorization: `Bearer ${key}` } })).status).toBe(200);
    expect(provider.received).toHaveLength(1);
    expect(provider.received[0]?.headers).toMatchObject({ 'x-api-key': 'sk-ant-secret' });
    expect(provider.received[0]?.headers.authorization).toBeUndefined();
    expect(await metric(proxy.url, 'h_proxy_requests_total')).toContain('client="alice"');
    expect((await post(proxy.url, {}, { path: '/v1/responses', headers: { 'x-api-key': key } })).status).toBe(403);
  });

  it('reach nothing that the shared key of the provider stores for others', async () => {
    const { key, keyHash } = createKey();
    const provider = await open(startProvider((_, outgoing) => void outgoing.end('{}')));
    const config: ProxyConfigInput = {
      clients: [{ name: 'alice', keyHash }],
      openai: { keys: [{ id: 'main', env: 'KEY' }] },
    };
    const ask = async (url: string, method: string, path: string): Promise<number> => {
      const answer = await fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      return answer.status;
    };
    const proxy = await open(proxyFor(provider, config, { env: { KEY: 'sk' } }));
    for (const path of ['/v1/models', '/v1/models/ft:gpt-5.1:a', '/v1/models?limit=1000', '/v1/responses/resp_1']) {
      expect([path, await ask(proxy.url, 'GET', path)]).toEqual([path, 200]);
    }
    const sent = provider.received.length;
    const stored = [
      '/v1/files',
      '/v1/chat/completions',
      '/v1/responses',
      '/v1/models/../files',
      '/v1/models/%2e%2e/files',
    ];
    for (const path of [...stored, '/v1/models/..%2ffiles', '/v1/responses/..%5cfiles', '/v1/messages/batches']) {
      const { port } = new URL(proxy.url);
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}` };
        get({ host: '127.0.0.1', port, path, headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        }).once('error', reject);
      });
      expect([path, status]).toEqual([path, 403]);
    }
    expect(await ask(proxy.url, 'DELETE', '/v1/files/file-1')).toBe(403);
    expect(await ask(proxy.url, 'DELETE', '/v1/models/ft:gpt-5.1:a')).toBe(403);
    expect(provider.received).toHaveLength(sent);
    const passing = await open(proxyFor(provider, { ...config, unmetered: 'pass' }, { env: { KEY: 'sk' } }));
    expect(await ask(passing.url, 'GET', '/v1/files')).toBe(200);
  });

  it('shows the metrics to loopback only, or with a key', async () => {
    const provider = await open(startProvider((_, outgoing) => sendMessage(outgoing)));
    const proxy = await open(proxyFor(provider));
    expect((await fetch(`${proxy.url}/_h/health`)).status).toBe(200);
    expect((await fetch(`${proxy.url}/_h/other`)).status).toBe(404);
  });
});
