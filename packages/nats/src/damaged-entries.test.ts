import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ObjectStoreError, type ObjectStore } from '@h/tools/objects';
import { jetstream, jetstreamManager, type JetStreamClient } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasServer, NatsServer } from '../test/nats-server.js';
import { turnOf, write } from '../test/turns.js';
import { NatsError } from './errors.js';
import { natsSessions } from './index.js';
import { hashOf } from './names.js';
import { natsObjects } from './objects.js';

let server: NatsServer;
let connection: NatsConnection;
let client: JetStreamClient;
let made = 0;
const fresh = (): string => `damaged-${(made += 1)}`;

const namesIn = async (objects: ObjectStore): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { key } of objects.list('')) names.push(key);
  return names;
};

describe.skipIf(!hasServer)('a store whose subjects another client writes to', () => {
  beforeAll(async () => {
    server = await NatsServer.start();
    connection = await connect({ servers: server.address });
    client = jetstream(connection);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  it.each(['garbage', '', 'null', '5', '{}', '{"session":5,"owner":7,"turns":1,"latest":{}}'])(
    'lists and sweeps the other sessions beside the head %j, and restores it from the log',
    async (head) => {
      const bucket = fresh();
      const problems: Error[] = [];
      const onProblem = (error: Error): never => {
        problems.push(error);
        throw new Error('The callback fails.');
      };
      const store = await natsSessions(connection, { bucket, retryMs: 500, ttlMs: 60_000, onProblem });
      for (const session of ['good', 'bad']) {
        const open = await store.open(session);
        await write(open, turnOf(`turn-${session}`, 'one'));
        await open.close();
      }
      await client.publish(`$KV.${bucket}.s.${hashOf('bad')}`, head);
      expect((await store.list()).map(({ session }) => session)).toEqual(['good']);
      expect([await store.unfinished(), await store.sweep(), await store.locate('turn-bad')]).toEqual([
        [],
        0,
        undefined,
      ]);
      expect(problems[0]).toBeInstanceOf(NatsError);
      const open = await store.open('bad');
      expect(open.pastTurn?.('turn-bad')?.outcome).toBe('completed');
      await open.close();
      expect(await store.list()).toHaveLength(2);
      await store.close();
    },
  );

  it.each(['garbage', 'null'])(
    'keeps a session whose lease is overwritten with %j until the lease would end',
    async (lease) => {
      const bucket = fresh();
      const [store, other] = await Promise.all(
        ['one', 'two'].map((label) => natsSessions(connection, { bucket, label, leaseMs: 60_000 })),
      );
      const open = await store?.open('alice');
      const keys = `$KV.${bucket}.p.*`;
      const manager = await jetstreamManager(connection);
      const { subject } =
        (await manager.streams.getMessage(`KV_${bucket}`, { last_by_subj: keys })) ?? expect.fail('no lease');
      await client.publish(subject, lease);
      await expect(other?.open('alice')).rejects.toMatchObject({ code: 'session-busy' });
      await open?.close();
      await Promise.all([store?.close(), other?.close()]);
    },
  );

  it.each(['R.garbage', 'C.garbage', 'C.null', 'S.{"from":1}\ngarbage', 'S.null\n'])(
    'reports a session whose log has the entry %j, and returns the unfinished turns of others',
    async (entry) => {
      const bucket = fresh();
      const problems: Error[] = [];
      const store = await natsSessions(connection, {
        bucket,
        retryMs: 500,
        onProblem: (error) => problems.push(error),
      });
      for (const session of ['bad', 'good']) {
        const open = await store.open(session);
        await write(open, turnOf(`turn-${session}`, 'one').slice(0, 3));
        await open.close();
      }
      await client.publish(`${bucket}.log.${hashOf('bad')}`, entry);
      expect((await store.unfinished()).map(({ session }) => session)).toEqual(['good']);
      expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining('session bad')]);
      await expect(store.messages('bad')).rejects.toMatchObject({ code: expect.any(String) as string });
      await store.close();
    },
  );

  it('does not find a turn whose entry is not the JSON of one', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    for (const text of ['garbage', 'null', '{"session":5}']) {
      await client.publish(`$KV.${bucket}.t.${hashOf('turn-1')}`, text);
      expect(await store.locate('turn-1')).toBeUndefined();
    }
  });

  it.each(['garbage', 'null', '{}', '{"name":5}', '{"name":"bad","size":1,"chunks":1,"nuid":">"}'])(
    'lists the other objects beside the description %j, and deletes it without their content',
    async (description) => {
      const bucket = fresh();
      const objects = await natsObjects(connection, { bucket, retryMs: 500 });
      await objects.put('good', Buffer.from('x'));
      const publish = () => client.publish(`$O.${bucket}.M.${Buffer.from('bad').toString('base64url')}`, description);
      await publish();
      expect(await namesIn(objects)).toEqual(['good']);
      await expect(objects.head('bad')).rejects.toBeInstanceOf(ObjectStoreError);
      await expect(objects.put('bad', Buffer.from('y'))).rejects.toBeInstanceOf(ObjectStoreError);
      await objects.delete(['bad']);
      await objects.put('bad', Buffer.from('y'), { ifAbsent: true });
      expect(await namesIn(objects)).toEqual(['good', 'bad']);
      const chunks: Uint8Array[] = [];
      for await (const chunk of (await objects.get('good'))?.content ?? []) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toBe('x');
    },
  );

  it('fails if the server accepts no message that has a record', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'h-nats-'));
    const file = join(folder, 'server.conf');
    await writeFile(file, 'max_payload: 1024');
    const small = await NatsServer.start(['-c', file]);
    const remote = await connect({ servers: small.address });
    const store = await natsSessions(remote, { retryMs: 500 });
    const open = await store.open('alice');
    await expect(write(open, turnOf('turn-1', 'x'.repeat(2_000)))).rejects.toMatchObject({ code: 'nats' });
    await remote.close();
    await small.stop();
    await rm(folder, { recursive: true });
  });
});
