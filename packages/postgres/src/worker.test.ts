import { hooks, type Hook } from '@h/hooks';
import { queue } from '@h/queue';
import { harness, type JSONValue, type ModelDriver, type ToolDriver, type TurnEvent } from '@h/turn';
import { call, event, response, scriptedModel, scriptedTools, usage } from '@h/turn/testing';
import { from, NEVER, switchMap } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSchema, endLease, renewLease, type TestSchema } from '../test/database.js';
import { postgresApprovalRequests } from './approvals.js';
import { liveEvents, postgresSessions, type Postgres } from './index.js';
import { postgresInbox, postgresLanes, type PostgresInbox } from './queue/index.js';
import { runWorker, type Worker, type WorkerOptions } from './worker.js';

const opened: { workers: Worker[]; schemas: TestSchema[] } = { workers: [], schemas: [] };

afterEach(async () => {
  await Promise.all(opened.workers.splice(0).map((worker) => worker.drain()));
  await Promise.all(opened.schemas.splice(0).map((schema) => schema.dispose()));
});

const createTestSchema = (): TestSchema => {
  const schema = createSchema();
  opened.schemas.push(schema);
  return schema;
};

/** Starts a worker with a separate connection. */
const start = (
  schema: TestSchema,
  model: ModelDriver,
  options: Partial<WorkerOptions> = {},
  { asks, tools }: { readonly asks?: Hook; readonly tools?: ToolDriver } = {},
) => {
  const database = schema.connect({ label: 'worker' });
  const { sessions = postgresSessions(database), lanes = postgresLanes(database, { concurrency: 2, graceMs: 0 }) } =
    options;
  const agent = harness({ model, sessions, closeGraceMs: 100, ...(tools && { tools }) }).pipe(
    queue(lanes),
    hooks(asks ? [asks] : []),
  );
  const worker = runWorker({
    agent,
    lanes,
    sessions,
    inbox: () => postgresInbox(database),
    approvals: postgresApprovalRequests(database),
    recoverEveryMs: 50,
    signals: [],
    ...options,
  });
  opened.workers.push(worker);
  return { worker, database, sessions, agent };
};

/** A model whose calls wait for one answer. */
const waitingModel = (): { readonly model: ModelDriver; readonly answer: (text: string) => void } => {
  let answer: (text: string) => void = () => undefined;
  const text = new Promise<string>((resolve) => (answer = resolve));
  const model: ModelDriver = (request, context) =>
    from(text).pipe(switchMap((given) => scriptedModel([given])(request, context)));
  return { model, answer };
};

/** A promise of the first event of a type. */
const eventOf = (type: TurnEvent['type']) => {
  let resolve: (event: TurnEvent) => void = () => undefined;
  const promise = new Promise<TurnEvent>((done) => (resolve = done));
  return { promise, onEvent: (event: TurnEvent): void => void (event.type === type && resolve(event)) };
};

/** The events of a stream to its end, and its status. */
const eventsIn = async (database: Postgres, stream: string): Promise<readonly { readonly type: string }[]> => {
  const events: { readonly type: string }[] = [];
  for await (const item of liveEvents(database).read(stream)) {
    if (item.type === 'event') events.push(item.event as { readonly type: string });
    if (item.type === 'ended') events.push({ type: item.status });
  }
  return events;
};

/** The types of the events of a stream to its end, and its status. */
const typesIn = async (database: Postgres, stream: string): Promise<readonly string[]> =>
  (await eventsIn(database, stream)).map(({ type }) => type);

