import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { secret } from '../test/fixture-server.js';
import { eventually, guardedClient, textOf } from '../test/guard-client.js';

const plain = { security: { wrap: false } };
const legacy = { client: { versionNegotiation: { mode: 'legacy' as const } } };

describe('pins', () => {
  it('apply although they cannot be stored, which is reported once', async () => {
    // The name of the lock is longer than a file system allows.
    const pins = join(temporaryFolder(), 'p'.repeat(252));
    const { tools, notes, call } = await guardedClient({ security: { pins } });
    expect(await tools()).toContain('echo');
    const reports = (): readonly string[] => notes.filter((note) => note.includes('cannot be stored'));
    await expect.poll(reports, eventually).toEqual([expect.stringMatching(/^The approved tools of it .*ENAMETOOLONG/)]);
    expect(textOf(await call('echo', { text: 'Hello' }))).toContain('Hello');
  });
});

describe.each([
  ['2026-07-28', {}],
  ['2025-11-25', legacy],
] as const)('a guard and a client of %s', (version, options) => {
  it('offers the tools under their names, without the schemas of outputs', async () => {
    const { client, tools } = await guardedClient({}, options);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const names = await tools();
    expect(names).toEqual(expect.arrayContaining(['echo', 'read_artifact', 'write']));
    expect(names).toEqual(names.toSorted());
    const listed = (await client.listTools()).tools.find(({ name }) => name === 'structured');
    expect(listed).toMatchObject({ inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } });
    expect(listed).not.toHaveProperty('outputSchema');
  });

  it('passes calls and results', async () => {
    const { call, log } = await guardedClient(plain, options);
    expect(await call('echo', { text: 'Hello' })).toMatchObject({ content: [{ type: 'text', text: 'Hello' }] });
    expect(await call('picture')).toMatchObject({ content: [{ type: 'image', mimeType: 'image/png' }] });
    expect(await call('structured')).toMatchObject({ structuredContent: { count: 7 } });
    await call('write', { path: 'a' });
    expect(log()).toEqual(['write a']);
  });

  it('redacts results, structures, errors and progress of calls, and errors of resources', async () => {
    const { client, notes } = await guardedClient(plain, options);
    const seen: unknown[] = [];
    for (const name of ['secret', 'secret-structure', 'secret-error', 'secret-progress']) {
      seen.push(await client.callTool({ name, arguments: {} }, { onprogress: (progress) => void seen.push(progress) }));
    }
    for (const uri of ['fixture:///note', 'fixture:///broken']) {
      seen.push(await client.readResource({ uri }).catch((error: unknown) => inspect(error, { depth: 5 })));
    }
    expect(seen).toHaveLength(7);
    await expect(client.readResource({ uri: 'fixture:///unknown' })).rejects.toMatchObject({ code: -32602 });
    expect(inspect([seen, notes], { depth: 20 })).not.toContain(secret);
  });

  it('answers invalid inputs and unknown tools with errors', async () => {
    const { call } = await guardedClient(plain, options);
    expect(await call('echo', { text: 5 })).toMatchObject({ isError: true });
    expect(await call('nothing')).toMatchObject({ isError: true });
  });

  it('asks the user of the client', async () => {
    const asked: string[] = [];
    const answers = ['once', 'deny', 'always'];
    const policy = { rules: [{ tool: 'write', decision: 'ask', reason: 'It writes.' }] };
    const { call, log, text } = await guardedClient(
      { ...plain, policy },
      {
        client: { ...('client' in options && options.client), capabilities: { elicitation: { form: {} } } },
        prepare: (client) =>
          client.setRequestHandler('elicitation/create', ({ params }) => {
            asked.push(params.message);
            return { action: 'accept', content: { decision: answers[asked.length - 1] ?? 'deny' } };
          }),
      },
    );
    expect(await text('write', { path: 'a' })).toBe('Wrote a');
    expect(await call('write', { path: 'a' })).toMatchObject({ isError: true });
    await call('write', { path: 'a' });
    await call('write', { path: 'a' });
    expect(log()).toEqual(['write a', 'write a', 'write a']);
    expect(asked).toHaveLength(3);
    expect(asked[0]).toContain('It writes.');
  });
});

