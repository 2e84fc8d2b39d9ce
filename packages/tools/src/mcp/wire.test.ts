import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { WireTransport } from './wire.js';

const connected = () => {
  const received: JSONRPCMessage[] = [];
  const problems: string[] = [];
  const inner: Transport = { start: async () => undefined, close: async () => undefined, send: async () => undefined };
  const wire = new WireTransport(inner);
  Object.assign(wire, {
    onmessage: (message: JSONRPCMessage) => received.push(message),
    onerror: ({ message }: Error) => problems.push(message),
  });
  return { wire, inner, received, problems };
};
const answer = (id: string | number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { content: [] } });
const progress = (progressToken: number): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { progressToken, progress: 1 },
});

describe('WireTransport', () => {
  it('passes one answer for each request, and reports others once without their content', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    await wire.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
    await wire.send({ jsonrpc: '2.0', id: 2, method: 'tools/call' });
    await wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    await wire.send({ jsonrpc: '2.0', id: 3, method: 'tools/call' });
    for (const id of [1, 1, 2, '3', '3', '__proto__']) inner.onmessage?.(answer(id));
    expect(received).toEqual([answer(1), answer('3')]);
    expect(problems).toEqual([
      'The server answered the request 1, which was not sent, has ended or was cancelled. Further answers of this kind are not reported.',
    ]);
  });

  it('passes the progress of open requests, and drops that of others', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    for (const id of [1, 2, 3]) await wire.send({ jsonrpc: '2.0', id, method: 'tools/call' });
    await wire.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    inner.onmessage?.(answer(3));
    for (const progressToken of [1, 2, 3]) inner.onmessage?.(progress(progressToken));
    expect([received, problems]).toEqual([[answer(3), progress(1)], []]);
  });

  it('answers every open request with a valid result or error, whatever the server sends', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    const noAnswer = {
      code: -40_003,
      message: 'The server sent an answer with neither a valid result nor a valid error',
    };
    const cases: readonly (readonly [object, object])[] = [
      [{ result: { content: [] }, error: null }, { result: { content: [] } }],
      [{ result: null, error: { code: 5, message: 'no', data: 1 } }, { error: { code: 5, message: 'no', data: 1 } }],
      [{ result: { content: [] }, error: { code: 5, message: 'no' } }, { error: { code: 5, message: 'no' } }],
      [{ error: 'boom' }, { error: { code: -32_603, message: 'boom' } }],
      [{ error: { code: 'E1', message: 'boom' } }, { error: { code: -32_603, message: 'boom' } }],
      [{ error: { code: 5, message: 7 } }, { error: noAnswer }],
      ...[{}, { result: null }, { result: 'text' }, { result: [] }, { error: null }, { error: 5 }, { error: [] }].map(
        (sent) => [sent, { error: noAnswer }] as const,
      ),
    ];
    for (const [id, [sent]] of cases.entries()) {
      await wire.send({ jsonrpc: '2.0', id, method: 'tools/call' });
      inner.onmessage?.({ jsonrpc: '2.0', id, ...sent } as JSONRPCMessage);
    }
    expect(received).toEqual(cases.map(([, expected], id) => ({ jsonrpc: '2.0', id, ...expected })));
    expect(problems).toEqual([]);
  });
});
