import { jetstream } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasServer, NatsServer, Proxy } from '../test/nats-server.js';
import { turnOf, write } from '../test/turns.js';
import { emptyHead } from './head.js';
import { natsSessions, type NatsSessions } from './index.js';
import { hashOf } from './names.js';

describe.skipIf(!hasServer)('natsSessions, over a slow connection', () => {
  it('writes a record for which a request has no time', { timeout: 60_000 }, async () => {
    const server = await NatsServer.start();
    const proxy = new Proxy(server.port);
    const remote = await connect({ servers: await proxy.listen() });
    const store = await natsSessions(remote, { retryMs: 5_000 });
    const open = await store.open('alice');
    proxy.bytesPerSecond = 200_000;
    await write(open, turnOf('turn-1', 'x'.repeat(1_000_000)).slice(0, 1));
    proxy.bytesPerSecond = Infinity;
    await open.close();
    expect(await store.unfinished()).toMatchObject([{ turn: 'turn-1' }]);
    await store.close();
    await remote.close();
    await proxy.stop();
    await server.stop();
  });
});

const sessions = 300;
const latest = { turn: 'turn-1', startedAt: 1, outcome: 'completed' };

describe.skipIf(!hasServer)('natsSessions, when the connection is silent in the middle of a list', () => {
  let server: NatsServer;
  let proxy: Proxy;
  let remote: NatsConnection;
  let store: NatsSessions;
  let isMiddle = false;

  beforeAll(async () => {
    server = await NatsServer.start();
    proxy = new Proxy(server.port);
    remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    store = await natsSessions(remote, { bucket: 'silent', retryMs: 10_000 });
    for (let index = 0; index < sessions; index += 1) {
      const head = { ...emptyHead, session: `session-${index}`, turns: 1, latest, firstInput: 'x'.repeat(500) };
      await jetstream(remote).publish(`$KV.silent.s.${hashOf(head.session)}`, JSON.stringify(head));
    }
  });
  afterAll(async () => {
    await remote.close();
    await proxy.stop();
    await server.stop();
  });

  const goSilent = (): void => {
    isMiddle = false;
    proxy.passes = (chunk) => {
      if (chunk.includes('"session":"session-150"')) isMiddle = true;
      proxy.isSilent ||= isMiddle;
      return true;
    };
  };

  it.each(['list', 'unfinished'] as const)(
    'continues %s() when the connection is back',
    async (method) => {
      goSilent();
      const found = store[method]();
      await expect.poll(() => isMiddle, { timeout: 5_000 }).toBe(true);
      proxy.passes = () => true;
      proxy.isSilent = false;
      proxy.cut();
      expect(await found).toHaveLength(method === 'list' ? sessions : 0);
    },
    60_000,
  );

  it.each(['list', 'unfinished'] as const)(
    'ends %s() with an error if it stays so',
    async (method) => {
      goSilent();
      await expect(store[method]()).rejects.toMatchObject({ code: 'nats', isRetryable: true });
      proxy.passes = () => true;
      proxy.isSilent = false;
      proxy.cut();
      await expect.poll(() => store.list(), { timeout: 30_000 }).toHaveLength(sessions);
    },
    90_000,
  );
});