describe('the policy', () => {
  it('denies by rule, also with another spelling of a path', async () => {
    const rules = [
      { tool: 'write', input: { path: '/etc/*' }, decision: 'deny', reason: 'System files are off limits.' },
      { tool: 'wri*', input: { path: '/tmp/*' }, decision: 'allow' },
    ];
    const { call, log } = await guardedClient({ ...plain, policy: { rules, otherwise: 'deny' } });
    for (const path of ['/etc/passwd', '/tmp/../etc/passwd', '/tmp//../etc/passwd', '//etc/passwd', '/home/x']) {
      expect(await call('write', { path })).toMatchObject({ isError: true });
    }
    await call('write', { path: '/tmp/a' });
    expect(log()).toEqual(['write /tmp/a']);
  });

  it('denies destructive commands', async () => {
    const { text, log } = await guardedClient(plain);
    expect(await text('run', { command: 'ls -la' })).toBe('ok');
    expect(await text('run', { command: 'rm -rf /' })).toMatch(/rm/);
    expect(await text('run', { command: 'ls && sudo rm -rf ~' })).toMatch(/rm/);
    expect(log()).toEqual(['run ls -la']);
  });

  it('applies to the only server under the names that its tools have beside others', async () => {
    const policy = { rules: [{ tool: 'it__write', decision: 'deny' }], hidden: ['it__picture'] };
    const { call, log, tools } = await guardedClient({ policy });
    expect(await call('write', { path: 'a' })).toMatchObject({ isError: true });
    expect(log()).toEqual([]);
    expect(await tools()).not.toContain('picture');
  });

  it('hides tools', async () => {
    const { call, tools } = await guardedClient({ policy: { hidden: ['wr*'] } });
    expect(await tools()).not.toContain('write');
    expect(await call('write', { path: 'a' })).toMatchObject({ isError: true });
  });

  it('denies a call that needs a person if the client has no form and the page is off', async () => {
    const policy = { rules: [{ tool: 'write', decision: 'ask' }] };
    const { call, log } = await guardedClient({ policy, approvals: { page: false } });
    expect(await call('write', { path: 'a' })).toMatchObject({ isError: true });
    expect(log()).toEqual([]);
  });
});

describe('results', () => {
  it('are marked as external when read_artifact reads them', async () => {
    const { text } = await guardedClient({ results: { maxChars: 1_000 } });
    const id = /art_[0-9a-f]+/.exec(await text('big', { bytes: 5_200 }))?.[0];
    for (const input of [{ length: 500 }, { search: 'text' }]) {
      expect(await text('read_artifact', { id: id ?? '', ...input })).toMatch(/^<<<external-content .*line of text/s);
    }
  });

  it('are cut and stored, and read_artifact reads the rest', async () => {
    const { text } = await guardedClient({ ...plain, results: { maxChars: 1_000 } });
    const cut = await text('big', { bytes: 130_000 });
    expect(cut.length).toBeLessThan(1_500);
    const [id] = /art_[0-9a-f]+/.exec(cut) ?? [];
    expect(await text('read_artifact', { id: id ?? '', length: 500 })).toContain('line of text');
  });

  it('are wrapped and redacted', async () => {
    const { text } = await guardedClient();
    const result = await text('secret');
    expect(result).not.toContain(secret);
    expect(result).toMatch(/external|untrusted/i);
  });

  it('that are too large fail without being stored', async () => {
    const { text } = await guardedClient({ ...plain, results: { maxMessageBytes: 100_000 } });
    expect(await text('big', { bytes: 130_000 })).toContain('more than 100000 bytes');
    expect(await text('echo', { text: 'Still here' })).toBe('Still here');
  });
});

describe('descriptions', () => {
  it('that redirect the model are refused', async () => {
    const { call, notes, tools } = await guardedClient();
    expect(await tools()).not.toContain('evil');
    expect(await call('evil')).toMatchObject({ isError: true });
    expect(notes.join('\n')).toMatch(/evil of it is refused: its description tries to redirect the model/);
  });

  it('that change after approval are refused', async () => {
    const { call, notes, text, tools } = await guardedClient(plain);
    expect(await text('echo', { text: 'a' })).toBe('a');
    await call('mutate');
    await expect.poll(tools, eventually).not.toContain('echo');
    expect(await call('echo', { text: 'a' })).toMatchObject({ isError: true });
    const refusal = 'echo of it is refused: its description has changed since it was approved';
    expect(notes.join('\n')).toContain(refusal);
    expect(await text('echo', { text: 'x' })).toContain(refusal);
  });

  it('of new tools are refused until they are approved', async () => {
    const { call, notes, tools } = await guardedClient(plain);
    await tools();
    await call('grow');
    await expect.poll(() => notes.join('\n'), eventually).toContain('new-tool of it is refused: it is new');
    expect(await tools()).not.toContain('new-tool');
  });

  it('are pinned across runs by a file', async () => {
    const file = join(temporaryFolder(), 'pins.json');
    const config = { ...plain, security: { wrap: false, pins: file } };
    expect(await (await guardedClient(config)).tools()).toContain('echo');
    await expect.poll(() => existsSync(file), eventually).toBe(true);
    const pins = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>;
    expect(Object.keys(pins['it'] ?? {})).toContain('mcp__it__echo');
    writeFileSync(file, JSON.stringify({ it: { ...pins['it'], mcp__it__echo: 'another' } }));
    const { notes, tools } = await guardedClient(config);
    expect(await tools()).not.toContain('echo');
    expect(notes.join('\n')).toContain('its description has changed');
  });
});

