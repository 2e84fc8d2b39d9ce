import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isAlive, observed, referenceServer } from '../../test/mcp-servers.js';
import { runCalls, toolCall, type RunCalls } from '../../test/run-calls.js';
import type { Tool } from '../define-tool.js';
import { toolDriver } from '../driver.js';
import { InvalidOptionError } from '@h/options';
import { createRegistry } from '../registry.js';
import { McpConnectionError } from './failures.js';
import { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';

/** Starting a server takes many seconds on a busy machine. */
const hookTimeoutMs = 60_000;

const done = async (ran: RunCalls): Promise<RunCalls> => {
  await expect.poll(() => ran.isComplete, { timeout: 20_000 }).toBe(true);
  return ran;
};
const call = async (server: McpServer, name: string, input: object = {}): Promise<RunCalls> => {
  const driver = toolDriver(createRegistry().register(server));
  return done(runCalls(driver, [toolCall('1', `mcp__${server.name}__${name}`, input)]));
};

describe('server-everything over stdio', () => {
  const source = observed(referenceServer('everything'));
  let server: McpServer;
  const states: string[] = [];
  const problems: Error[] = [];

  beforeAll(async () => {
    server = await connectMcp({
      name: 'all',
      connection: source.connection,
      onState: (state) => states.push(state),
      onProblem: (problem) => problems.push(problem),
    });
  }, hookTimeoutMs);
  afterAll(() => server.close());

  it('registers its tools under qualified names, with effects from its annotations', () => {
    const definitions = createRegistry().register(server).effective().definitions();
    const effects = Object.fromEntries(definitions.map(({ name, effect }) => [name, effect]));
    expect(effects).toMatchObject({
      mcp__all__echo: 'read-only',
      'mcp__all__gzip-file-as-resource': 'network',
      'mcp__all__toggle-simulated-logging': 'local-write',
    });
    expect(definitions.find(({ name }) => name === 'mcp__all__echo')).toMatchObject({
      idempotent: true,
      inputSchema: { type: 'object', required: ['message'] },
    });
    expect(Object.keys(effects)).not.toContain('mcp__all__simulate-research-query');
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('runs it only as a task')]);
  });

  it('answers calls with results that are marked as external', async () => {
    const ran = await call(server, 'echo', { message: 'hello', unknown: 1 });
    expect(ran.outcome('1')).toMatchObject({
      status: 'ok',
      output: { type: 'text', value: 'Echo: hello' },
      details: { external: true },
    });
  });

  it('receives no call with an invalid input', async () => {
    expect((await call(server, 'get-sum', { a: 'one', b: 2 })).outcome('1')).toMatchObject({
      status: 'invalid-input',
      issues: [expect.stringMatching(/^a: /)],
    });
    expect((await call(server, 'get-sum', { a: 1, b: 2 })).text('1')).toContain('3');
  });

  it('returns images', async () => {
    const { output } = (await call(server, 'get-tiny-image')).outcome('1');
    expect(output).toMatchObject({ type: 'content' });
    expect(output.type === 'content' && output.value.find(({ type }) => type === 'file')).toMatchObject({
      mediaType: 'image/png',
    });
  });

  it('returns structured content', async () => {
    const ran = await call(server, 'get-structured-content', { location: 'New York' });
    expect(ran.outcome('1').details).toMatchObject({
      structuredContent: { temperature: expect.any(Number) as number },
    });
    expect(JSON.parse(ran.text('1'))).toMatchObject({ temperature: expect.any(Number) as number });
  });

  it('reports progress', async () => {
    const ran = await call(server, 'trigger-long-running-operation', { duration: 0.3, steps: 3 });
    expect(ran.outcome('1').status).toBe('ok');
    expect(ran.progress).toEqual([1, 2, 3].map((progress) => ({ id: '1', progress: { progress, total: 3 } })));
  });

  it('receives a cancellation and continues to serve', async () => {
    const driver = toolDriver(createRegistry().register(server));
    const ran = runCalls(driver, [
      toolCall('1', 'mcp__all__trigger-long-running-operation', { duration: 60, steps: 600 }),
    ]);
    await expect.poll(() => ran.progress.length).toBeGreaterThan(0);
    ran.unsubscribe();
    expect((await call(server, 'echo', { message: 'still here' })).text('1')).toBe('Echo: still here');
    expect(server.state).toBe('connected');
  });

  it('does not see the environment of the host', async () => {
    process.env['H_TOOLS_SECRET_KEY'] = 'do-not-tell';
    try {
      const own = await connectMcp({
        name: 'env',
        connection: { ...referenceServer('everything'), env: { GIVEN: 'told' } },
      });
      const text = (await call(own, 'get-env')).text('1');
      await own.close();
      expect(text).toContain('"GIVEN": "told"');
      expect(text).not.toContain('do-not-tell');
    } finally {
      delete process.env['H_TOOLS_SECRET_KEY'];
    }
  });

  it('is restarted by the next call after it has died', async () => {
    source.kill();
    await expect.poll(() => server.state).toBe('lost');
    expect((await call(server, 'echo', { message: 'again' })).text('1')).toBe('Echo: again');
    expect(source.pids).toHaveLength(2);
    expect(states.slice(-2)).toEqual(['connecting', 'connected']);
  });

  it('fails the calls that run when it dies, and reports that they may have taken effect', async () => {
    const effectful = await connectMcp({ name: 'all', connection: source.connection, annotations: false });
    onTestFinished(() => effectful.close());
    const driver = toolDriver(createRegistry().register(effectful));
    const ran = runCalls(driver, [
      toolCall('1', 'mcp__all__trigger-long-running-operation', { duration: 60, steps: 600 }),
    ]);
    await expect.poll(() => ran.progress.length).toBeGreaterThan(0);
    source.kill();
    await done(ran);
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-disconnected' } });
    expect(ran.text('1')).toContain('whether the call took effect is unknown');
    expect((await call(effectful, 'echo', { message: 'and again' })).text('1')).toBe('Echo: and again');
  });

  it('receives read-only calls again that run when it dies', async () => {
    const starts = source.pids.length;
    const driver = toolDriver(createRegistry().register(server));
    const ran = runCalls(driver, [
      toolCall('1', 'mcp__all__trigger-long-running-operation', { duration: 0.5, steps: 5 }),
    ]);
    await expect.poll(() => ran.progress.length).toBeGreaterThan(0);
    process.kill(source.pids[1] as number, 'SIGKILL');
    await done(ran);
    expect(ran.outcome('1').status).toBe('ok');
    expect(source.pids).toHaveLength(starts + 1);
  });

  it('unregisters its tools and ends when it is closed', async () => {
    const registry = createRegistry().register(server);
    await server.close();
    expect(registry.list()).toEqual([]);
    expect(server.state).toBe('closed');
    await expect.poll(() => source.pids.filter(isAlive)).toEqual([]);
  });

  it('fails a call after it was closed', async () => {
    const [echo] = server.tools;
    const driver = toolDriver([echo as Tool]);
    const ran = await done(runCalls(driver, [toolCall('1', 'mcp__all__echo', { message: 'x' })]));
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', error: { code: 'mcp-closed' } });
  });
});

