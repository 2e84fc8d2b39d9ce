import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSocket, type AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { referenceServer } from '../../test/mcp-servers.js';
import { runCalls, toolCall } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import manifest from '../../package.json' with { type: 'json' };
import { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';

const connect = async (connection: McpServerOptions['connection']): Promise<McpServer> => {
  const server = await connectMcp({ name: 'raw', connection });
  onTestFinished(() => server.close());
  return server;
};

const textOf = async (server: McpServer, name: string, input: object): Promise<string> => {
  const ran = runCalls(toolDriver(createRegistry().register(server)), [toolCall('1', `mcp__raw__${name}`, input)]);
  await expect.poll(() => ran.isComplete, { timeout: 15_000 }).toBe(true);
  return ran.text('1');
};

type Json = Readonly<Record<string, unknown>>;

const complete = { resultType: 'complete' };
const discovered = {
  ...complete,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  serverInfo: { name: 'raw', version: '1' },
  ttlMs: 0,
  cacheScope: 'private',
};

/** Starts a server of 2026-07-28 whose results are written by hand. */
const startRaw = async (results: Readonly<Record<string, (credentials: string | undefined) => Json>>) => {
  const requests: Json[] = [];
  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = (await json(incoming)) as Json;
    requests.push(request);
    const { authorization } = incoming.headers;
    const method = String(request['method']);
    const result = method === 'server/discover' ? discovered : results[method]?.(authorization);
    const error = { code: -32_601, message: 'Unknown method' };
    outgoing.writeHead(200, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify({ jsonrpc: '2.0', id: request['id'], ...(result ? { result } : { error }) }));
  };
  const server = createServer((incoming, outgoing) => void handle(incoming, outgoing));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const methods = (): readonly unknown[] => requests.map(({ method }) => method);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, requests, methods };
};

const tool = (name: string) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
const listOf = (names: readonly string[], ttlMs: number, cacheScope: unknown = 'private'): Json => ({
  ...complete,
  tools: names.map(tool),
  ttlMs,
  cacheScope,
});
const said = (text: string): Json => ({ content: [{ type: 'text', text }] });

