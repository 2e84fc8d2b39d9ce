import { MessageList, type Message, type OpenSession } from '@h/turn';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasServer, NatsServer } from '../test/nats-server.js';
import { turnOf, write } from '../test/turns.js';
import { natsSessions, type NatsSessions } from './index.js';
import { hashOf } from './names.js';

let server: NatsServer;
let connection: NatsConnection;
let manager: JetStreamManager;
let made = 0;
const fresh = (): string => `recent-${(made += 1)}`;
const connectStore = (bucket: string): Promise<NatsSessions> => natsSessions(connection, { bucket, retryMs: 50 });

const inSession = async <Result>(
  store: NatsSessions,
  work: (open: OpenSession) => Result | Promise<Result>,
): Promise<Result> => {
  const open = await store.open('alice');
  try {
    return await work(open);
  } finally {
    await open.close();
  }
};

const turn = (store: NatsSessions, text: string): Promise<void> =>
  inSession(store, (open) => write(open, turnOf(`turn-${(made += 1)}`, text)));

const firstMessage = (store: NatsSessions): Promise<Message | undefined> =>
  inSession(store, ({ snapshot }) => MessageList.of(snapshot.messages).at(0));

/** What a session contains, or how it fails. */
const contentOf = (store: NatsSessions): Promise<unknown> =>
  inSession(store, (open) => ({
    messages: [...open.snapshot.messages],
    state: open.snapshot.state,
    journal: open.journal,
    turns: Array.from({ length: made }, (_, index) => open.pastTurn?.(`turn-${index}`)),
  })).catch((error: unknown) => String(error));

const damage = (bucket: string) => jetstream(connection).publish(`${bucket}.log.${hashOf('alice')}`, 'R.garbage');

/** Sequences of the messages of the session. */
const sequencesIn = async (bucket: string): Promise<readonly number[]> => {
  const found: number[] = [];
  const { state } = await manager.streams.info(`${bucket}_log`);
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const message = await manager.streams.getMessage(`${bucket}_log`, { seq }).catch(() => null);
    if (message !== null) found.push(seq);
  }
  return found;
};

describe.skipIf(!hasServer)('a session that was closed before', () => {
  beforeAll(async () => {
    server = await NatsServer.start();
    connection = await connect({ servers: server.address });
    manager = await jetstreamManager(connection);
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  it('is opened without decoding its earlier turns again, unless another store has opened it', async () => {
    const bucket = fresh();
    const [store, other] = [await connectStore(bucket), await connectStore(bucket)];
    for (const text of ['one', 'two', 'three']) await turn(store, text);
    const first = await firstMessage(store);
    expect(first).toMatchObject({ role: 'user' });
    for (const text of ['four', 'five']) {
      await turn(store, text);
      expect(await firstMessage(store)).toBe(first);
    }
    await firstMessage(other);
    expect(await firstMessage(store)).not.toBe(first);
    expect(await firstMessage(store)).toEqual(first);
    await Promise.all([store.close(), other.close()]);
  });

  it('has the same content as a session that is read from its log, whatever happens in between', async () => {
    const step = fc.record({
      kind: fc.constantFrom('turn', 'turn', 'open', 'part', 'other turn', 'other open', 'delete', 'lose', 'damage'),
      isCompared: fc.boolean(),
      share: fc.double({ min: 0, max: 0.99, noNaN: true }),
      length: fc.constantFrom(1, 1_000, 40_000),
    });
    const run = async (steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[]) => {
      const bucket = fresh();
      const [store, other] = [await connectStore(bucket), await connectStore(bucket)];
      for (const text of ['one', 'two', 'three']) await turn(store, text);
      for (const { kind, isCompared, share, length } of steps) {
        const used = kind.startsWith('other') ? other : store;
        const text = `${made}`.padEnd(length, 'x');
        if (kind === 'delete') await store.delete('alice');
        else if (kind === 'damage') await damage(bucket);
        else if (kind === 'lose') {
          const sequences = await sequencesIn(bucket);
          const seq = sequences[Math.floor(share * sequences.length)];
          if (seq !== undefined) await manager.streams.deleteMessage(`${bucket}_log`, seq);
        } else if (kind === 'part') {
          const records = turnOf(`turn-${(made += 1)}`, text).slice(0, 1 + Math.floor(share * 4));
          await inSession(used, (open) => write(open, records)).catch(() => undefined);
        } else if (kind.endsWith('turn')) await turn(used, text).catch(() => undefined);
        else await contentOf(used);
        if (!isCompared) continue;
        const content = await contentOf(store);
        const reader = await connectStore(bucket);
        expect(content).toEqual(await contentOf(reader));
        await reader.close();
      }
      await Promise.all([store.close(), other.close()]);
      for (const stream of [`KV_${bucket}`, `${bucket}_log`]) await manager.streams.delete(stream);
    };
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 12 }), run), { numRuns: 25 });
  });

  it('is read again if another process took it over before it was closed', async () => {
    const bucket = fresh();
    const [store, other] = [await connectStore(bucket), await connectStore(bucket)];
    for (const text of ['one', 'two', 'three']) await turn(store, text);
    const open = await store.open('alice');
    // The lease of the first process has ended.
    await manager.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.p.*` });
    await turn(other, 'four');
    await open.close();
    expect(await contentOf(store)).toEqual(await contentOf(other));
    expect(JSON.stringify(await store.messages('alice'))).toContain('You said: four');
    await Promise.all([store.close(), other.close()]);
  });

  it('is stored as it was read, even if a turn has changed its messages in memory', async () => {
    const bucket = fresh();
    const store = await connectStore(bucket);
    for (const text of ['one', 'two', 'three']) await turn(store, text);
    for (const text of ['four', 'five', 'six', 'seven']) {
      await turn(store, text.padEnd(40_000, 'x'));
      Object.assign((await firstMessage(store)) ?? {}, { content: 'changed' });
    }
    const reader = await connectStore(bucket);
    expect((await reader.messages('alice'))[0]).toEqual(
      turnOf('', 'one').flatMap((event) => ('input' in event ? event.input : []))[0],
    );
    await store.close();
  });
});
