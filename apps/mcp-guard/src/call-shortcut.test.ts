import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { isSpecType } from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardedClient } from '../test/guard-client.js';
import { CallShortcut, type DirectCall } from './call-shortcut.js';

/** A shortcut between a client and a server, with what each of them received. */
const wired = async (answer: ((call: DirectCall) => Promise<object>) | undefined) => {
  const [client, inner] = InMemoryTransport.createLinkedPair();
  const answers: JSONRPCMessage[] = [];
  const passed: JSONRPCMessage[] = [];
  const shortcut = new CallShortcut(inner, () => answer as never);
  Object.assign(shortcut, { onmessage: (message: JSONRPCMessage) => void passed.push(message) });
  Object.assign(client, { onmessage: (message: JSONRPCMessage) => void answers.push(message) });
  await Promise.all([shortcut.start(), client.start()]);
  return { client, shortcut, answers, passed };
};

const request = (params: unknown, id: string | number = 1): JSONRPCMessage =>
  ({ jsonrpc: '2.0', id, method: 'tools/call', params }) as JSONRPCMessage;

const echo = ({ name, input }: DirectCall): Promise<object> =>
  Promise.resolve({ content: [{ type: 'text', text: JSON.stringify([name, input]) }] });

const settled = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

describe('a shortcut for calls', () => {
  it('sends one message at a time, in order, also after one that failed', async () => {
    const sent: JSONRPCMessage[] = [];
    let isBusy = false;
    let hasOverlapped = false;
    const send = async (message: JSONRPCMessage): Promise<void> => {
      hasOverlapped ||= isBusy;
      isBusy = true;
      sent.push(message);
      await settled();
      isBusy = false;
      if (sent.length === 2) throw new Error('broken');
    };
    const inner = { start: async () => undefined, close: async () => undefined, send };
    const shortcut = new CallShortcut(inner, () => undefined);
    const messages = Array.from({ length: 30 }, (_, id) => request({ name: 'a' }, id));
    const results = await Promise.allSettled(messages.map((message) => shortcut.send(message)));
    expect(sent).toEqual(messages);
    expect(hasOverlapped).toBe(false);
    expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([1]);
  });

  it('answers valid calls and passes on everything else unchanged', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record(
          {
            name: fc.oneof(fc.string(), fc.jsonValue()),
            arguments: fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue()),
            _meta: fc.oneof(
              fc.record({ progressToken: fc.oneof(fc.integer(), fc.string()) }, { requiredKeys: [] }),
              fc.constant({ 'io.modelcontextprotocol/protocolVersion': '2026-07-28' }),
              fc.jsonValue(),
            ),
            task: fc.constant({ ttl: 1 }),
          },
          { requiredKeys: ['name'] },
        ),
        async (params) => {
          const { client, answers, passed } = await wired(echo);
          const message = request(params);
          await client.send(message);
          await settled();
          expect(answers.length + passed.length).toBe(1);
          if (answers.length === 0) {
            expect(passed).toEqual([message]);
            return;
          }
          expect(isSpecType.CallToolRequest(message)).toBe(true);
          expect(params).not.toHaveProperty('task');
          const { name, arguments: input = {} } = params;
          expect(answers[0]).toMatchObject({ id: 1, result: await echo({ name, input } as DirectCall) });
        },
      ),
      { numRuns: 300 },
    ));

  it('passes on all messages until the server has seen a call, and other messages always', async () => {
    const closed = await wired(undefined);
    await closed.client.send(request({ name: 'echo' }));
    expect(closed.passed).toHaveLength(1);
    const open = await wired(echo);
    const others = [
      { jsonrpc: '2.0', id: 2, method: 'tools/list' },
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 9 } },
      { jsonrpc: '2.0', method: 'notifications/cancelled' },
      { jsonrpc: '2.0', id: 3, result: {} },
    ] as JSONRPCMessage[];
    for (const message of others) await open.client.send(message);
    expect(open.passed).toEqual(others);
  });

  it('answers a call that fails with an error of the protocol', async () => {
    const { client, answers } = await wired(() => Promise.reject(new Error('The turn was stopped.')));
    await client.send(request({ name: 'a' }));
    await settled();
    expect(answers).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'The turn was stopped.' } }]);
  });

  it('aborts calls without an answer when the client cancels them or leaves', async () => {
    const signals: AbortSignal[] = [];
    const { client, answers } = await wired(({ signal }) => {
      signals.push(signal);
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ content: [] }));
      });
    });
    await client.send(request({ name: 'a' }, 'one'));
    await client.send(request({ name: 'b' }, 2));
    await client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'one' } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    await client.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(answers).toEqual([]);
  });

  it('gives a 2025 client the same results as the server of the SDK, and its progress', async () => {
    const { client, call, log } = await guardedClient(
      { security: { wrap: false }, loops: false },
      { client: { versionNegotiation: { mode: 'legacy' } } },
    );
    const calls: readonly (readonly [string, Record<string, unknown>?])[] = [
      ['echo', { text: 'Hello' }],
      ['echo', { text: 5 }],
      ['picture'],
      ['structured'],
      ['nothing'],
      ['evil'],
      ['run', { command: 'rm -rf /' }],
    ];
    for (const [name, input] of calls) {
      const viaServer = await client.callTool({ name, arguments: input ?? {} }, { onprogress: () => undefined });
      expect(await call(name, input)).toEqual(viaServer);
    }
    const controller = new AbortController();
    const hanging = client.callTool({ name: 'hang', arguments: {} }, { signal: controller.signal });
    await expect.poll(log).toContain('hang');
    controller.abort();
    await expect(hanging).rejects.toThrow();
  });
});
