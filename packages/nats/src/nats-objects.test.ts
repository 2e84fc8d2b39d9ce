import { objectArtifacts } from '@h/tools/objects';
import { describeArtifactStore, describeObjectStore } from '@h/tools/testing';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe } from 'vitest';
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
  describeArtifactStore(async (options) => objectArtifacts(await fresh(), options));
});
