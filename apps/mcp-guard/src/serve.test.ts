import { createConnection, Server } from 'node:net';
import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { stringify } from 'yaml';
import { eventually, guardedClient, startFixture, textOf } from '../test/guard-client.js';
import { ConfigError, parseConfig } from './config.js';
import { serve } from './serve.js';

/** Serves a guard around the fixture over HTTP. */
const serveHttp = async (listen: object, config: object = {}) => {
  const ran: string[] = [];
  const servers = { it: { url: await startFixture((line) => ran.push(line)) } };
  const source = stringify({ servers, listen: { port: 0, ...listen }, security: { wrap: false }, ...config });
  const running = await serve(parseConfig(source, '/srv/guard.yaml', {}), () => undefined);
  onTestFinished(() => running.close());
  return { url: running.url ?? '', ran };
};

const connect = async (url: string, mode: 'auto' | 'legacy', headers: Record<string, string> = {}): Promise<Client> => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  return client;
};

/** Returns the status of a request with any target. */
const statusOf = async ({ hostname, port, host }: URL, target: string): Promise<number> => {
  const socket = createConnection(Number(port), hostname).setEncoding('utf8');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return Number(answer.split(' ')[1]);
};

describe('serve over HTTP', () => {
  it.each(['auto', 'legacy'] as const)('serves several clients at once: %s', async (mode) => {
    const { url } = await serveHttp({});
    const clients = await Promise.all([connect(url, mode), connect(url, mode)]);
    const texts = clients.map(async (client, index) =>
      textOf(await client.callTool({ name: 'echo', arguments: { text: `Hello ${index}` } })),
    );
    expect(await Promise.all(texts)).toEqual(['Hello 0', 'Hello 1']);
  });

  it('requires the token', async () => {
    const token = 'a-token-of-some-length';
    const { url } = await serveHttp({ token });
    const post = (headers: Record<string, string>) => fetch(url, { method: 'POST', body: '{}', headers });
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: `Bearer ${token}x` })).status).toBe(401);
    const client = await connect(url, 'auto', { authorization: `Bearer ${token}` });
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  });

  it.each([
    [{}, 'public'],
    [{ token: 'a-secret-of-the-guard' }, 'private'],
  ] as const)('passes on that a list is public, unless the guard has a token: %j', async (listen, expected) => {
    const { url } = await serveHttp(listen);
    const authorization = `Bearer ${'token' in listen ? listen.token : ''}`;
    const client = await connect(url, 'auto', { authorization });
    expect(await client.listTools(undefined, { cacheMode: 'refresh' })).toMatchObject({ cacheScope: expected });
  });

  it('receives messages up to results.maxMessageBytes, and says that longer ones are too long', async () => {
    const { url } = await serveHttp({}, { results: { maxMessageBytes: 6_000_000 } });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const send = (length: number) => fetch(url, { method: 'POST', headers, body: 'x'.repeat(length) });
    expect((await send(6_000_000)).status).toBe(400);
    const refused = await send(50_000_000);
    expect(refused.status).toBe(413);
    expect(await refused.text()).toContain('The message is longer than results.maxMessageBytes, 6000000.');
  });

  it('refuses other sites and other paths', async () => {
    const { url } = await serveHttp({});
    const send = (to: string, headers: Record<string, string> = {}) =>
      fetch(to, { method: 'POST', body: '{}', headers });
    expect((await send(url, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await send(url.replace('/mcp', '/other'))).status).toBe(404);
  });

  it('answers a request whose target is no URL, and continues', async () => {
    const { url } = await serveHttp({});
    expect(await statusOf(new URL(url), '//')).toBe(404);
    expect(await statusOf(new URL(url), 'http://[')).toBe(404);
    expect((await fetch(url.replace('/mcp', '/other'))).status).toBe(404);
  });

  it('does not listen beyond loopback without a token', async () => {
    await expect(serveHttp({ host: '0.0.0.0' })).rejects.toThrow(ConfigError);
    await expect(serveHttp({ host: '0.0.0.0' })).rejects.toThrow(/Set "listen\.token"/);
  });
});

describe('the approval page', () => {
  const policy = { rules: [{ tool: 'write', decision: 'ask', reason: 'It <b>writes</b>.' }] };

  it.each([
    ['once', ['write a']],
    ['deny', []],
  ] as const)('decides about a call: %s', async (choice, expected) => {
    const { call, log, notes } = await guardedClient({ policy });
    const calling = call('write', { path: 'a' });
    await expect.poll(() => notes.join('\n'), eventually).toMatch(/waits for your decision/);
    const page = /http:\S+/.exec(notes.join('\n'))?.[0] ?? '';
    const html = await (await fetch(page)).text();
    expect(html).toContain('It &#60;b&#62;writes&#60;/b&#62;.');
    const action = new RegExp(`action="([^"]+/${choice})"`).exec(html)?.[1] ?? '';
    await fetch(new URL(action, page), { method: 'POST' });
    expect((await calling).isError === true).toBe(choice === 'deny');
    expect(log()).toEqual(expected);
    expect(await (await fetch(page)).text()).toContain('No call waits.');
  });

  it('has a secret address', async () => {
    const { call, notes } = await guardedClient({ policy, approvals: { timeoutMs: 2_000 } });
    const calling = call('write', { path: 'a' });
    await expect.poll(() => notes.join('\n'), eventually).toMatch(/waits for your decision/);
    const page = new URL(/http:\S+/.exec(notes.join('\n'))?.[0] ?? '');
    expect((await fetch(new URL('/guess/', page))).status).toBe(404);
    expect((await fetch(new URL('/guess/x/once', page), { method: 'POST' })).status).toBe(404);
    // Not the encoding of any text.
    expect((await fetch(new URL('%E0%A4%A/once', page), { method: 'POST', redirect: 'manual' })).status).toBe(303);
    expect((await calling).isError).toBe(true);
  });

  it('opens for the next question if it could not be opened', async () => {
    const { call, notes } = await guardedClient({ policy, approvals: { timeoutMs: 500 } });
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function (this: Server) {
      setImmediate(() => this.emit('error', new Error('listen EMFILE: too many open files')));
      return this;
    });
    onTestFinished(() => listen.mockRestore());
    expect((await call('write', { path: 'a' })).isError).toBe(true);
    expect(notes.join('\n')).not.toMatch(/waits for your decision/);
    const calling = call('write', { path: 'b' });
    await expect.poll(() => notes.join('\n'), eventually).toMatch(/waits for your decision/);
    expect((await calling).isError).toBe(true);
  });
});

it('reports a message of the client that is not one of JSON-RPC in one line', async () => {
  const notes: string[] = [];
  const servers = { it: { url: await startFixture(() => undefined) } };
  const input = new PassThrough();
  const running = await serve(
    parseConfig(stringify({ servers }), '/srv/guard.yaml', {}),
    (note) => notes.push(note),
    new StdioServerTransport(input, new PassThrough()),
  );
  onTestFinished(() => running.close());
  input.write('{"jsonrpc":"2.0","id":9}\n[]\n');
  const problem = 'The client sent a message that is not a message of JSON-RPC 2.0. It was ignored.';
  await vi.waitFor(() => expect(notes).toEqual([problem, problem]));
});
