import { createLanes, queue } from '@h/queue';
import { createInbox, type InboxStore, type KeptMessage } from '@h/queue/inbox';
import { describeInboxStore } from '@h/queue/testing';
import { harness } from '@h/turn';
import { event, scriptedModel } from '@h/turn/testing';
import { filter, firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { endLease, faultyPool, testSchema } from '../../test/database.js';
import { postgresSessions, type Postgres } from '../index.js';
import { postgresInbox, type Submission } from './index.js';

const kept = (tag: string, more: Partial<KeptMessage> = {}): KeptMessage => ({
  tag,
  session: 'alice',
  message: { role: 'user', content: `Message ${tag}`, metadata: { inbox: tag } },
  mode: 'steer',
  mergeKey: '',
  options: {},
  ...more,
});

describe('postgresInbox', () => {
  describeInboxStore(() => {
    const schema = testSchema();
    const databases = new Map<InboxStore, Postgres>();
    return {
      create: () => {
        const database = schema.connect();
        const store = postgresInbox(database);
        databases.set(store, database);
        return store;
      },
      kill: async (store) => {
        const database = databases.get(store);
        if (database !== undefined) await endLease(database);
      },
    };
  });

  it('passes the messages of a dead process on, and fences that process', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const suspended = postgresInbox(one);
    await suspended.open();
    await suspended.save(kept('a'));
    const living = postgresInbox(other);
    expect((await living.open()).messages).toEqual([]);
    await endLease(one);
    const next = postgresInbox(schema.connect());
    expect((await next.open()).messages).toEqual([kept('a')]);
    for (const call of [suspended.save(kept('b')), suspended.remove('a'), suspended.check()]) {
      await expect(call).rejects.toMatchObject({ code: 'inbox-taken' });
    }
    await next.remove('a');
  });

  it('takes over messages whose holder was removed before they were stored', async () => {
    const schema = testSchema();
    const [suspended, living] = [schema.connect(), schema.connect()];
    const first = postgresInbox(suspended);
    await first.open();
    await first.save(kept('a'));
    // What a process leaves that was suspended between its lease and a statement, and ended afterwards.
    await living.query(`delete from ${living.name('holder')}`, []);
    const next = postgresInbox(living);
    expect(await next.hasAbandoned()).toBe(true);
    expect((await next.open()).messages).toEqual([kept('a')]);
    expect(await next.hasAbandoned()).toBe(false);
    await next.remove('a');
  });

  it('takes over as many messages as it may, oldest first, and leaves the others to the next inbox', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    const first = postgresInbox(dead);
    await first.open();
    for (const tag of ['a', 'b', 'c']) await first.save(kept(tag));
    await endLease(dead);
    const limited = postgresInbox(schema.connect());
    limited.takeOverAtMost(2);
    expect((await limited.open()).messages).toEqual([kept('a'), kept('b')]);
    expect(await limited.hasAbandoned()).toBe(true);
    const next = postgresInbox(schema.connect());
    expect((await next.open()).messages).toEqual([kept('c')]);
    await expect(next.check('alice', 'c')).rejects.toMatchObject({ code: 'inbox-behind' });
    expect(await next.hasAbandoned()).toBe(false);
  });

  it('rejects a message that no worker could deliver', async () => {
    const web = postgresInbox(testSchema().connect());
    const rejected = [
      [web.submit('', 'Hi'), 'invalid-input'],
      [web.submit('alice', { role: 'user', content: 5 } as never), 'invalid-input'],
      [web.submit('alice', 'Hi', { priority: 'urgent' as never }), 'invalid-option'],
      [web.submit('alice', 'Hi', { mode: 'later' as never }), 'invalid-option'],
    ] as const;
    for (const [submitted, code] of rejected) await expect(submitted).rejects.toMatchObject({ code });
  });

  it('takes each submitted message once, whichever process asks', async () => {
    const schema = testSchema();
    const web = postgresInbox(schema.connect());
    const workers = Array.from({ length: 3 }, () => postgresInbox(schema.connect()));
    await Promise.all(workers.map((worker) => worker.open()));
    const submitted = await Promise.all(
      Array.from({ length: 30 }, (_, index) => web.submit(`s${index % 5}`, `Text ${index}`, { id: `m${index % 15}` })),
    );
    expect(submitted.filter(Boolean)).toHaveLength(15);
    const taken = await Promise.all(workers.map((worker) => worker.take(10)));
    const rest = await Promise.all(workers.map((worker) => worker.take(10)));
    const ids = [...taken, ...rest].flat().map(({ options }) => options.id);
    expect(ids).toHaveLength(15);
    expect(new Set(ids)).toEqual(new Set(Array.from({ length: 15 }, (_, index) => `m${index}`)));
  });

  it('takes messages whose first taking had no answer, and none that it has already', async () => {
    const schema = testSchema();
    const { pool, faults } = faultyPool(schema);
    const inbox = postgresInbox(schema.connect({ pool }));
    await inbox.open();
    for (const id of ['a', 'b', 'c']) await inbox.submit('alice', id, { id });
    const idsOf = (taken: readonly Submission[]) => taken.map(({ options: { id } }) => id);
    expect(idsOf(await inbox.take(1))).toEqual(['a']);
    let lost = 0;
    faults.after = (sql) => sql.includes('inbox_take') && (lost += 1) === 1;
    const [second] = await inbox.take(1);
    expect([second?.options.id, lost]).toEqual(['b', 2]);
    if (second) await inbox.giveBack(second);
    expect(idsOf(await inbox.take(5))).toEqual(['b', 'c']);
    expect(await inbox.take(5)).toEqual([]);
  });

  it('returns a message that was saved without an answer, so that another process takes it', async () => {
    const schema = testSchema();
    const { pool, faults } = faultyPool(schema);
    const inbox = postgresInbox(schema.connect({ pool, retryMs: 0 }));
    await inbox.open();
    await inbox.submit('alice', 'Hi', { id: 'a' });
    const [taken] = await inbox.take(1);
    faults.after = (sql) => sql.includes('saved as');
    await expect(inbox.save(kept('t1', { options: { id: 'a' } }))).rejects.toMatchObject({ isRetryable: true });
    faults.after = () => false;
    if (taken) await inbox.giveBack(taken);
    const other = postgresInbox(schema.connect());
    await other.open();
    expect((await other.take(1)).map(({ options: { id } }) => id)).toEqual(['a']);
  });

  it('leaves messages to the process that runs their session', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const [running, idle] = [postgresInbox(one), postgresInbox(other)];
    await Promise.all([running.open(), idle.open()]);
    const open = await postgresSessions(one).open('alice');
    await idle.submit('alice', 'Steer');
    expect(await idle.take(5)).toEqual([]);
    expect(await running.take(5)).toMatchObject([{ session: 'alice', message: { content: 'Steer' } }]);
    await open.close();
  });

  it('works in an inbox: a message that was submitted is delivered once', async () => {
    const schema = testSchema();
    const database = schema.connect();
    const sessions = postgresSessions(database);
    const lanes = createLanes();
    const agent = harness({ model: scriptedModel(['Hello.', 'Bye.']), sessions }).pipe(queue(lanes));
    const store = postgresInbox(database);
    const inbox = createInbox(agent, lanes, { store });
    await inbox.recover({ sessions });
    await store.submit('alice', 'Hi', { id: 'one' });
    for (const { session, message, options } of await store.take(5)) {
      expect(await inbox.send(session, message, options)).toMatchObject({ status: 'delivered' });
    }
    expect(await store.submit('alice', 'Hi', { id: 'one' })).toBe(false);
    // The message is delivered when its turn begins.
    await inbox.idle();
    expect((await sessions.messages('alice')).map(({ role }) => role)).toEqual(['user', 'assistant']);
    await inbox.close();
    await lanes.shutdown();
  });

  it('delivers no message of a session before an earlier one that was left to another process', async () => {
    const schema = testSchema();
    const [one, other] = [postgresInbox(schema.connect()), postgresInbox(schema.connect())];
    await one.open();
    for (const tag of ['a', 'b']) await one.save(kept(tag));
    await one.leave('a');
    await expect(one.check('alice', 'b')).rejects.toMatchObject({ code: 'inbox-behind' });
    await one.check('bob', 'b');
    await one.submit('alice', 'later', { id: 'm3' });
    expect(await one.take(5)).toEqual([]);
    expect((await other.open()).messages).toEqual([kept('a')]);
    await expect(one.check('alice', 'b')).rejects.toMatchObject({ code: 'inbox-behind' });
    await other.remove('a');
    await one.check('alice', 'b');
  });

  it('rejects the records of a turn whose message another process has taken over', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const store = postgresInbox(one);
    await store.open();
    await store.save(kept('a'));
    const begin = async (database: Postgres, turn: string): Promise<void> => {
      const open = await postgresSessions(database).open('alice');
      const input = [kept('a').message];
      const start = event('turn.start', { session: 'alice', input, trigger: 'user' }, { turn, at: 1 });
      try {
        await open.append({ v: 1, seq: 0, event: start, derived: false });
      } finally {
        await open.close();
      }
    };
    await store.leave('a');
    await expect(begin(one, 'turn-1')).rejects.toMatchObject({ code: 'inbox-taken' });
    const next = postgresInbox(other);
    await next.open();
    await expect(begin(one, 'turn-2')).rejects.toMatchObject({ code: 'inbox-taken' });
    await begin(other, 'turn-3');
    // Its history may have been replaced since.
    await next.remove('a');
    await expect(begin(one, 'turn-4')).rejects.toMatchObject({ code: 'inbox-taken' });
  });

  it('reports the session as taken if another process has that too', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const store = postgresInbox(one);
    await store.open();
    await store.save(kept('a'));
    const suspended = await postgresSessions(one).open('alice');
    await endLease(one);
    await postgresInbox(other).open();
    const taken = await postgresSessions(other).open('alice');
    const start = event(
      'turn.start',
      { session: 'alice', input: [kept('a').message], trigger: 'user' },
      { turn: 'turn-1', at: 1 },
    );
    const append = suspended.append({ v: 1, seq: 0, event: start, derived: false });
    await expect(append).rejects.toMatchObject({ code: 'session-taken' });
    await Promise.all([suspended.close(), taken.close()]);
  });

  it('delivers a message once that was taken over while its turn waited for a slot', async () => {
    const schema = testSchema();
    const open = (database: Postgres) => {
      const [sessions, lanes] = [postgresSessions(database), createLanes({ concurrency: 1 })];
      const agent = harness({ model: scriptedModel(['Hello.', 'Hello again.']), sessions }).pipe(queue(lanes));
      return { sessions, lanes, inbox: createInbox(agent, lanes, { store: postgresInbox(database) }) };
    };
    const one = schema.connect();
    const [suspended, living] = [open(one), open(schema.connect())];
    let release: () => void = () => undefined;
    const held = suspended.lanes.run('bob', () => new Promise<void>((resolve) => (release = resolve)));
    const waiting = firstValueFrom(suspended.inbox.events.pipe(filter(({ type }) => type === 'queue.waiting')));
    await suspended.inbox.recover({ sessions: suspended.sessions });
    const [sent, again] = [suspended.inbox.send('alice', 'Hi', { id: 'm1' }), suspended.inbox.send('carol', 'Hi')];
    expect([await sent.accepted, await again.accepted]).toEqual([true, true]);
    await waiting;
    await endLease(one);
    const taken = await living.inbox.recover({ sessions: living.sessions });
    expect(await Promise.all(taken.map(({ delivery }) => delivery))).toMatchObject([
      { status: 'delivered' },
      { status: 'delivered' },
    ]);
    await living.inbox.idle();
    release();
    await held;
    for (const each of [sent, again]) {
      expect(await each).toMatchObject({ status: 'kept', error: { code: 'inbox-delivered' } });
    }
    for (const session of ['alice', 'carol']) {
      expect((await living.sessions.messages(session)).map(({ role }) => role)).toEqual(['user', 'assistant']);
    }
    for (const { inbox, lanes } of [suspended, living]) {
      await inbox.close();
      await lanes.shutdown();
    }
  });

  it('takes no message for an inbox that was taken over', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const [suspended, living] = [postgresInbox(one), postgresInbox(other)];
    await suspended.open();
    await endLease(one);
    await living.open();
    await living.submit('alice', 'Hi');
    await expect(suspended.take(5)).rejects.toMatchObject({ code: 'inbox-taken' });
    expect(await living.take(5)).toHaveLength(1);
  });

  it('accepts a tick of a schedule once, from whichever process submits it first', async () => {
    const schema = testSchema();
    const workers = Array.from({ length: 4 }, () => postgresInbox(schema.connect()));
    for (const tick of [1, 2, 3]) {
      const accepted = workers.map((inbox) =>
        inbox.submit('heartbeat', 'Check the build.', { id: `build-${tick}`, trigger: 'heartbeat' }),
      );
      expect((await Promise.all(accepted)).filter(Boolean)).toHaveLength(1);
    }
    await workers[0]?.open();
    expect((await workers[0]?.take(10))?.map(({ options }) => options.id)).toEqual(['build-1', 'build-2', 'build-3']);
  });
});
