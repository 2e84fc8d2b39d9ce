import { connect } from '@nats-io/transport-node';
import { describe, expect, it } from 'vitest';
import { hasServer, NatsServer, Proxy } from '../test/nats-server.js';
import { finish, randomOf } from '../test/turns.js';
import { contentFiles } from '@h/tools/objects';
import { natsSessions } from './index.js';
import { natsObjects } from './objects.js';

const seeds = Number(process.env['NATS_CHAOS_SEEDS'] ?? 2);
const sessions = 10;
const turns = 8;

describe.skipIf(!hasServer)('NATS under failures', () => {
  it.each(Array.from({ length: seeds }, (_, index) => index + 1))(
    'loses and repeats no record while connections are cut and the server is killed, seed %i',
    async (seed) => {
      const random = randomOf(seed);
      const server = await NatsServer.start();
      const proxies: Proxy[] = [];
      const open = async (label: string) => {
        const proxy = new Proxy(server.port);
        proxies.push(proxy);
        const servers = await proxy.listen();
        const connection = await connect({
          servers,
          reconnectTimeWait: 50,
          reconnectJitter: 10,
          maxReconnectAttempts: -1,
        });
        return { connection, store: await natsSessions(connection, { label, leaseMs: 2_000, retryMs: 60_000 }) };
      };
      const first = await open('a');
      const workers = [first, await open('b'), await open('c')];
      const run = { isOver: false };
      let faults = 0;
      const chaos = (async () => {
        while (!run.isOver) {
          // Counted in answers of the server, not in time.
          let left = 20 + random(120);
          await new Promise<void>((resolve) => {
            const stop = setInterval(() => run.isOver && done(), 50);
            const done = (): void => {
              clearInterval(stop);
              resolve();
            };
            for (const proxy of proxies) {
              proxy.passes = () => {
                left -= 1;
                if (left > 0) return true;
                proxy.passes = () => true;
                done();
                // The answer is lost: the request has been performed.
                return false;
              };
            }
          });
          if (run.isOver) return;
          faults += 1;
          if (random(4) === 0) {
            await server.kill();
            await server.run();
          }
        }
      })();
      const names = Array.from({ length: sessions }, (_, index) => `session-${index}`);
      await Promise.all(
        names.map(async (session) => {
          for (let turn = 0; turn < turns; turn += 1) {
            await finish((workers[random(3)] ?? first).store, session, `${session}-${turn}`);
          }
        }),
      );
      run.isOver = true;
      await chaos;
      const { store } = first;
      for (const session of names) {
        const texts = (await store.messages(session)).flatMap(({ role, content }) =>
          role === 'user' ? [JSON.stringify(content)] : [],
        );
        expect(texts).toHaveLength(turns);
        for (const [turn, text] of texts.entries()) expect(text).toContain(`${session} ${session}-${turn}`);
      }
      expect(await store.unfinished()).toEqual([]);
      expect(faults).toBeGreaterThan(5);
      await Promise.all(workers.map(async (each) => (await each.store.close(), each.connection.close())));
      await Promise.all(proxies.map((each) => each.stop()));
      await server.stop();
    },
  );

  it('stores and reads a file of 100 MB, and nothing of an upload whose server is killed', async () => {
    const server = await NatsServer.start();
    const connection = await connect({ servers: server.address, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
    const objects = await natsObjects(connection, { retryMs: 20_000 });
    const files = contentFiles(objects);
    async function* content(failAt = Infinity) {
      for (let part = 0; part < 100; part += 1) {
        if (part === failAt) await server.kill();
        yield new Uint8Array(1024 ** 2).fill(part);
      }
    }
    const { address } = await files.put(() => content());
    let bytes = 0;
    for await (const chunk of (await files.read(address)) ?? []) bytes += chunk.byteLength;
    expect(bytes).toBe(100 * 1024 ** 2);
    await expect(objects.put('other', content(50))).rejects.toMatchObject({ code: 'object-store' });
    await server.run();
    expect(await objects.head('other')).toBeUndefined();
    expect(await files.size(address)).toBe(100 * 1024 ** 2);
    await connection.close();
    await server.stop();
  });
});
