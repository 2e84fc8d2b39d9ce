import type { ArchivedTurn } from '@h/session/format';
import { describeSessionStore } from '@h/session/testing';
import { DiscardPolicy, jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hasServer, NatsServer, Proxy } from '../test/nats-server.js';
import { turnOf, write } from '../test/turns.js';
import { natsSessions, type NatsSessions } from './index.js';
import { hashOf } from './names.js';
import { SessionLogs } from './session-log.js';

let server: NatsServer;
let connection: NatsConnection;
let made = 0;

describe.skipIf(!hasServer)('natsSessions', () => {
  beforeAll(async () => {
    server = await NatsServer.start();
    connection = await connect({ servers: server.address });
  });
  afterAll(async () => {
    await connection.close();
    await server.stop();
  });

  describeSessionStore(async () => {
    const bucket = `sessions-${(made += 1)}`;
    const opened: NatsSessions[] = [];
    const reopen = async (): Promise<NatsSessions> => {
      const store = await natsSessions(connection, { bucket, leaseMs: 60_000 });
      opened.push(store);
      return store;
    };
    const dispose = async (): Promise<void> => void (await Promise.all(opened.map((each) => each.close())));
    return { store: await reopen(), reopen, dispose };
  });

  const fresh = (): string => `own-${(made += 1)}`;

  it.each([
    ['has ended', 2, 6],
    ['follows others', 2, 3],
    ['is the first and has ended', 1, 6],
  ])('does not open a session whose log lacks the latest turn, which %s', async (_case, turns, records) => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket, leaseMs: 60_000, retryMs: 200 });
    const open = await store.open('alice');
    if (turns === 2) await write(open, turnOf('turn-1', 'one'));
    await write(open, turnOf('turn-2', 'two').slice(0, records));
    await open.close();
    const manager = await jetstreamManager(connection);
    await manager.streams.purge(`${bucket}_log`, { filter: `${bucket}.log.${hashOf('alice')}` });
    await expect(store.open('alice')).rejects.toMatchObject({
      code: 'nats',
      message: expect.stringContaining('the latest turn of the log is missing') as string,
    });
    await store.close();
  });

  it('rejects the records of a process that lost its lease, and keeps what it had confirmed', async () => {
    const bucket = fresh();
    const proxy = new Proxy(server.port);
    const remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const stale = await natsSessions(remote, { bucket, leaseMs: 200, label: 'stale' });
    const other = await natsSessions(connection, { bucket, leaseMs: 60_000 });
    const first = await stale.open('alice');
    await write(first, turnOf('turn-1', 'one').slice(0, 4));
    await expect(other.open('alice')).rejects.toMatchObject({ code: 'session-busy', owner: 'stale' });
    proxy.isOpen = false;
    proxy.cut();
    const second = await vi.waitFor(() => other.open('alice'), { timeout: 10_000, interval: 20 });
    expect(second.journal).toHaveLength(4);
    await write(second, turnOf('turn-1', 'one').slice(4), 4);
    proxy.isOpen = true;
    await expect(write(first, turnOf('turn-1', 'late').slice(4), 4)).rejects.toMatchObject({ code: 'session-taken' });
    await first.close();
    await second.close();
    expect(JSON.stringify(await other.messages('alice'))).not.toContain('late');
    await Promise.all([stale.close(), other.close()]);
    await remote.close();
    await proxy.stop();
  });

  it.concurrent.each([
    ['its own process', 'claim'],
    ['another process', 'release'],
  ])('opens a session in %s after an outage in which its %s failed', async (opener, failing) => {
    const bucket = fresh();
    const proxy = new Proxy(server.port);
    const remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const onProblem = vi.fn<(error: Error) => void>();
    const store = await natsSessions(remote, { bucket, leaseMs: 1_000, retryMs: 200, onProblem });
    const other = await natsSessions(connection, { bucket, leaseMs: 60_000 });
    const open = await store.open('alice');
    await write(open, turnOf('turn-1', 'one').slice(0, 3));
    const cut = (): void => {
      proxy.isOpen = false;
      proxy.cut();
    };
    if (failing === 'release') {
      cut();
      await open.close();
    } else {
      await open.close();
      proxy.passes = (answer) => {
        const isStored = answer.includes(`"stream":"KV_${bucket}"`);
        if (isStored) proxy.isOpen = false;
        return !isStored;
      };
      await expect(store.open('alice')).rejects.toMatchObject({ code: 'nats' });
      proxy.passes = () => true;
    }
    proxy.isOpen = true;
    // The process holds its lease again.
    await vi.waitFor(() => store.open('bob').then((again) => again.close()), { timeout: 20_000 });
    const opening = opener === 'another process' ? other : store;
    const again = await vi.waitFor(() => opening.open('alice'), { timeout: 10_000 });
    expect(again.journal).toHaveLength(3);
    await again.close();
    await Promise.all([store.close(), other.close()]);
    await remote.close();
    await proxy.stop();
  });

  it('recognizes its own record when the answer was lost and the server has forgotten the id', async () => {
    const bucket = fresh();
    const proxy = new Proxy(server.port);
    const remote = await connect({ servers: await proxy.listen(), reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const store = await natsSessions(remote, { bucket, leaseMs: 60_000 });
    const open = await store.open('alice');
    const [start, ...others] = turnOf('turn-1', 'one');
    if (start === undefined) throw new Error('The turn has no records.');
    await write(open, [start]);
    const manager = await jetstreamManager(connection);
    await manager.streams.update(`${bucket}_log`, { duplicate_window: 100_000_000 });
    proxy.passes = (answer) => {
      const isStored = answer.includes(`"stream":"${bucket}_log"`);
      // No request passes until the server has forgotten the id.
      if (isStored) proxy.isOpen = false;
      return !isStored;
    };
    const writing = write(open, others, 1);
    await vi.waitFor(() => expect(proxy.isOpen).toBe(false), { timeout: 10_000, interval: 5 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    proxy.passes = () => true;
    proxy.isOpen = true;
    await writing;
    await open.close();
    expect(await store.list()).toMatchObject([{ session: 'alice', state: 'idle', turns: 1 }]);
    await store.close();
    await remote.close();
    await proxy.stop();
  });

  it('keeps the log of a session whose head was lost, and writes the head again', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const first = await store.open('alice');
    await write(first, turnOf('turn-1', 'one'));
    await first.close();
    const manager = await jetstreamManager(connection);
    await manager.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.s.*` });
    const second = await store.open('alice');
    expect(second.pastTurn?.('turn-1')).toMatchObject({ outcome: 'completed' });
    await second.close();
    expect(JSON.stringify(await store.messages('alice'))).toContain('one');
    expect(await store.list()).toMatchObject([{ session: 'alice', latestTurn: 'turn-1', state: 'idle', turns: 1 }]);
    await store.close();
  });

  it('continues a turn whose head the server has lost, again and again', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const open = await store.open('alice');
    const manager = await jetstreamManager(connection);
    for (const [seq, event] of turnOf('turn-1', 'one').entries()) {
      await manager.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.s.*` });
      await open.append({ v: 1, seq, event, derived: false });
    }
    await open.close();
    expect(await store.list()).toMatchObject([{ session: 'alice', latestTurn: 'turn-1', state: 'idle', turns: 1 }]);
    expect(await store.unfinished()).toEqual([]);
    await store.close();
  });

  it('writes no head for a session that was deleted by another process', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const open = await store.open('alice');
    const manager = await jetstreamManager(connection);
    await manager.streams.purge(`${bucket}_log`, { filter: `${bucket}.log.*` });
    await manager.streams.purge(`KV_${bucket}`, { filter: `$KV.${bucket}.s.*` });
    await expect(write(open, turnOf('turn-1', 'late'))).rejects.toMatchObject({ code: 'session-taken' });
    await open.close();
    expect(await store.list()).toEqual([]);
    await store.close();
  });

  it.each([
    ['all messages', () => true],
    ['the first turn', (seq: number) => seq <= 2],
    ['a record in the middle', (seq: number) => seq === 4],
    ['the last record', (seq: number, last: number) => seq === last],
  ])('does not open a session whose log lacks %s, and can delete it', async (_, isLost) => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket, retryMs: 200 });
    for (const turn of [1, 2]) {
      const open = await store.open('alice');
      await write(open, turnOf(`turn-${turn}`, 'one'));
      await open.close();
    }
    const manager = await jetstreamManager(connection);
    const subject = `${bucket}.log.${hashOf('alice')}`;
    const { seq: last } = (await manager.streams.getMessage(`${bucket}_log`, { last_by_subj: subject })) ?? { seq: 0 };
    for (let seq = 1; seq <= last; seq += 1) {
      if (isLost(seq, last)) await manager.streams.deleteMessage(`${bucket}_log`, seq);
    }
    await expect(store.open('alice')).rejects.toMatchObject({ code: 'nats', isRetryable: true });
    await expect(store.open('alice')).rejects.toThrow('of the log is missing');
    expect(await store.list()).toMatchObject([{ session: 'alice', turns: 2 }]);
    await store.delete('alice');
    await (await store.open('alice')).close();
    expect(await store.list()).toEqual([]);
    await store.close();
  });

  it('reports a session whose log lacks messages, and finds the unfinished turns of others', async () => {
    const bucket = fresh();
    const onProblem = vi.fn<(error: Error) => void>();
    const store = await natsSessions(connection, { bucket, retryMs: 200, onProblem });
    for (const session of ['alice', 'bob']) {
      const open = await store.open(session);
      await write(open, turnOf(`turn-${session}`, 'one').slice(0, 3));
      await open.close();
    }
    const manager = await jetstreamManager(connection);
    const message = await manager.streams.getMessage(`${bucket}_log`, { seq: 3 });
    expect(message?.subject).toBe(`${bucket}.log.${hashOf('alice')}`);
    await manager.streams.deleteMessage(`${bucket}_log`, 3);
    expect(await store.unfinished()).toMatchObject([{ turn: 'turn-bob', session: 'bob' }]);
    expect(onProblem).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'nats' }));
    expect(onProblem.mock.lastCall?.[0].message).toMatch(
      /Reading session alice failed.*message 3 of the log is missing/,
    );
    await store.close();
  });

  it('opens a session whose first turn was counted by a process that died before it wrote the records', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const open = await store.open('alice');
    await write(open, turnOf('turn-1', 'one').slice(0, 1));
    await open.close();
    const manager = await jetstreamManager(connection);
    await manager.streams.purge(`${bucket}_log`, { filter: `${bucket}.log.*` });
    expect(await store.unfinished()).toEqual([]);
    const again = await store.open('alice');
    await write(again, turnOf('turn-1', 'one'));
    await again.close();
    expect(await store.messages('alice')).toHaveLength(2);
    await store.close();
  });

  it.each([0, 1, 3, 7])('is empty when its deletion was interrupted after %i messages', async (removed) => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket, retryMs: 200 });
    const open = await store.open('alice');
    await write(open, turnOf('turn-1', 'one'));
    await open.close();
    const manager = await jetstreamManager(connection);
    const died = { value: () => Promise.reject(new Error('The process died.')) };
    const streams: unknown = Object.create(manager.streams, { purge: died });
    const dying = Object.create(manager, { streams: { value: streams } }) as JetStreamManager;
    const logs = new SessionLogs(connection, dying, `${bucket}_log`, `${bucket}.log`, 200);
    const key = hashOf('alice');
    await expect(logs.delete(key, await logs.lastSeq(key), 'deletion')).rejects.toThrow('The process died.');
    await manager.streams.purge(`${bucket}_log`, { filter: `${bucket}.log.${key}`, seq: removed + 1 });
    expect(await store.messages('alice')).toEqual([]);
    await store.delete('alice');
    await store.close();
  });

  it('reads a session whose earlier claims another process removes after this one has claimed it', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket, retryMs: 200 });
    const manager = await jetstreamManager(connection);
    const logs = new SessionLogs(connection, manager, `${bucket}_log`, `${bucket}.log`, 200);
    const claim = { fence: 0, latest: null, turns: 0, recent: undefined };
    await logs.claim('alice', hashOf('alice'), { ...claim, id: 'first' });
    const open = await store.open('alice');
    await manager.streams.deleteMessage(`${bucket}_log`, 1);
    await write(open, turnOf('turn-1', 'one'));
    await open.close();
    const again = await store.open('alice');
    expect(again.journal).toHaveLength(6);
    await again.close();
    await store.close();
  });

  it('removes nothing but claims when a session without a turn is closed', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const open = await store.open('alice');
    // As if a node had returned these messages only now.
    await jetstream(connection).publish(`${bucket}.log.${hashOf('alice')}`, 'R.record');
    await open.close();
    const manager = await jetstreamManager(connection);
    expect((await manager.streams.info(`${bucket}_log`)).state.messages).toBe(2);
    await (await store.open('bob')).close();
    expect((await manager.streams.info(`${bucket}_log`)).state.messages).toBe(2);
    await store.close();
  });

  it('corrects the head of a process that died, in several processes at once', async () => {
    const bucket = fresh();
    const stores = await Promise.all([0, 1, 2, 3].map(() => natsSessions(connection, { bucket, leaseMs: 100 })));
    const [store] = stores;
    const open = await store?.open('alice');
    await open?.append({ v: 1, seq: 0, event: turnOf('turn-1', 'one')[0] as never, derived: false });
    await open?.close();
    const kv = await new Kvm(jetstream(connection)).open(bucket, { allow_direct: false });
    const key = `s.${hashOf('alice')}`;
    const head = (await kv.get(key))?.json<{ readonly latest: object }>();
    await kv.put(key, JSON.stringify({ ...head, latest: { ...head?.latest, turn: 'turn-9' } }));
    const found = await Promise.all(stores.map((each) => each.unfinished()));
    for (const turns of found) expect(turns).toMatchObject([{ turn: 'turn-1', session: 'alice' }]);
    expect(found).toHaveLength(4);
    await Promise.all(stores.map((each) => each.close()));
  });

  it('never deletes a session whose turn runs or has not ended', async () => {
    const store = await natsSessions(connection, { bucket: fresh(), ttlMs: 1_000 });
    for (const session of ['ended', 'left']) {
      const open = await store.open(session);
      await write(open, turnOf(`turn-${session}`, 'x', 5).slice(0, session === 'left' ? -1 : undefined));
      await open.close();
    }
    const running = await store.open('running');
    await write(running, turnOf('turn-running', 'x', 5));
    expect(await store.sweep()).toBe(1);
    expect((await store.list()).map(({ session, state }) => `${session}: ${state}`).toSorted()).toEqual([
      'left: unfinished',
      'running: running',
    ]);
    expect([await store.locate('turn-ended'), await store.messages('ended')]).toEqual([undefined, []]);
    await running.close();
    expect(await store.sweep()).toBe(1);
    await store.close();
  });

  it('deletes a session with all its messages, unless it is open', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const open = await store.open('alice');
    await write(open, turnOf('turn-1', 'one'));
    await expect(store.delete('alice')).rejects.toMatchObject({ code: 'session-busy' });
    await open.close();
    await store.delete('alice');
    await store.delete('unknown');
    await (await store.open('never used')).close();
    await store.close();
    const manager = await jetstreamManager(connection);
    for (const stream of [`${bucket}_log`, `KV_${bucket}`]) {
      expect((await manager.streams.info(stream)).state.messages).toBe(0);
    }
  });

  it('keeps the log of a session bounded over many turns, and records larger than a message', async () => {
    const bucket = fresh();
    const store = await natsSessions(connection, { bucket });
    const large = 'x'.repeat(1_500_000);
    const texts = Array.from({ length: 80 }, (_, turn) => (turn === 40 ? large : `text ${turn}`));
    for (const [turn, text] of texts.entries()) {
      const open = await store.open('alice');
      await write(open, turnOf(`turn-${turn}`, text));
      await open.close();
    }
    const messages = await store.messages('alice');
    expect(messages).toHaveLength(160);
    expect(JSON.stringify(messages[80])).toContain(large);
    const archived: ArchivedTurn[] = [];
    for await (const each of store.archive('alice')) archived.push(each);
    expect(archived.map(({ turn, messages: all }) => [turn, all.length])).toEqual([
      ['turn-78', 158],
      ['turn-79', 2],
    ]);
    expect(archived.flatMap(({ messages: all }) => all)).toEqual(messages);
    const { state } = await (await jetstreamManager(connection)).streams.info(`${bucket}_log`);
    expect(state.messages).toBeLessThan(330);
    const open = await store.open('alice');
    await expect(write(open, turnOf('turn-3', 'again'))).rejects.toMatchObject({ code: 'duplicate-turn' });
    await open.close();
    await store.close();
  });

  it('rejects a bucket that would delete sessions, and does not create one over another error', async () => {
    const bucket = fresh();
    await new Kvm(jetstream(connection)).create(bucket, { ttl: 60_000 });
    await expect(natsSessions(connection, { bucket })).rejects.toMatchObject({ code: 'nats-bucket' });
    const limited = fresh();
    const manager = await jetstreamManager(connection);
    const subjects = [`${limited}.log.*`];
    await manager.streams.add({ name: `${limited}_log`, subjects, max_bytes: 10_000, discard: DiscardPolicy.Old });
    await expect(natsSessions(connection, { bucket: limited })).rejects.toThrow(/deletes old messages when it is full/);
    const closed = await connect({ servers: server.address });
    await closed.close();
    await expect(natsSessions(closed, { bucket: fresh() })).rejects.toMatchObject({ code: 'nats' });
    await expect(natsSessions(connection, { bucket: 'a.b' })).rejects.toMatchObject({ code: 'invalid-option' });
  });
});
