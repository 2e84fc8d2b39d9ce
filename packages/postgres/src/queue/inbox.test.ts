import { createLanes, queue } from '@h/queue';
import { createInbox, type KeptMessage, type KnownDelivery } from '@h/queue/inbox';
import { harness } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { endLeases, testSchema } from '../../test/database.js';
import { postgresSessions } from '../index.js';
import { postgresInbox } from './index.js';

const kept = (tag: string, more: Partial<KeptMessage> = {}): KeptMessage => ({
  tag,
  session: 'alice',
  message: { role: 'user', content: `Message ${tag}`, metadata: { inbox: tag } },
  mode: 'steer',
  mergeKey: '',
  options: {},
  ...more,
});

const known = (id: string): KnownDelivery => ({
  session: 'alice',
  id,
  delivery: { status: 'delivered', how: 'turn', turn: `turn-${id}` },
});

describe('postgresInbox', () => {
  it('returns saved messages in order, unless they were removed', async () => {
    const schema = testSchema();
    const store = postgresInbox(schema.connect());
    expect(await store.open()).toEqual({ messages: [], delivered: [] });
    const rich = kept('b', {
      session: '\ud800\0',
      options: { id: 'm1', trigger: 'cron', priority: 'background', metadata: { $h: 'url' } },
      message: {
        role: 'user',
        content: [{ type: 'image', image: new Uint8Array([0, 255]) }],
        metadata: { inbox: 'b' },
      },
    });
    await Promise.all([store.save(kept('a')), store.save(rich), store.save(kept('c')), store.remove('c')]);
    await store.save(kept('d', { options: { id: '1' } }));
    await store.remove('d', known('1'));
    await store.close();
    await expect(store.save(kept('e'))).rejects.toMatchObject({ code: 'inbox-closed' });
    const next = postgresInbox(schema.connect());
    const { messages, delivered } = await next.open();
    expect(messages).toEqual([kept('a'), rich]);
    expect(delivered).toEqual([known('1')]);
  });

  it('passes the messages of a dead process on, and fences that process', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const suspended = postgresInbox(one);
    await suspended.open();
    await suspended.save(kept('a'));
    const living = postgresInbox(other);
    expect((await living.open()).messages).toEqual([]);
    await endLeases(one);
    const next = postgresInbox(schema.connect());
    expect((await next.open()).messages).toEqual([kept('a')]);
    for (const call of [suspended.save(kept('b')), suspended.remove('a'), suspended.check()]) {
      await expect(call).rejects.toMatchObject({ code: 'inbox-taken' });
    }
    await next.remove('a');
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
    expect((await sessions.messages('alice')).map(({ role }) => role)).toEqual(['user', 'assistant']);
    await inbox.close();
    await lanes.shutdown();
  });
});