describe('runWorker', () => {
  it('runs the turns of messages that another process submits, and streams their events', async () => {
    const schema = createTestSchema();
    const web = schema.connect({ label: 'web' });
    const ended = eventOf('turn.end');
    const { sessions } = start(schema, scriptedModel(['Hello.']), {
      live: liveEvents(schema.connect()),
      onEvent: ended.onEvent,
    });
    expect(await postgresInbox(web).submit('alice', 'Hi', { id: 'm1' })).toBe(true);
    const { turn } = await ended.promise;
    // Deltas are removed before the stream ends; a reader may have seen them.
    await typesIn(web, turn);
    const types = await typesIn(web, turn);
    expect(types.filter((type) => type.startsWith('turn.'))).toEqual(['turn.start', 'turn.stop', 'turn.end']);
    expect(types).not.toContain('model.delta');
    expect((await sessions.messages('alice')).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('streams each message once, however many requests contain it', async () => {
    const schema = createTestSchema();
    const model = scriptedModel([response(call('c1', 'read')), response(call('c2', 'read')), 'Hello.', 'Again.']);
    const ended: TurnEvent[] = [];
    const onEvent = (each: TurnEvent): void => void (each.type === 'turn.end' && ended.push(each));
    const live = liveEvents(schema.connect());
    start(schema, model, { live, onEvent }, { tools: scriptedTools({ read: 'content' }) });
    for (const [count, text] of ['needle', 'later'].entries()) {
      await postgresInbox(schema.connect()).submit('alice', text);
      await vi.waitFor(() => expect(ended).toHaveLength(count + 1), { timeout: 20_000 });
    }
    const streamed = await Promise.all(ended.map(({ turn }) => eventsIn(schema.connect(), turn)));
    const withNeedle = streamed.flat().filter((each) => JSON.stringify(each).includes('needle'));
    expect(withNeedle.map(({ type }) => type)).toEqual(['turn.start', 'history.append']);
    expect(streamed.flat().filter(({ type }) => type === 'model.request')).toHaveLength(4);
  });

  it('hands turns over that run longer than drainMs, and another worker resumes them', async () => {
    const schema = createTestSchema();
    const asked = eventOf('model.request');
    const first = start(schema, () => NEVER, { drainMs: 0, onEvent: asked.onEvent });
    await postgresInbox(schema.connect()).submit('alice', 'Hi');
    const { turn } = await asked.promise;
    await first.worker.drain();
    await first.database.close();
    const ended = eventOf('turn.end');
    const second = start(schema, scriptedModel(['Hello.']), { onEvent: ended.onEvent });
    expect(await ended.promise).toMatchObject({ turn, outcome: 'completed' });
    expect((await second.sessions.messages('alice')).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('begins no waiting turn while it hands over those before it', async () => {
    const schema = createTestSchema();
    const database = schema.connect();
    const sessions = postgresSessions(database);
    const events: TurnEvent[] = [];
    const see = (type: TurnEvent['type'], count = 1): Promise<void> =>
      vi.waitFor(() => expect(events.filter((event) => event.type === type)).toHaveLength(count), { timeout: 20_000 });
    const { model, answer } = waitingModel();
    const handOver = sessions.handOver.bind(sessions);
    sessions.handOver = async (options) => {
      await handOver(options);
      // The turn of Alice leaves its slot to that of Bob.
      answer('Hello.');
      await see('turn.end', 2);
    };
    const first = start(schema, model, {
      drainMs: 0,
      sessions,
      lanes: postgresLanes(database, { concurrency: 1, graceMs: 0 }),
      onEvent: (event) => void events.push(event),
    });
    const web = postgresInbox(schema.connect());
    await web.submit('alice', 'Hi');
    await see('model.request');
    await web.submit('bob', 'Hi');
    await see('queue.waiting', 2);
    await first.worker.drain();
    expect(await sessions.messages('bob')).toEqual([]);
    await Promise.all([first.database.close(), database.close()]);
    const second = start(schema, scriptedModel(['Hello.', 'Hello.']));
    await vi.waitFor(async () => expect(await second.sessions.messages('bob')).toHaveLength(2), 20_000);
  });

  it('waits for its turns when it drains, and takes no more messages', async () => {
    const schema = createTestSchema();
    const asked = eventOf('model.request');
    const { model, answer } = waitingModel();
    const { worker, sessions, database } = start(schema, model, { onEvent: asked.onEvent });
    const web = postgresInbox(schema.connect());
    await web.submit('alice', 'Hi');
    await asked.promise;
    const drained = worker.drain();
    await web.submit('bob', 'Hi');
    answer('Hello.');
    await drained;
    expect((await sessions.list()).map(({ session, state }) => `${session} ${state}`)).toEqual(['alice idle']);
    await database.close();
  });

  it('gives back what it takes while it begins to drain', async () => {
    const schema = createTestSchema();
    const database = schema.connect();
    let proceed = (): void => undefined;
    const mayTake = new Promise<void>((resolve) => (proceed = resolve));
    const taking = vi.fn<(count: number) => Promise<void>>(() => mayTake);
    const inbox = (): PostgresInbox => {
      const store = postgresInbox(database);
      const take = store.take.bind(store);
      store.take = async (count) => taking(count).then(() => take(count));
      return store;
    };
    const { worker, sessions } = start(schema, scriptedModel(['Hello.']), { inbox });
    await vi.waitFor(() => expect(taking).toHaveBeenCalled(), { timeout: 30_000 });
    await postgresInbox(database).submit('alice', 'Hi');
    const drained = worker.drain();
    proceed();
    await drained;
    expect(await sessions.list()).toEqual([]);
    const ended = eventOf('turn.end');
    start(schema, scriptedModel(['Hello.']), { onEvent: ended.onEvent });
    expect(await ended.promise).toMatchObject({ outcome: 'completed' });
  });

  it('drains upon a signal of the process, and handles it once', async () => {
    const before = process.listeners('SIGTERM');
    const { worker } = start(createTestSchema(), scriptedModel([]), { signals: ['SIGTERM'] });
    const own = process.listeners('SIGTERM').filter((listener) => !before.includes(listener));
    expect(own).toHaveLength(1);
    // Not to all listeners: those of other tests in this process may end it.
    own[0]?.('SIGTERM');
    await worker.ended;
    expect(process.listeners('SIGTERM')).toEqual(before);
  });

  it('stores an answer that its own process gave', async () => {
    const schema = createTestSchema();
    const approvals = postgresApprovalRequests(schema.connect({ label: 'web' }));
    const [asked, ended] = [eventOf('approval.request'), eventOf('turn.end')];
    const asks: Hook = { name: 'asks', beforeTool: () => ({ decision: 'ask', reason: 'May it?' }) };
    const { worker, agent } = start(
      schema,
      scriptedModel([response(call('1', 'write')), 'Done.']),
      { onEvent: (event) => (asked.onEvent(event), ended.onEvent(event)) },
      { asks, tools: scriptedTools({ write: () => 'Written.' }) },
    );
    await postgresInbox(schema.connect()).submit('alice', 'Write.');
    const request = await asked.promise;
    const id = request.type === 'approval.request' ? request.id : '';
    agent.answer(id, 'once');
    await ended.promise;
    await worker.drain();
    expect(await approvals.answersOf([id])).toEqual(new Map([[id, { decision: 'once' }]]));
    expect(await approvals.pending()).toEqual([]);
  });

  it('applies the first answer to an approval request, also after another worker has resumed the turn', async () => {
    const schema = createTestSchema();
    const web = postgresApprovalRequests(schema.connect({ label: 'web' }));
    const ran: string[] = [];
    const model = scriptedModel([response(call('c1', 'deploy')), 'Deployed.']);
    const open = () => {
      const tools = scriptedTools({ deploy: () => `Done: ${ran.push('deploy')}.` });
      const asks: Hook = { name: 'asks', beforeTool: () => ({ decision: 'ask', reason: 'May it?' }) };
      return start(schema, model, { drainMs: 0 }, { asks, tools });
    };
    const first = open();
    await postgresInbox(schema.connect()).submit('alice', 'Deploy');
    const pending = await vi.waitFor(async () => {
      const found = await web.pending();
      expect(found).toMatchObject([{ session: 'alice', reason: 'May it?', call: { name: 'deploy' } }]);
      return found;
    });
    await first.worker.drain();
    await first.database.close();
    const id = pending[0]?.id ?? '';
    expect([await web.answer(id, 'once'), await web.answer(id, 'deny'), await web.answer('unknown', 'once')]).toEqual([
      true,
      false,
      false,
    ]);
    const second = open();
    await vi.waitFor(async () => expect(await second.sessions.messages('alice')).toHaveLength(4), { timeout: 20_000 });
    expect([ran, await web.pending(), await web.prune(0)]).toEqual([['deploy'], [], 1]);
  });

  it('takes messages again after another process has taken over its inbox', async () => {
    const schema = createTestSchema();
    const { database, sessions } = start(schema, scriptedModel(['Hello.', 'Hello again.']), { recoverEveryMs: 20 });
    const web = schema.connect({ label: 'web' });
    const submit = async (session: string): Promise<void> => {
      await postgresInbox(web).submit(session, 'Hi');
      await vi.waitFor(async () => expect(await sessions.messages(session)).toHaveLength(2), { timeout: 20_000 });
    };
    await submit('alice');
    await endLease(database);
    const other = postgresInbox(web);
    await other.open();
    await other.close();
    await renewLease(database);
    await submit('bob');
  });

  it('delivers messages of a session in order when it cannot store the first one at once', async () => {
    const schema = createTestSchema();
    const problems: unknown[] = [];
    const faults = new Set(['one']);
    const database = schema.connect();
    const { sessions } = start(schema, scriptedModel(['First.', 'Second.', 'Third.']), {
      recoverEveryMs: 20,
      inboxOptions: { mode: 'followup' },
      onProblem: (error) => problems.push(error),
      inbox: () => {
        const store = postgresInbox(database);
        const save = store.save.bind(store);
        store.save = (message) =>
          message.message.content === 'one' && faults.delete('one')
            ? Promise.reject(new Error('No space.'))
            : save(message);
        return store;
      },
    });
    const web = postgresInbox(database);
    for (const text of ['one', 'two', 'three']) await web.submit('alice', text);
    await vi.waitFor(async () => expect(await sessions.messages('alice')).toHaveLength(6), { timeout: 20_000 });
    const said = (await sessions.messages('alice')).filter(({ role }) => role === 'user');
    expect(said.map(({ content }) => content)).toEqual(['one', 'two', 'three']);
    expect(problems).toMatchObject([{ message: 'No space.' }]);
  });

  it('does not resume a turn that it still runs after its lease has ended', async () => {
    const schema = createTestSchema();
    const answers: ((text: string) => void)[] = [];
    const model: ModelDriver = async function* () {
      const text = await new Promise<string>((resolve) => void answers.push(resolve));
      yield { type: 'response', response: response(text) };
    };
    const ended = eventOf('turn.end');
    // No batch is written before the end.
    const live = liveEvents(schema.connect(), { batchMs: 10_000 });
    const { database, sessions } = start(schema, model, { live, onEvent: ended.onEvent, recoverEveryMs: 10 });
    const unfinished = vi.spyOn(sessions, 'unfinished');
    await postgresInbox(schema.connect()).submit('alice', 'Hi');
    await vi.waitFor(() => expect(answers).toHaveLength(1), 20_000);
    await vi.waitFor(async () => {
      // The process may renew its lease in between.
      await endLease(database);
      const found = unfinished.mock.settledResults.filter(
        ({ type, value }) => type === 'fulfilled' && value.length > 0,
      );
      expect(found.length).toBeGreaterThan(2);
    }, 20_000);
    await renewLease(database);
    for (const answer of answers) answer('Hello.');
    const { turn } = await ended.promise;
    const types = await typesIn(schema.connect(), turn);
    expect(types.filter((type) => !type.startsWith('queue.'))).toEqual([
      ...(await sessions.journal(turn)).map(({ event: { type } }) => type),
      'completed',
    ]);
    expect(answers).toHaveLength(1);
  });

  it('rejects unknown options', () => {
    expect(() => runWorker({ drainMS: 5 } as never)).toThrow('drainMs');
  });

  it('resumes the turn of a dead worker before it delivers its later messages, and then those of others', async () => {
    const schema = createTestSchema();
    const dead = schema.connect({ label: 'dead' });
    const web = postgresInbox(schema.connect());
    const open = await postgresSessions(dead).open('alice');
    const envelope = { turn: 'turn-1', at: 1 };
    const input = [{ role: 'user', content: 'one' }] as const;
    const events = [
      event('turn.start', { session: 'alice', input, trigger: 'user' }, envelope),
      event('session.loaded', { session: 'alice', messages: [] as never, state: {}, repairs: [] }, envelope),
      event('history.append', { origin: 'input', messages: input }, envelope),
    ];
    for (const [seq, each] of events.entries()) await open.append({ v: 1, seq, event: each, derived: false });
    const inbox = postgresInbox(dead);
    await inbox.open();
    const message = { role: 'user', content: 'two', metadata: { inbox: 'm2' } } as const;
    await inbox.save({ tag: 'm2', session: 'alice', message, mode: 'followup', mergeKey: '', options: {} });
    await web.submit('alice', 'three', { id: 'm3' });
    await endLease(dead);
    const { sessions } = start(schema, scriptedModel(['First.', 'Second.', 'Third.']), { recoverEveryMs: 60_000 });
    await vi.waitFor(async () => expect(await sessions.messages('alice')).toHaveLength(6), { timeout: 20_000 });
    const turns: string[] = [];
    for await (const { outcome, messages } of sessions.archive('alice')) {
      turns.push(`${messages.map(({ content }) => JSON.stringify(content)).join(' ')} ${outcome}`);
    }
    expect(turns).toEqual([
      expect.stringMatching(/"one".*First\..* completed$/),
      expect.stringMatching(/"two".*Second\..* completed$/),
      expect.stringMatching(/"three".*Third\..* completed$/),
    ]);
  });

  it('completes the stream of a turn whose worker died before its last events were written', async () => {
    const schema = createTestSchema();
    const dead = schema.connect();
    const open = await postgresSessions(dead).open('alice');
    const envelope = { turn: 'turn-1', at: 1 };
    const input = [{ role: 'user', content: 'one' }] as const;
    const events = [
      event('turn.start', { session: 'alice', input, trigger: 'user' }, envelope),
      event('session.loaded', { session: 'alice', messages: [] as never, state: {}, repairs: [] }, envelope),
      event('turn.end', { outcome: 'completed', steps: 0, usage: usage() }, envelope),
    ];
    for (const [seq, each] of events.entries()) await open.append({ v: 1, seq, event: each, derived: false });
    await open.close();
    const writer = liveEvents(dead).write('turn-1');
    await writer.append(JSON.parse(JSON.stringify(events[0])) as JSONValue);
    await writer.flush();
    start(schema, scriptedModel([]), { live: liveEvents(schema.connect()), recoverEveryMs: 20 });
    expect(await typesIn(schema.connect(), 'turn-1')).toEqual([
      'turn.start',
      'session.loaded',
      'turn.end',
      'completed',
    ]);
  });
});
