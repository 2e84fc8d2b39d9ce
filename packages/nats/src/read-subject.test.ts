import { jetstream, jetstreamManager, type JetStreamClient, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasServer, NatsServer, Proxy } from '../test/nats-server.js';
import { readSubject } from './read-subject.js';

/** Splits what a server sends into messages of its protocol. */
const messagesIn = (): ((chunk: Buffer) => readonly Buffer[]) => {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    const found: Buffer[] = [];
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf('\r\n'); end !== -1; end = rest.indexOf('\r\n')) {
      const [kind = '', ...words] = rest.toString('latin1', 0, end).split(' ');
      const size = kind === 'MSG' || kind === 'HMSG' ? Number(words.at(-1)) + 2 : 0;
      if (rest.length < end + 2 + size) break;
      found.push(rest.subarray(0, end + 2 + size));
      rest = rest.subarray(end + 2 + size);
    }
    return found;
  };
};

const all = Array.from({ length: 12 }, (_, index) => index + 1);

describe.skipIf(!hasServer)('readSubject', () => {
  let server: NatsServer;
  let proxy: Proxy;
  let remote: NatsConnection;
  let client: JetStreamClient;
  let manager: JetStreamManager;
  /** The deliveries that the server repeats. */
  let repeated = new Set<number>();
  let delivered = 0;

  beforeAll(async () => {
    server = await NatsServer.start();
    proxy = new Proxy(server.port);
    const split = messagesIn();
    proxy.rewrite = (chunk) =>
      Buffer.concat(
        split(chunk).flatMap((message) => {
          if (!message.subarray(0, 300).includes('$JS.ACK.')) return [message];
          delivered += 1;
          return repeated.has(delivered) ? [message, message] : [message];
        }),
      );
    remote = await connect({ servers: await proxy.listen() });
    [client, manager] = [jetstream(remote), await jetstreamManager(remote)];
    await manager.streams.add({ name: 'records', subjects: ['records.>'] });
    for (const number of all) await client.publish('records.a', String(number));
  });
  afterAll(async () => {
    await remote.close();
    await proxy.stop();
    await server.stop();
  });

  it('yields each message once and in order although some are delivered twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: all.length + 1 }), fc.subarray(all), async (perRequest, repeats) => {
        repeated = new Set(repeats);
        delivered = 0;
        const found: number[] = [];
        for await (const { data } of readSubject(client, manager, 'records', 'records.a', perRequest)) {
          found.push(Number(Buffer.from(data)));
        }
        expect(found).toEqual(all);
      }),
    );
  });
});
