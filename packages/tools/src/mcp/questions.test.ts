import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { runCalls, toolCall, type RunCalls } from '../../test/run-calls.js';
import { toolDriver } from '../driver.js';
import { createRegistry } from '../registry.js';
import type { McpInputAnswer, McpInputRequest } from './inputs.js';
import { connectMcp, type McpServer, type McpServerOptions } from './mcp-server.js';

/** A server program before 2026-07-28. Its tools request input in different ways. */
const program = `
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const tools = ['ask', 'flood', 'leave', 'withdraw', 'vanish'].map((name) => ({ name, inputSchema: { type: 'object' } }));
const results = {
  initialize: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true } }, serverInfo: { name: 'old', version: '1' } },
  'tools/list': { tools },
};
let questions = 0;
const ask = () => {
  const id = 'question-' + (questions += 1);
  const requestedSchema = { type: 'object', properties: {} };
  send({ id, method: 'elicitation/create', params: { message: id, requestedSchema } });
  return id;
};
let call;
let answers = [];
const finish = () => send({ id: call, result: { content: [{ type: 'text', text: answers.join(' ') }] } });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) {
    answers.push(result === undefined ? 'error' : result.action);
    if (answers.length === questions) finish();
  } else if (method === 'tools/call') {
    [call, answers, questions] = [id, [], 0];
    const { name } = params;
    const count = name === 'flood' ? 40 : name === 'ask' ? 3 : 1;
    const ids = Array.from({ length: count }, ask);
    if (name === 'leave') finish();
    if (name === 'vanish') setTimeout(() => process.exit(), 100);
    const withdrawal = { method: 'notifications/cancelled', params: { requestId: ids[0] } };
    if (name === 'withdraw') setTimeout(() => send(withdrawal), 100);
  } else if (id !== undefined) {
    const known = results[method];
    send({ id, ...(known ? { result: known } : { error: { code: -32601, message: 'Method not found' } }) });
  }
});
`;

const connect = async (options: Partial<McpServerOptions>): Promise<McpServer> => {
  const server = await connectMcp({
    name: 'old',
    connection: { command: process.execPath, args: ['-e', program] },
    protocol: '2025',
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
};

const start = (server: McpServer, name: string): RunCalls =>
  runCalls(toolDriver(createRegistry().register(server)), [toolCall('1', `mcp__old__${name}`, {})]);

const done = async (ran: RunCalls): Promise<RunCalls> => {
  await expect.poll(() => ran.isComplete, { timeout: 20_000 }).toBe(true);
  return ran;
};

/** Collects the questions, which the test answers. */
const person = () => {
  const asked: {
    readonly request: McpInputRequest;
    readonly signal: AbortSignal;
    answer(given: McpInputAnswer): void;
  }[] = [];
  const onInput = (request: McpInputRequest, signal: AbortSignal): Promise<McpInputAnswer> =>
    new Promise((answer) => asked.push({ request, signal, answer }));
  return { asked, onInput };
};

describe('a server before 2026-07-28 that requests input', () => {
  it('asks one question at a time', async () => {
    const { asked, onInput } = person();
    const ran = start(await connect({ onInput }), 'ask');
    for (const count of [1, 2, 3]) {
      await vi.waitFor(() => expect(asked).toHaveLength(count), { timeout: 10_000 });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(asked).toHaveLength(count);
      asked[count - 1]?.answer({ action: count === 2 ? 'decline' : 'cancel' });
    }
    expect((await done(ran)).text('1')).toBe('cancel decline cancel');
  });

  it('has the questions beyond a limit cancelled', async () => {
    const problems: string[] = [];
    let count = 0;
    const server = await connect({
      onInput: async () => {
        count += 1;
        await new Promise((resolve) => setTimeout(resolve, 10));
        return { action: 'decline' };
      },
      onProblem: ({ message }) => problems.push(message),
    });
    await done(start(server, 'flood'));
    expect(count).toBeLessThan(40);
    expect(problems).toContain(
      'The server requested input while 16 of its requests waited for an answer; it was cancelled.',
    );
  });

  it.each(['leave', 'withdraw', 'vanish'])('ends its question and asks the next one: %s', async (name) => {
    const { asked, onInput } = person();
    const server = await connect({ onInput });
    const ran = start(server, name);
    await vi.waitFor(() => expect(asked[0]?.signal.aborted).toBe(true), { timeout: 10_000 });
    if (name === 'withdraw') ran.abort();
    else await done(ran);
    // The person answers too late.
    asked[0]?.answer({ action: 'accept', content: {} });
    const next = start(server, 'ask');
    for (const count of [2, 3, 4]) {
      await vi.waitFor(() => expect(asked).toHaveLength(count), { timeout: 10_000 });
      asked[count - 1]?.answer({ action: 'decline' });
    }
    expect((await done(next)).text('1')).toBe('decline decline decline');
  });
});