it(
  'connects a program without a time limit',
  async () => {
    const connection = observed(referenceServer('everything')).connection;
    const server = await connectMcp({ name: 'all', connection, connectTimeoutMs: Infinity });
    expect(server.state).toBe('connected');
    await server.close();
  },
  hookTimeoutMs,
);

describe('a program that never answers', () => {
  it.each(['auto', '2025'] as const)('ends when connecting is aborted, protocol %s', async (protocol) => {
    const source = observed({ command: process.execPath, args: ['-e', 'setInterval(() => {}, 1e6)'] });
    const abort = new AbortController();
    const connecting = connectMcp({
      name: 'silent',
      connection: source.connection,
      protocol,
      signal: abort.signal,
      connectTimeoutMs: Infinity,
    });
    await expect.poll(() => source.pids.length).toBe(1);
    abort.abort();
    await expect(connecting).rejects.toMatchObject({ code: 'mcp-closed' });
    await expect.poll(() => source.pids.filter(isAlive)).toEqual([]);
  });

  it('is not started if the signal was aborted before', async () => {
    const options = { name: 'silent', connection: { command: 'no-such-command' }, signal: AbortSignal.abort() };
    await expect(connectMcp(options)).rejects.toMatchObject({ code: 'mcp-closed' });
  });
});

