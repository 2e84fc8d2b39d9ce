import { ObjectTooLargeError, objectArtifacts } from '@h/tools/objects';
import { describeArtifactStore, describeObjectStore } from '@h/tools/testing';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasServer, NatsServer } from '../test/nats-server.js';
import { natsObjects } from './objects.js';

let server: NatsServer;
let connection: NatsConnection;
let made = 0;

describe.skipIf(!hasServer)('natsObjects', () => {
  beforeAll(async () => {
    server = await NatsServer.start();
    connection = await connect({ servers: server.address });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  const fresh = () => natsObjects(connection, { bucket: `objects-${(made += 1)}` });
  describeObjectStore(async () => ({ store: await fresh() }));

  it('stops reading a content that exceeds maxObjectBytes, and stores nothing of it', async () => {
    const store = await natsObjects(connection, { bucket: `objects-${(made += 1)}`, maxObjectBytes: 1_000_000 });
    let read = 0;
    let isClosed = false;
    const endless = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          read += 100_000;
          yield new Uint8Array(100_000);
        }
      } finally {
        isClosed = true;
      }
    };
    await expect(store.put('large', endless())).rejects.toThrow(ObjectTooLargeError);
    expect({ isClosed, isReadBeyond: read > 2_000_000 }).toEqual({ isClosed: true, isReadBeyond: false });
    expect(await store.head('large')).toBeUndefined();
    for await (const { key } of store.list('')) expect.fail(`${key} is listed`);
    await store.put('small', new Uint8Array(1_000_000));
    expect((await store.head('small'))?.bytes).toBe(1_000_000);
  });

  describeArtifactStore(async (options) => objectArtifacts(await fresh(), options));
});
