import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { harness, type TurnEvent } from '@h/turn';
import { call as toolUse, response, scriptedModel } from '@h/turn/testing';
import { build } from 'esbuild';
import { lastValueFrom, toArray } from 'rxjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { currentServer, serverMemory, type ServerMemory } from '../../test/current-server.js';
import { runCalls, toolCall, type RunCalls } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import { inputApprovals } from './input-approvals.js';
import { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';

const done = async (ran: RunCalls): Promise<RunCalls> => {
  await expect.poll(() => ran.isComplete, { timeout: 20_000 }).toBe(true);
  return ran;
};
const start = (server: McpServer, name: string, input: object = {}): RunCalls =>
  runCalls(toolDriver(createRegistry().register(server)), [toolCall('1', `mcp__now__${name}`, input)]);

const connect = async (connection: McpServerOptions['connection'], options: Partial<McpServerOptions> = {}) => {
  const server = await connectMcp({ name: 'now', connection, ...options });
  onTestFinished(() => server.close());
  return server;
};

/** A host of one server over HTTP. */
interface Host {
  readonly memory: ServerMemory;
  readonly handler: McpHttpHandler;
  readonly url: string;
  /** Methods of the requests. */
  readonly methods: string[];
  /** Called before a request is handled; returns whether to break the connection, or a status with which to fail. */
  breaks: (method: string) => boolean | number;
}

const startHost = async (): Promise<Host> => {
  const memory = serverMemory();
  const handler = createMcpHandler(currentServer(memory));
  const serve = toNodeHandler(handler) as (request: IncomingMessage, answer: ServerResponse) => Promise<void>;
  const host: Host = { memory, handler, url: '', methods: [], breaks: () => false };
  const http: Server = createServer((request, answer) => {
    const method = String(request.headers['mcp-method'] ?? 'none');
    host.methods.push(method);
    const fault = host.breaks(method);
    if (fault === false) return void serve(request, answer);
    if (fault !== true) return void answer.writeHead(fault).end('x'.repeat(1_000_000));
    answer.writeHead(200, { 'content-type': 'text/event-stream' });
    answer.write(': open\n\n');
    request.resume().on('end', () => answer.end());
    return undefined;
  });
  await new Promise<void>((resolve) => {
    http.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  );
  return Object.assign(host, { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` });
};

const folder = mkdtempSync(join(tmpdir(), 'h-mcp-current-'));
const program = join(folder, 'server.mjs');

beforeAll(async () => {
  await build({
    entryPoints: [new URL('../../test/current-server-program.ts', import.meta.url).pathname],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stdio = (env: Record<string, string> = {}) => ({ command: process.execPath, args: [program], env });

describe.each(['stdio', 'http'] as const)('a server of 2026-07-28 over %s', (wire) => {
  const open = async (options: Partial<McpServerOptions> = {}): Promise<McpServer> =>
    connect(wire === 'stdio' ? stdio() : { url: (await startHost()).url }, options);

  it('negotiates the version and offers its tools by name', async () => {
    const server = await open();
    expect(server.protocolVersion).toBe('2026-07-28');
    const names = server.tools.map(({ name }) => name.replace('mcp__now__', ''));
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['big', 'build', 'greet', 'order', 'trace']));
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
  });

  it('speaks an earlier version with the option `protocol`', async () => {
    const server = await open({ protocol: '2025' });
    expect(server.protocolVersion).toBe('2025-11-25');
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
  });

  it('receives the trace context of a call', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const server = await open({ traceContext: () => ({ traceparent }) });
    expect(JSON.parse((await done(start(server, 'trace'))).text('1'))).toMatchObject({ traceparent });
  });

  it.each([
    ['accept', 'Ordered tea'],
    ['decline', 'Not ordered'],
    ['cancel', 'Not ordered'],
  ] as const)('receives the answer to a request for input: %s', async (action, result) => {
    const asked: unknown[] = [];
    const server = await open({
      onInput: ({ message, tool, schema }) => {
        asked.push({ message, tool, required: schema['required'] });
        return action === 'accept' ? { action, content: { confirm: true } } : { action };
      },
    });
    const ran = await done(start(server, 'order', { item: 'tea' }));
    expect(ran.text('1')).toBe(result);
    expect(asked).toEqual([{ message: 'Order tea?', tool: 'order', required: ['confirm'] }]);
  });

  it('learns from the capabilities that input is not supported without a handler', async () => {
    const ran = await done(start(await open(), 'order', { item: 'tea' }));
    expect(ran.outcome('1').status).toBe('failed');
  });

  it('runs a call as a task, with input, and reports its states', async () => {
    const server = await open({ onInput: () => ({ action: 'accept', content: {} }) });
    const ran = await done(start(server, 'build', { asks: true }));
    expect(ran.text('1')).toBe('Built: {"go":{"action":"accept","content":{}}}');
    expect(ran.progress.map(({ progress }) => (progress as { message: string }).message)).toEqual([
      'The task is working.',
      'The task is input_required.',
      'The task is working.',
      'The task is completed.',
    ]);
  });

  it('fails a result that is too large, and continues to serve', async () => {
    const server = await open({ maxMessageBytes: 100_000 });
    const ran = await done(start(server, 'big', { bytes: 200_000 }));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-too-large' } });
    expect(ran.text('1')).toContain('more than 100000 bytes');
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
  });
});

describe('approvals', () => {
  it.each([
    ['once', 'Ordered tea'],
    ['deny', 'Not ordered'],
  ] as const)('answer a request for input: %s', async (decision, result) => {
    const inputs = inputApprovals();
    const server = await connect({ url: (await startHost()).url }, { onInput: inputs.onInput });
    const model = scriptedModel([response(toolUse('1', 'mcp__now__order', { item: 'tea' })), 'Done.']);
    const agent = harness({ model, tools: toolDriver(createRegistry().register(server)) }).pipe(inputs.operator);
    const events: TurnEvent[] = [];
    await new Promise<void>((resolve, reject) => {
      agent.turn({ session: 's', input: 'Order tea' }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'approval.request') agent.answer(event.id, decision);
        },
        complete: resolve,
        error: reject,
      });
    });
    const request = events.find(({ type }) => type === 'approval.request');
    expect(request).toMatchObject({
      reason: 'The MCP server "now" asks: Order tea?',
      call: { name: 'mcp__now__order', input: { item: 'tea' } },
    });
    const [ended] = events.filter(({ type }) => type === 'tool.result');
    expect(ended).toMatchObject({ output: { value: result } });
  });

  it('are answered for the user when the call ends before them', async () => {
    const inputs = inputApprovals();
    const server = await connect({ url: (await startHost()).url }, { onInput: inputs.onInput, timeoutMs: 300 });
    const model = scriptedModel([response(toolUse('1', 'mcp__now__order', { item: 'tea' })), 'Done.']);
    const agent = harness({ model, tools: toolDriver(createRegistry().register(server)) }).pipe(inputs.operator);
    const events = await lastValueFrom(agent.turn({ session: 's', input: 'Order tea' }).pipe(toArray()));
    const id = events.flatMap((event) => (event.type === 'approval.request' ? [event.id] : []))[0];
    expect(events.filter(({ type }) => type === 'approval.answer')).toMatchObject([
      { id, decision: 'deny', reason: 'The call or its server has ended.' },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
  });

  it('are withdrawn when the turn is cancelled', async () => {
    const inputs = inputApprovals();
    const host = await startHost();
    const server = await connect({ url: host.url }, { onInput: inputs.onInput });
    const model = scriptedModel([response(toolUse('1', 'mcp__now__order', { item: 'tea' })), 'Done.']);
    const agent = harness({ model, tools: toolDriver(createRegistry().register(server)) }).pipe(inputs.operator);
    const abort = new AbortController();
    let outcome: string | undefined;
    await new Promise<void>((resolve) => {
      agent.turn({ session: 's', input: 'Order tea', signal: abort.signal }).subscribe({
        next: (event) => {
          if (event.type === 'approval.request') abort.abort();
          if (event.type === 'turn.end') ({ outcome } = event);
        },
        complete: resolve,
      });
    });
    expect(outcome).toBe('cancelled');
    expect(host.memory.log).toEqual(['order']);
  });
});

describe('a task', () => {
  it('is cancelled with its call', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url }, { onInput: () => new Promise(() => undefined) });
    const ran = start(server, 'build', { asks: true });
    await expect.poll(() => host.memory.tasks.get('task-1')?.polls, { timeout: 15_000 }).toBe(1);
    ran.unsubscribe();
    await expect.poll(() => host.memory.log, { timeout: 15_000 }).toContain('tasks/cancel');
  });

  it('is cancelled at the time limit of its call', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url }, { onInput: () => new Promise(() => undefined), timeoutMs: 1_000 });
    const ran = await done(start(server, 'build', { asks: true }));
    expect(ran.outcome('1').status).toBe('timed-out');
    await expect.poll(() => host.memory.log, { timeout: 15_000 }).toContain('tasks/cancel');
  });

  it.each([
    [2, 'ok', 0],
    [Infinity, 'failed', 1],
  ] as const)('survives two broken polls in a row, and is cancelled after more: %d', async (count, status, cancels) => {
    const host = await startHost();
    const server = await connect({ url: host.url });
    let polls = 0;
    host.breaks = (method) => method === 'tasks/get' && (polls += 1) <= count;
    const ran = await done(start(server, 'build', { asks: false }));
    expect(ran.outcome('1').status).toBe(status);
    if (status === 'failed') expect(polls).toBe(3);
    const cancelled = (): number => host.memory.log.filter((line) => line === 'tasks/cancel').length;
    await expect.poll(cancelled, { timeout: 15_000 }).toBe(cancels);
  });
});

describe('a server whose answers are 404', () => {
  it('does not begin a task again whose state it cannot return', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url });
    let polls = 0;
    host.breaks = (method) => method === 'tasks/get' && (polls += 1) <= 3 && 404;
    const { error } = (await done(start(server, 'build', { asks: false }))).outcome('1') as { readonly error?: Error };
    expect(error).toMatchObject({ code: 'mcp-task-lost' });
    expect(error?.message.length).toBeLessThan(20_000);
    expect(host.memory.log.filter((line) => line === 'build')).toEqual(['build']);
    expect((await done(start(server, 'build', { asks: false }))).outcome('1').status).toBe('ok');
  });

  it('is reported with a message of bounded length', async () => {
    const host = await startHost();
    host.breaks = () => 404;
    const failure: unknown = await connect({ url: host.url }, { protocol: '2025' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'mcp-unavailable' });
    expect((failure as Error).message.length).toBeLessThan(20_000);
  });
});

describe('a broken response stream', () => {
  const breakFirst = (host: Host): void => {
    let calls = 0;
    host.breaks = (method) => method === 'tools/call' && (calls += 1) === 1;
  };

  it('is issued again for a read-only tool', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url });
    breakFirst(host);
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
    expect(host.methods.filter((method) => method === 'tools/call')).toHaveLength(2);
  });

  it('fails a tool with effects, which may have run', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url });
    breakFirst(host);
    const ran = await done(start(server, 'order', { item: 'tea' }));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-disconnected' } });
    expect(host.methods.filter((method) => method === 'tools/call')).toHaveLength(1);
  });
});

describe('a program that ends during a call', () => {
  it('receives a read-only call again, once', async () => {
    const starts: number[] = [];
    const server = await connect(stdio(), { onState: (state) => state === 'connected' && starts.push(1) });
    const ran = await done(start(server, 'die-once'));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-disconnected' } });
    expect(starts).toHaveLength(2);
  });

  it('fails a tool with effects', async () => {
    const server = await connect(stdio());
    const ran = await done(start(server, 'die'));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-disconnected' } });
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
  });
});

describe('a program that ends on server/discover', () => {
  it('is started again and initialized', async () => {
    const source = `
      const lines = require('node:readline').createInterface({ input: process.stdin });
      const send = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
      lines.on('line', (line) => {
        const { id, method } = JSON.parse(line);
        if (method === 'server/discover') process.exit(1);
        const serverInfo = { name: 'old', version: '1' };
        if (method === 'initialize') send(id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
        if (method === 'tools/list') send(id, { tools: [{ name: 'old', inputSchema: { type: 'object' } }] });
        if (method === 'tools/call') send(id, { content: [{ type: 'text', text: 'Old.' }] });
      });`;
    const server = await connect({ command: process.execPath, args: ['-e', source] });
    expect(server.protocolVersion).toBe('2025-06-18');
    expect((await done(start(server, 'old'))).text('1')).toBe('Old.');
  });
});

describe('a flood of list changes', () => {
  it('causes few listings', async () => {
    const host = await startHost();
    const server = await connect({ url: host.url });
    const before = host.methods.filter((method) => method === 'tools/list').length;
    for (let count = 0; count < 2_000; count += 1) host.handler.notify.toolsChanged();
    await expect
      .poll(() => host.methods.filter((method) => method === 'tools/list').length, { timeout: 15_000 })
      .toBeGreaterThan(before);
    expect((await done(start(server, 'greet', { name: 'Ada' }))).text('1')).toBe('Hello Ada');
    expect(host.methods.filter((method) => method === 'tools/list').length - before).toBeLessThanOrEqual(3);
  });
});