describe('server-filesystem over stdio', () => {
  let directory: string;
  let server: McpServer;

  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'h-mcp-')));
    await writeFile(join(directory, 'a.txt'), 'in a');
    server = await connectMcp({
      name: 'files',
      connection: referenceServer('filesystem', directory),
      resources: (tool, { path }) =>
        tool.startsWith('read') && typeof path === 'string' ? [`file:${path}`] : undefined,
    });
  });
  afterAll(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('reads and writes files', async () => {
    expect((await call(server, 'read_text_file', { path: join(directory, 'a.txt') })).text('1')).toBe('in a');
    expect(
      (await call(server, 'write_file', { path: join(directory, 'b.txt'), content: 'in b' })).outcome('1').status,
    ).toBe('ok');
    expect((await call(server, 'read_text_file', { path: join(directory, 'b.txt') })).text('1')).toBe('in b');
  });

  it('never returns stale results, although its reads are idempotent', async () => {
    const driver = toolDriver(createRegistry().register(server));
    const read = async (id: string): Promise<string> =>
      (
        await done(runCalls(driver, [toolCall(id, 'mcp__files__read_text_file', { path: join(directory, 'c.txt') })]))
      ).text(id);
    await writeFile(join(directory, 'c.txt'), 'one');
    expect(await read('1')).toBe('one');
    await writeFile(join(directory, 'c.txt'), 'two');
    expect(await read('2')).toBe('two');
  });

  it('reports a rejected path as a failure', async () => {
    const ran = await call(server, 'read_text_file', { path: '/etc/passwd' });
    expect(ran.outcome('1')).toMatchObject({ status: 'failed', details: { external: true } });
    expect(ran.text('1')).toMatch(/denied|outside/i);
  });

  it('offers only its reads in the toolset read-only', () => {
    const names = createRegistry()
      .register(server)
      .effective({ toolset: 'read-only' })
      .definitions()
      .map(({ name }) => name);
    expect(names).toContain('mcp__files__read_text_file');
    expect(names).not.toContain('mcp__files__write_file');
    expect(names).not.toContain('mcp__files__create_directory');
  });
});

describe('server-memory over stdio', () => {
  it('stores data at the path from its environment', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'h-mcp-'));
    const connection = { ...referenceServer('memory'), env: { MEMORY_FILE_PATH: join(directory, 'memory.jsonl') } };
    const server = await connectMcp({
      name: 'memory',
      connection,
      effects: { create_entities: 'local-write' },
      annotations: false,
    });
    const driver = toolDriver(createRegistry().register(server));
    const ran = await done(
      runCalls(driver, [
        toolCall('1', 'mcp__memory__create_entities', {
          entities: [{ name: 'Ada', entityType: 'person', observations: ['likes engines'] }],
        }),
        toolCall('2', 'mcp__memory__read_graph'),
      ]),
    );
    const definitions = driver.definitions();
    await server.close();
    await rm(directory, { recursive: true, force: true });
    expect(ran.outcome('2').details).toMatchObject({ structuredContent: { entities: [{ name: 'Ada' }] } });
    expect(definitions.find(({ name }) => name.endsWith('create_entities'))).toMatchObject({
      effect: 'local-write',
      idempotent: false,
    });
    expect(definitions.find(({ name }) => name.endsWith('read_graph'))).toMatchObject({
      effect: 'destructive',
      idempotent: false,
    });
  });
});

describe('a server that writes lines that are no messages', () => {
  const program = `
    import { createInterface } from 'node:readline';
    const noise = ['listening', '', '[]', 'null', '7', '"x"', '{"a":1}'];
    const write = (lines) => process.stdout.write(lines.join('\\n') + '\\n');
    const results = {
      initialize: (params) => ({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'noisy', version: '1' },
      }),
      'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
      'tools/call': () => ({ content: [{ type: 'text', text: 'hello' }] }),
    };
    if (process.argv[2] === 'first') write(noise);
    for await (const line of createInterface(process.stdin)) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      if (method === 'tools/call') write(noise);
      const result = results[method]?.(params);
      const error = { code: -32601, message: 'There is no such method.' };
      write([JSON.stringify({ jsonrpc: '2.0', id, ...(result ? { result } : { error }) })]);
    }`;

  it.each([
    ['when it starts and later', ['first']],
    ['later', []],
  ] as const)('works, and the first one after a message is reported: %s', async (_, args) => {
    const directory = await mkdtemp(join(tmpdir(), 'h-mcp-'));
    const file = join(directory, 'noisy.mjs');
    await writeFile(file, program);
    const problems: string[] = [];
    const server = await connectMcp({
      name: 'noisy',
      connection: { command: process.execPath, args: [file, ...args] },
      onProblem: ({ message }) => problems.push(message),
    });
    onTestFinished(async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    });
    expect(problems).toEqual([]);
    for (let round = 0; round < 2; round += 1) {
      expect((await call(server, 'echo')).outcome('1')).toMatchObject({ status: 'ok' });
    }
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain('is not a message: "listening"');
  });
});