describe('loops and limits', () => {
  it('denies calls without progress', async () => {
    const { call } = await guardedClient({ ...plain, limits: {} });
    const results: (boolean | undefined)[] = [];
    for (let count = 0; count < 12; count += 1) results.push((await call('echo', { text: 'again' })).isError);
    expect(results.slice(0, 3)).not.toContain(true);
    expect(results.at(-1)).toBe(true);
  });

  it('denies calls beyond the limit', async () => {
    const { call, log } = await guardedClient({ ...plain, limits: { maxCalls: 2 } });
    for (const path of ['a', 'b', 'c']) await call('write', { path });
    expect(log()).toEqual(['write a', 'write b']);
  });
});

describe('the log', () => {
  it('contains one line for each call, without contents', async () => {
    const file = join(temporaryFolder(), 'guard.jsonl');
    const { call } = await guardedClient({ ...plain, log: { file } });
    await call('echo', { text: 'private words' });
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8'), eventually).toContain('"tool.call"');
    expect(readFileSync(file, 'utf8')).not.toContain('private words');
  });
});

describe('resources and prompts', () => {
  it('of the only server are passed on, without secrets', async () => {
    const { client } = await guardedClient();
    expect(client.getServerCapabilities()).toMatchObject({ resources: {}, prompts: {} });
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      'fixture:///note',
      'fixture:///broken',
    ]);
    const { contents } = await client.readResource({ uri: 'fixture:///note' });
    expect(JSON.stringify(contents)).toContain('A note.');
    expect(JSON.stringify(contents)).not.toContain('aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2');
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: 'greet' }]);
    expect(JSON.stringify(await client.getPrompt({ name: 'greet' }))).toContain('Hello');
  });
});

describe('telemetry', () => {
  it('exports a span and metrics for each call, between those of the client and the server, without content', async () => {
    const exported: string[] = [];
    const collector = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        exported.push(`${request.url} ${Buffer.concat(chunks).toString()}`);
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => {
      collector.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => {
      collector.closeAllConnections();
      collector.close();
    });
    const otel = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
    const { client, call, close } = await guardedClient({ ...plain, log: { otel } });
    expect(await call('echo', { text: 'Secret text' })).not.toHaveProperty('isError');
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const _meta = { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'a=1' };
    const received = textOf(await client.callTool({ name: 'trace', arguments: {}, _meta }));
    const spanOfGuard = new RegExp(`"traceparent":"00-${traceId}-(?!b7ad6b7169203331)([0-9a-f]{16})-01"`).exec(
      received,
    );
    expect(received).toContain('"tracestate":"a=1"');
    await close();
    const spans = exported.filter((text) => text.startsWith('/v1/traces')).join('\n');
    expect(spans).toContain('execute_tool echo');
    expect(spans).toContain('mcp-guard');
    expect(spans).toContain('"parentSpanId":"b7ad6b7169203331"');
    expect(spans).toContain(`"traceId":"${traceId}","spanId":"${spanOfGuard?.[1]}"`);
    expect(exported.some((text) => text.startsWith('/v1/metrics'))).toBe(true);
    expect(exported.join('\n')).not.toContain('Secret text');
  });

  it('passes the trace context of the client to the server without a collector', async () => {
    const { client } = await guardedClient(plain);
    const _meta = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', baggage: 'user=1' };
    const received = textOf(await client.callTool({ name: 'trace', arguments: {}, _meta: { ..._meta, other: 'x' } }));
    expect(JSON.parse(received)).toMatchObject(_meta);
    expect(received).not.toContain('other');
  });
});
