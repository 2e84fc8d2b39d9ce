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
const progress = (params: object): JSONRPCMessage => ({
  jsonrpc: '2.0',
  method: 'notifications/progress',
  params: { ...params },
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

  it('passes valid progress to its listener at once, and drops other progress', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    const followed: object[] = [];
    const { token, end } = wire.followProgress((value) => followed.push(value));
    const other = wire.followProgress(() => followed.push({}));
    expect(other.token).not.toBe(token);
    await wire.send({ jsonrpc: '2.0', id: 1, method: 'tools/call' });
    inner.onmessage?.(progress({ progressToken: token, progress: 1, total: 3, message: 'one', other: true }));
    inner.onmessage?.(progress({ progressToken: String(token), progress: 2, total: 'three', message: 2 }));
    const invalid = [undefined, '3', null, {}].map((value) => ({ progressToken: token, progress: value }));
    const unknown = [0, '__proto__', null, {}].map((progressToken) => ({ progressToken, progress: 4 }));
    for (const params of [...invalid, ...unknown]) inner.onmessage?.(progress(params));
    inner.onmessage?.(answer(1));
    inner.onmessage?.(progress({ progressToken: token, progress: 5 }));
    end();
    inner.onmessage?.(progress({ progressToken: token, progress: 6 }));
    expect(followed).toEqual([{ progress: 1, total: 3, message: 'one' }, { progress: 2 }, { progress: 5 }]);
    expect([received, problems]).toEqual([[answer(1)], []]);
  });

  it('passes requests and used notifications, and drops other notifications', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    const methods = ['tools/list_changed', 'cancelled', 'subscriptions/acknowledged', 'message', 'resources/updated'];
    const notifications = methods.map((name) => ({ jsonrpc: '2.0' as const, method: `notifications/${name}` }));
    const request = { jsonrpc: '2.0' as const, id: 7, method: 'notifications/message' };
    for (const message of [...notifications, request]) inner.onmessage?.(message);
    expect(received).toEqual([...notifications.slice(0, 3), request]);
    expect(problems).toEqual([]);
  });

  it('reports invalid messages once, without their content', async () => {
    const { wire, inner, received, problems } = connected();
    await wire.start();
    const secret = 'ghp_secret';
    const broken = [{}, { method: 5 }, { id: true, method: 'ping' }, { method: 'ping', params: secret }, { id: {} }];
    for (const members of broken) inner.onmessage?.({ jsonrpc: '2.0', ...members, secret } as never);
    expect(received).toEqual([]);
    expect(problems).toEqual(['The server sent a message that is not valid JSON-RPC. Further ones are not reported.']);
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