describe('a server whose answers have another form', () => {
  const program = `
    import { createInterface } from 'node:readline';
    const results = {
      initialize: (params) => ({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'other', version: '1' },
      }),
      'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
      'tools/call': () => ({ content: [{ type: 'text', text: 'hello' }] }),
    };
    const forms = {
      batch: (answer) => [{ jsonrpc: '2.0', ...answer }, { jsonrpc: '2.0', method: 'notifications/message', params: {} }],
      'no version': (answer) => answer,
      'no version, null': (answer) => ({ result: null, error: null, ...answer }),
      'batch without version': (answer) => [answer],
    };
    for await (const line of createInterface(process.stdin)) {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) continue;
      const result = results[method]?.(params);
      const answer = { id, ...(result ? { result } : { error: { code: -32601, message: 'There is no such method.' } }) };
      process.stdout.write(JSON.stringify(forms[process.argv[2]](answer)) + '\\n');
    }`;

  it.each(['batch', 'no version', 'no version, null', 'batch without version'])('is understood: %s', async (form) => {
    const directory = await mkdtemp(join(tmpdir(), 'h-mcp-'));
    const file = join(directory, 'other.mjs');
    await writeFile(file, program);
    const server = await connectMcp({ name: 'other', connection: { command: process.execPath, args: [file, form] } });
    onTestFinished(async () => {
      await server.close();
      await rm(directory, { recursive: true, force: true });
    });
    expect((await call(server, 'echo')).outcome('1')).toMatchObject({ status: 'ok' });
  });
});

describe('a server that cannot be connected', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'h-mcp-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('causes an error with its standard error output', async () => {
    const file = join(directory, 'broken.mjs');
    await writeFile(file, "console.error('no database'); process.exit(3);");
    const connecting = connectMcp({ name: 'broken', connection: { command: process.execPath, args: [file] } });
    await expect(connecting).rejects.toThrow(McpConnectionError);
    await expect(connecting).rejects.toThrow(/"broken" cannot be reached: [^]*Its output:\nno database/);
  });

  it('causes an error with the lines of its standard output that are no messages', async () => {
    const file = join(directory, 'broken-output.mjs');
    await writeFile(file, "console.log('no configuration\\n\\n{}'); process.exit(3);");
    const connecting = connectMcp({ name: 'broken', connection: { command: process.execPath, args: [file] } });
    await expect(connecting).rejects.toThrow(/Its output:\nno configuration\n\{\}/);
  });

  it('causes an error if the program does not exist', async () => {
    const connecting = connectMcp({ name: 'none', connection: { command: join(directory, 'nowhere') } });
    await expect(connecting).rejects.toThrow(expect.objectContaining({ code: 'mcp-unavailable' }));
  });

  it('times out if it does not answer, and its process ends', async () => {
    const file = join(directory, 'mute.mjs');
    await writeFile(file, 'process.stdin.resume();');
    const source = observed({ command: process.execPath, args: [file] });
    await expect(connectMcp({ name: 'mute', connection: source.connection, connectTimeoutMs: 300 })).rejects.toThrow(
      /timed out/i,
    );
    await expect.poll(() => source.pids.filter(isAlive)).toEqual([]);
  });

  it('is closed if "effects" names a tool that it does not have', async () => {
    const source = observed(referenceServer('memory'));
    const connecting = connectMcp({
      name: 'memory',
      connection: source.connection,
      effects: { create_entity: 'local-write' },
    });
    await expect(connecting).rejects.toThrow(
      /effects of the MCP server "memory" names the tool "create_entity".*did you mean "create_entities"\?/,
    );
    await expect.poll(() => source.pids.filter(isAlive)).toEqual([]);
  });

  it.each([
    [{ name: 'a__b' }, 'name'],
    [{ connection: {} }, 'connection'],
    [{ connection: { command: 'x', url: 'http://x' } }, 'connection'],
    [{ timeoutMs: 0 }, 'timeoutMs'],
    [{ connectTimeoutMs: -1 }, 'connectTimeoutMs'],
    [{ trust: true }, 'trust'],
  ])('is rejected with the options %j', async (options, option) => {
    const connecting = connectMcp({ name: 'x', connection: { command: 'x' }, ...options } as McpServerOptions);
    await expect(connecting).rejects.toThrow(InvalidOptionError);
    await expect(connecting).rejects.toThrow(expect.objectContaining({ option }));
  });
});
