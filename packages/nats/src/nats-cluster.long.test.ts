import { contentFiles } from '@h/tools/objects';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasClusterServer, NatsServer } from '../test/nats-server.js';
import { finish } from '../test/turns.js';
import { natsSessions } from './index.js';
import { natsObjects } from './objects.js';

const nodes = 3;
const sessions = 6;
/** Sessions work until all faults are over, and at least this long. */
const minTurns = 8;
const turnsBetweenFaults = 4;

async function* content(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(5_000_000).fill(7);
}

describe('a NATS cluster of three nodes', () => {
  it('loses and repeats no record of turns that run while each node is killed', async ({ skip }) => {
    skip(!hasClusterServer, 'nats-server 2.10.23 or later is not installed');
    const cluster = await NatsServer.cluster(nodes);
    onTestFinished(async () => void (await Promise.all(cluster.map((node) => node.stop()))), 60_000);
    const open = async (label: string) => {
      const servers = cluster.map(({ address }) => address);
      const connection = await connect({ servers, reconnectTimeWait: 50, maxReconnectAttempts: -1 });
      onTestFinished(() => connection.close());
      const settings = { label, leaseMs: 5_000, retryMs: 120_000 };
      return { connection, store: await natsSessions(connection, { ...settings, replicas: nodes }), settings };
    };
    const first = await open('a');
    const workers = [first, await open('b'), await open('c')];
    const manager = await jetstreamManager(first.connection);
    const streams = ['KV_h_sessions', 'h_sessions_log', 'OBJ_h_objects'];
    /** Resolves when each node has all messages. */
    const recovered = () =>
      vi.waitFor(
        async () => {
          for (const stream of streams) {
            const { cluster: state, config } = await manager.streams.info(stream);
            const current = (state?.replicas ?? []).filter((peer) => peer.current && !peer.offline);
            expect([config.num_replicas, current.length, typeof state?.leader]).toEqual([3, 2, 'string']);
          }
        },
        { timeout: 120_000, interval: 100 },
      );
    const files = contentFiles(await natsObjects(first.connection, { replicas: nodes, retryMs: 120_000 }));
    const { address } = await files.put(() => content());
    await recovered();

    let done = 0;
    const waiting = new Set<{ readonly count: number; readonly resolve: () => void }>();
    const reached = (count: number) => new Promise<void>((resolve) => void waiting.add({ count, resolve }));
    const faults = { areOver: false };
    const ran = Array.from({ length: sessions }, () => 0);
    const work = Promise.all(
      ran.map(async (_, session) => {
        for (let turn = 0; turn < minTurns || !faults.areOver; turn += 1) {
          const { store } = workers[(session + turn) % workers.length] ?? first;
          await finish(store, `session-${session}`, `session-${session}-${turn}`);
          ran[session] = turn + 1;
          done += 1;
          for (const each of waiting) if (done >= each.count) each.resolve();
        }
      }),
    );
    const killEach = async (): Promise<void> => {
      for (const node of cluster) {
        await node.kill();
        await reached(done + turnsBetweenFaults);
        let bytes = 0;
        for await (const chunk of (await files.read(address)) ?? []) bytes += chunk.byteLength;
        expect(bytes).toBe(5_000_000);
        await node.run();
        await recovered();
      }
    };
    await Promise.all([work, killEach().finally(() => (faults.areOver = true))]);
    for (let session = 0; session < sessions; session += 1) {
      const messages = await first.store.messages(`session-${session}`);
      const inputs = messages.flatMap(({ role, content }) => (role === 'user' ? [JSON.stringify(content)] : []));
      expect(inputs).toHaveLength(ran[session] ?? 0);
      for (const [turn, input] of inputs.entries()) expect(input).toContain(`session-${session}-${turn}`);
    }
    expect(await first.store.unfinished()).toEqual([]);
    await Promise.all(workers.map(({ store }) => store.close()));
  }, 300_000);
});
