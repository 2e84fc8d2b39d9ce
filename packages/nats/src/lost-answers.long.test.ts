import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasServer, NatsServer, Proxy } from '../test/nats-server.js';
import { turnOf, write } from '../test/turns.js';
import { natsSessions } from './index.js';
import { natsObjects } from './objects.js';

let server: NatsServer;
let connection: NatsConnection;

/** Counts the answers to requests, and cuts the connection in place of one. */
const cutAt = (proxy: Proxy, lost: number): { readonly answers: number } => {
  const seen = { answers: 0 };
  proxy.passes = (chunk) => {
    if (!chunk.includes('MSG _INBOX.')) return true;
    seen.answers += 1;
    return seen.answers !== lost;
  };
  return seen;
};

const runSessions = async (remote: NatsConnection, bucket: string): Promise<void> => {
  const store = await natsSessions(remote, { bucket, leaseMs: 60_000 });
  for (const turn of ['turn-1', 'turn-2']) {
    const open = await store.open('alice');
    await write(open, turnOf(turn, 'one'));
    await open.close();
  }
  expect([await store.unfinished(), await store.locate('turn-2')]).toEqual([[], 'alice']);
  const open = await store.open('alice');
  expect(open.pastTurn?.('turn-1')?.outcome).toBe('completed');
  await open.close();
  const other = await store.open('bob');
  await write(other, turnOf('turn-3', 'one'));
  await other.close();
  await store.delete('bob');
  await store.close();
};

const runObjects = async (remote: NatsConnection, bucket: string): Promise<void> => {
  const objects = await natsObjects(remote, { bucket });
  const put = (key: string, bytes: number) => objects.put(key, new Uint8Array(bytes), { ifAbsent: true });
  // An upload is not repeated by the store.
  for (const [key, bytes] of Object.entries(uploads)) await put(key, bytes).catch(() => put(key, bytes));
  const { content = [] } = (await objects.get('a', { offset: 131_000, length: 1_000 })) ?? {};
  let size = 0;
  for await (const { byteLength } of content) size += byteLength;
  expect(size).toBe(1_000);
  await objects.delete(['b']);
};

const uploads = { a: 300_000, b: 1 };

/** Runs work once for each answer that can be lost. */
const forEachAnswer = async (work: (remote: NatsConnection, bucket: string) => Promise<void>, name: string) => {
  const problems: string[] = [];
  let lost = 0;
  let isOver = false;
  const buckets: string[] = [];
  const worker = async (): Promise<void> => {
    while (!isOver) {
      const number = (lost += 1);
      const proxy = new Proxy(server.port);
      const remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
      const seen = cutAt(proxy, number);
      const bucket = `${name}-${number}`;
      try {
        await work(remote, bucket);
        buckets.push(bucket);
      } catch (error) {
        problems.push(`answer ${number}: ${error instanceof Error ? error.message : String(error)}`);
      }
      if (seen.answers < number) isOver = true;
      await remote.close();
      await proxy.stop();
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  return { problems, buckets };
};

describe.skipIf(!hasServer)('when the connection is cut in place of an answer', () => {
  beforeAll(async () => {
    server = await NatsServer.start();
    connection = await connect({ servers: server.address });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  it('sessions lose no record and keep none twice', { timeout: 300_000 }, async () => {
    const { problems, buckets } = await forEachAnswer(runSessions, 'sessions');
    for (const bucket of buckets) {
      const store = await natsSessions(connection, { bucket });
      expect(
        (await store.list()).map(({ session, turns, state }) => [session, turns, state]),
        bucket,
      ).toEqual([['alice', 2, 'idle']]);
      expect(await store.messages('alice'), bucket).toHaveLength(4);
      const open = await store.open('alice');
      await open.close();
      await store.close();
    }
    expect(problems).toEqual([]);
    expect(buckets.length).toBeGreaterThan(30);
  });

  it('objects are stored once and deleted', { timeout: 300_000 }, async () => {
    const { problems, buckets } = await forEachAnswer(runObjects, 'objects');
    for (const bucket of buckets) {
      const objects = await natsObjects(connection, { bucket });
      const keys: string[] = [];
      for await (const { key, bytes } of objects.list('')) keys.push(`${key} ${bytes}`);
      expect(keys, bucket).toEqual(['a 300000']);
    }
    expect(problems).toEqual([]);
    expect(buckets.length).toBeGreaterThan(15);
  });

  it('a closed store writes no lease', async () => {
    const bucket = 'closed';
    const proxy = new Proxy(server.port);
    const remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const store = await natsSessions(remote, { bucket, leaseMs: 300 });
    const open = await store.open('alice');
    let lost = 0;
    // The answer to a renewal is lost, so that it is repeated after its timeout.
    proxy.rewrite = (chunk) => {
      if (lost > 0 || !chunk.includes(`KV_${bucket}`)) return chunk;
      lost += 1;
      return Buffer.alloc(0);
    };
    await vi.waitFor(() => expect(lost).toBe(1));
    await new Promise((resolve) => setTimeout(resolve, 500));
    await open.close();
    await store.close();
    const kv = await new Kvm(connection).open(bucket);
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    const keys: string[] = [];
    for await (const key of await kv.keys('p.*')) keys.push(key);
    expect(keys).toEqual([]);
    await remote.close();
    await proxy.stop();
  });
});
