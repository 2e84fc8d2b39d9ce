import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isAlive } from '../../test/mcp-servers.js';
import { runCalls, toolCall } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import { connectMcp, type McpServer } from './mcp-server.js';

/** A server program that fails once, at the first request with the method or tool `step`, and logs what it runs. */
const program = `
const { appendFileSync, closeSync, existsSync, writeFileSync, writeSync } = require('node:fs');
const [folder, fault, step, era] = process.argv.slice(1);
const log = (line) => appendFileSync(folder + '/log', line + '\\n');
log('pid ' + process.pid);
const complete = era === 'modern' ? { resultType: 'complete', ttlMs: 0, cacheScope: 'private' } : {};
const serverInfo = { name: 'faulty', version: '1' };
const tool = (name, readOnlyHint) => ({ name, inputSchema: { type: 'object' }, annotations: { readOnlyHint, openWorldHint: false } });
const results = {
  'server/discover': () => era === 'modern'
    ? { ...complete, supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, serverInfo } : undefined,
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo }),
  ping: () => ({}),
  'tools/list': () => ({ ...complete, tools: [tool('look', true), tool('write', false)] }),
};
const call = ({ name, arguments: { count } }) => {
  log('ran ' + name + ' ' + count);
  return { ...complete, content: [{ type: 'text', text: name }] };
};
const answerTo = ({ id, method, params }) => {
  const result = method === 'tools/call' ? call(params) : results[method]?.();
  const error = { code: -32601, message: 'Method not found' };
  return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) };
};
const write = (text) => {
  for (let bytes = Buffer.from(text); bytes.length > 0; ) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes));
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
    }
  }
};
const lines = require('node:readline').createInterface({ input: process.stdin });
const die = () => process.kill(process.pid, 'SIGKILL');
const live = () => setInterval(() => undefined, 1e6);
const faults = {
  'dies before': (request) => die(),
  'dies after': (request) => die(answerTo(request)),
  'dies with its answer': (request) => die(write(JSON.stringify(answerTo(request)) + '\\n')),
  'dies within its answer': (request) => die(write(JSON.stringify(answerTo(request)).slice(0, 20))),
  'does not answer': answerTo,
  'stops': (request) => { answerTo(request); process.kill(process.pid, 'SIGSTOP'); },
  'reads no more': (request) => { answerTo(request); lines.removeAllListeners('line'); live(); },
  'closes its output': (request) => { answerTo(request); closeSync(1); live(); },
  'answers twice': (request) => { const text = JSON.stringify(answerTo(request)) + '\\n'; write(text + text); },
  'answers with another id': (request) => write(JSON.stringify({ ...answerTo(request), id: 99999 }) + '\\n'),
  'answers late': (request) => { const answer = answerTo(request); setTimeout(() => write(JSON.stringify(answer) + '\\n'), 2500); },
  'answers with damaged JSON': (request) => write(JSON.stringify(answerTo(request)).replace('}', '') + '\\n'),
  'answers with 50 MB': (request) => {
    const answer = answerTo(request);
    write(JSON.stringify({ ...answer, result: { ...answer.result, _meta: { more: 'x'.repeat(50e6) } } }) + '\\n');
  },
};
lines.on('line', (line) => {
  const request = JSON.parse(line);
  if (request.id === undefined) return;
  const at = request.method === 'tools/call' ? request.params.name : request.method;
  if (at !== step || existsSync(folder + '/fired')) return write(JSON.stringify(answerTo(request)) + '\\n');
  writeFileSync(folder + '/fired', '');
  faults[fault](request);
});
`;

const faults = [
  'dies before',
  'dies after',
  'dies with its answer',
  'dies within its answer',
  'does not answer',
  'stops',
  'reads no more',
  'closes its output',
  'answers twice',
  'answers with another id',
  'answers late',
  'answers with damaged JSON',
  'answers with 50 MB',
];

const call = async (server: McpServer, name: string, count: number): Promise<string> => {
  const ran = runCalls(toolDriver(createRegistry().register(server)), [
    toolCall('1', `mcp__faulty__${name}`, { count }),
  ]);
  await expect.poll(() => ran.isComplete, { timeout: 30_000 }).toBe(true);
  return ran.outcome('1').status;
};

const connect = (folder: string, fault: string, step: string, era: string): Promise<McpServer> =>
  connectMcp({
    name: 'faulty',
    connection: { command: process.execPath, args: ['-e', program, folder, fault, step, era] },
    timeoutMs: 1_500,
    connectTimeoutMs: 2_000,
  });

const survives = async (fault: string, step: string, era: string): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), 'h-mcp-faults-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const context = `${era}, ${step}: ${fault}`;
  const server = await connect(folder, fault, step, era).catch((error: unknown) => {
    expect(error, context).toMatchObject({ code: 'mcp-unavailable' });
    return connect(folder, fault, step, era);
  });
  let count = 0;
  for (const name of ['look', 'write']) await call(server, name, (count += 1));
  // A program that hangs is replaced after some calls; any other fault is over.
  const recovers = async (): Promise<string> => call(server, 'write', (count += 1));
  await expect.poll(recovers, { timeout: 15_000, message: context }).toBe('ok');
  await server.close();
  expect(existsSync(join(folder, 'fired')), context).toBe(true);
  const lines = readFileSync(join(folder, 'log'), 'utf8').trimEnd().split('\n');
  const writes = lines.filter((line) => line.startsWith('ran write'));
  expect(new Set(writes).size, context).toBe(writes.length);
  const pids = lines.filter((line) => line.startsWith('pid')).map((line) => Number(line.slice(4)));
  // A program that was replaced because it had stopped takes some seconds to end.
  await expect.poll(() => pids.filter(isAlive), { timeout: 10_000, message: context }).toEqual([]);
};

describe('a server program that fails once', () => {
  it.each([
    ['legacy', 'initialize'],
    ['legacy', 'tools/list'],
    ['legacy', 'look'],
    ['legacy', 'write'],
    ['modern', 'server/discover'],
    ['modern', 'write'],
  ])('repeats no write, serves again and leaves no process: %s, %s', async (era, step) => {
    await Promise.all(faults.map((fault) => survives(fault, step, era)));
  });
});
