import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { McpServer as SdkServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { runCalls, toolCall, type RunCalls } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import { connectMcp, type McpServer } from './mcp-server.js';

interface Host {
  readonly url: string;
  readonly requests: { readonly method: string; readonly authorization: string | undefined }[];
  readonly ran: string[];
  /** The servers of the sessions, newest last. */
  readonly sessions: SdkServer[];
  /** Forgets all sessions, as a restart does. */
  forget(): Promise<void>;
  /** Stops listening and closes all connections. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const startHost = async (): Promise<Host> => {
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const host = { url: '', requests: [] as Host['requests'], ran: [] as string[], sessions: [] as SdkServer[] };
  let port = 0;
  let server: Server;

  const session = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void transports.set(id, transport),
    });
    const sdk = new SdkServer({ name: 'test', version: '1' });
    const annotations = { readOnlyHint: true, openWorldHint: false };
    sdk.registerTool('greet', { inputSchema: { name: z.string() }, annotations }, ({ name }) => {
      host.ran.push(name);
      return { content: [{ type: 'text', text: `Hello ${name}` }] };
    });
    sdk.registerTool('hang', {}, () => {
      host.ran.push('hang');
      return new Promise<never>(() => undefined);
    });
    sdk.registerTool('wrong', { outputSchema: { count: z.number() } }, () => ({
      content: [],
      structuredContent: { count: 1 },
    }));
    await sdk.connect(transport);
    host.sessions.push(sdk);
    return transport;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    host.requests.push({ method: request.method ?? '', authorization: request.headers.authorization });
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response
        .writeHead(404)
        .end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32001, message: 'Session not found' }, id: null }));
      return;
    }
    await (known ?? (await session())).handleRequest(request, response);
  };
  const listen = (): Promise<void> =>
    new Promise((resolve) => {
      server = createServer((request, response) => void handle(request, response));
      server.listen(port, '127.0.0.1', () => {
        ({ port } = server.address() as AddressInfo);
        resolve();
      });
    });
  await listen();
  return {
    ...host,
    url: `http://127.0.0.1:${port}/mcp`,
    forget: async () => {
      transports.clear();
    },
    start: listen,
    stop: () =>
      new Promise((resolve) => {
        transports.clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const done = async (ran: RunCalls): Promise<RunCalls> => {
  await expect.poll(() => ran.isComplete, { timeout: 15_000 }).toBe(true);
  return ran;
};

describe('a server over streamable HTTP', () => {
  let host: Host;
  let server: McpServer;
  const problems: Error[] = [];
  const start = (name: string, input: object = {}): RunCalls =>
    runCalls(toolDriver(createRegistry().register(server)), [toolCall('1', `mcp__web__${name}`, input)]);

  beforeEach(async () => {
    host = await startHost();
    server = await connectMcp({
      name: 'web',
      connection: { url: host.url, headers: { authorization: 'Bearer abc' } },
      onProblem: (problem) => problems.push(problem),
    });
  });
  afterEach(async () => {
    await server.close();
    await host.stop();
  });

  it('receives calls with the configured headers', async () => {
    const ran = await done(start('greet', { name: 'Ada' }));
    expect(ran.text('1')).toBe('Hello Ada');
    expect(host.requests.every(({ authorization }) => authorization === 'Bearer abc')).toBe(true);
  });

  it('is notified when its session ends', async () => {
    await server.close();
    expect(host.requests.at(-1)?.method).toBe('DELETE');
  });

  it('updates the registry when its tools change', async () => {
    const registry = createRegistry().register(server);
    const effective = registry.effective();
    const names = (): readonly string[] => effective.definitions().map(({ name }) => name);
    const before = effective.definitions();
    expect(names()).toEqual(['mcp__web__greet', 'mcp__web__hang', 'mcp__web__wrong']);
    expect(effective.definitions()).toBe(before);
    const added = host.sessions.at(-1)?.registerTool('fresh', {}, () => ({ content: [{ type: 'text', text: 'new' }] }));
    await expect.poll(names).toContain('mcp__web__fresh');
    expect(effective.definitions()[1]).toBe(before[0]);
    added?.remove();
    await expect.poll(names).not.toContain('mcp__web__fresh');
  });

  it('is reconnected if it has lost the session, and receives the call once', async () => {
    await host.forget();
    const ran = await done(start('greet', { name: 'Ada' }));
    expect(ran.outcome('1').status).toBe('ok');
    expect(host.ran).toEqual(['Ada']);
  });

  it('fails calls while it is unreachable, and answers again afterwards', async () => {
    await host.stop();
    const codes: unknown[] = [];
    // A kept-alive connection may require one failed call to detect the restart.
    while (codes.at(-1) !== 'mcp-unavailable') {
      const outcome = (await done(start('greet', { name: 'Ada' }))).outcome('1');
      codes.push(outcome.status === 'failed' && outcome.error.code);
      expect(codes.at(-1)).toMatch(/^mcp-(?:disconnected|unavailable)$/);
    }
    expect(server.state).toBe('lost');
    await host.start();
    expect((await done(start('greet', { name: 'Eve' }))).text('1')).toBe('Hello Eve');
    expect(host.ran).toEqual(['Eve']);
  });

  it('fails the call during which it disconnects', async () => {
    const ran = start('hang');
    await expect.poll(() => host.ran).toEqual(['hang']);
    await host.stop();
    await done(ran);
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-disconnected' } });
    await host.start();
  });

  it('fails a call whose structured content does not match its schema', async () => {
    const sdk = host.sessions.at(-1);
    sdk?.server.setRequestHandler((await import('@modelcontextprotocol/sdk/types.js')).CallToolRequestSchema, () => ({
      content: [],
      structuredContent: { count: 'many' },
    }));
    const ran = await done(start('wrong'));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-invalid-output' } });
  });

  it('cannot be registered twice under the same name', () => {
    const registry = createRegistry().register(server);
    expect(() => registry.register(server)).toThrow(/already/);
  });
});