describe('a server of 2026-07-28', () => {
  it('receives the name and the version of this package', async () => {
    const raw = await startRaw({ 'tools/list': () => listOf(['a'], 0) });
    await connect({ url: raw.url });
    const sent = JSON.stringify(raw.requests[0]);
    expect(sent).toContain(`{"name":"h-tools","version":${JSON.stringify(manifest.version)}}`);
  });

  it('is asked with server/discover first, and never initialized', async () => {
    const raw = await startRaw({ 'tools/list': () => listOf(['b', 'a'], 0) });
    const server = await connect({ url: raw.url });
    expect(server.protocolVersion).toBe('2026-07-28');
    expect(server.tools.map(({ name }) => name)).toEqual(['mcp__raw__a', 'mcp__raw__b']);
    expect(raw.methods()[0]).toBe('server/discover');
    expect(raw.methods()).not.toContain('initialize');
  });

  it('is refused if it lists more tools than can be offered in reasonable time', async () => {
    const names = Array.from({ length: 5_001 }, (_, index) => `tool-${index}`);
    const raw = await startRaw({ 'tools/list': () => listOf(names, 0) });
    await expect(connect({ url: raw.url })).rejects.toThrow(/lists 5001 tools; at most 5000 are accepted/);
  });

  it('is listed again when the ttlMs of its list have elapsed, and not before', async () => {
    const lists = [['a'], ['a', 'b']];
    const raw = await startRaw({
      'tools/list': () => listOf(lists.shift() ?? ['a', 'b'], 60_000),
      'tools/call': () => ({ ...complete, ...said('A') }),
    });
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const server = await connect({ url: raw.url });
    const listings = (): number => raw.methods().filter((method) => method === 'tools/list').length;
    const startedAt = performance.now();
    now.mockImplementation(() => startedAt + 59_000);
    expect(await textOf(server, 'a', {})).toBe('A');
    expect(listings()).toBe(1);
    now.mockImplementation(() => startedAt + 120_000);
    expect(await textOf(server, 'a', {})).toBe('A');
    await expect.poll(() => server.tools.map(({ name }) => name)).toEqual(['mcp__raw__a', 'mcp__raw__b']);
    expect(listings()).toBe(2);
  });

  it('is listed again by a later call after a listing that failed', async () => {
    const lists: (Json | undefined)[] = [listOf(['a'], 60_000), undefined, listOf(['a', 'b'], 60_000)];
    const raw = await startRaw({
      'tools/list': () => lists.shift() as Json,
      'tools/call': () => ({ ...complete, ...said('A') }),
    });
    const now = vi.spyOn(performance, 'now');
    onTestFinished(() => now.mockRestore());
    const problems: string[] = [];
    const server = await connectMcp({
      name: 'raw',
      connection: { url: raw.url },
      onProblem: ({ message }) => {
        problems.push(message);
        throw new Error('The log is full.');
      },
    });
    onTestFinished(() => server.close());
    const startedAt = performance.now();
    for (const seconds of [120, 140, 160]) {
      now.mockImplementation(() => startedAt + 1_000 * seconds);
      expect(await textOf(server, 'a', {})).toBe('A');
      if (seconds === 120) await expect.poll(() => problems).toEqual([expect.stringContaining('failed')]);
      now.mockImplementation(() => startedAt + 1_000 * seconds + 400);
      if (seconds === 140) expect(lists).toHaveLength(1);
    }
    await expect.poll(() => server.tools.map(({ name }) => name)).toEqual(['mcp__raw__a', 'mcp__raw__b']);
  });

  it.each([
    ['private', 'private'],
    ['public', 'public'],
    [undefined, 'private'],
  ] as const)('with the cacheScope %s has a list that is %s, and each connection its own', async (given, expected) => {
    const raw = await startRaw({
      'tools/list': (credentials) => listOf([credentials === 'Bearer a' ? 'of-a' : 'of-b'], 86_400_000, given),
    });
    const servers = await Promise.all(
      ['a', 'b'].map((token) => connect({ url: raw.url, headers: { authorization: `Bearer ${token}` } })),
    );
    expect(servers.map(({ tools }) => tools.map(({ name }) => name))).toEqual([['mcp__raw__of-a'], ['mcp__raw__of-b']]);
    expect(servers.map(({ cacheScope }) => cacheScope)).toEqual([expected, expected]);
  });

  it.each([
    ['complete', said('A'), /^A$/],
    ['of an unknown type', { ...said('A'), resultType: 'later' }, /later/],
  ] as const)('gives a result that is %s by its resultType', async (_name, result, expected) => {
    const raw = await startRaw({
      'tools/list': () => listOf(['a'], 0),
      'tools/call': () => ({ ...complete, ...result }),
    });
    expect(await textOf(await connect({ url: raw.url }), 'a', {})).toMatch(expected);
  });

  it('fails a call whose result has no resultType', async () => {
    const raw = await startRaw({ 'tools/list': () => listOf(['a'], 0), 'tools/call': () => said('A') });
    expect(await textOf(await connect({ url: raw.url }), 'a', {})).toContain('resultType');
  });
});

const freePort = async (): Promise<number> => {
  const socket = createSocket();
  await once(socket.listen(0, '127.0.0.1'), 'listening');
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
};

describe('server-everything over HTTP', () => {
  it('offers the tools that it offers over stdio, and answers calls', async () => {
    const { command, args = [] } = referenceServer('everything', 'streamableHttp');
    const port = await freePort();
    const child = spawn(command, args, {
      env: { ...process.env, PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    onTestFinished(async () => {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    });
    for await (const chunk of child.stderr as AsyncIterable<Buffer>) if (/listening/i.test(chunk.toString())) break;
    const remote = await connect({ url: `http://127.0.0.1:${port}/mcp` });
    const local = await connect(referenceServer('everything'));
    const names = (server: McpServer): readonly string[] => server.tools.map(({ name }) => name);
    expect(names(remote)).toEqual(names(local));
    expect(names(remote)).toContain('mcp__raw__echo');
    expect(await textOf(remote, 'echo', { message: 'Hello' })).toBe('Echo: Hello');
    expect(await textOf(remote, 'get-sum', { a: 2, b: 3 })).toContain('5');
  });
});
