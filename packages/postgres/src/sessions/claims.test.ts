import { harness, reply, SessionBusyError, type SessionStore } from '@h/turn';
import { event, scriptedModel } from '@h/turn/testing';
import { describe, expect, it, vi } from 'vitest';
import { cutConnections, endLease, faultyPool, testSchema } from '../../test/database.js';
import { postgresSessions } from './postgres-sessions.js';

const start = (turn: string, at = 1) =>
  event('turn.start', { session: 'alice', input: [{ role: 'user', content: 'Hi' }], trigger: 'user' }, { turn, at });
const stored = (turn: string, value: number) => event('session.state', { key: 'k', value }, { turn, at: 2 });
const record = (seq: number, given: ReturnType<typeof start> | ReturnType<typeof stored>) =>
  ({ v: 1, seq, event: given, derived: false }) as const;

describe('a claim', () => {
  it('names the process that holds the session', async () => {
    const schema = testSchema();
    const open = await postgresSessions(schema.connect({ label: 'worker-7' })).open('alice');
    const refused = postgresSessions(schema.connect()).open('alice');
    await expect(refused).rejects.toBeInstanceOf(SessionBusyError);
    await expect(refused).rejects.toMatchObject({ code: 'session-busy', owner: 'worker-7' });
    await expect(refused).rejects.toThrow(/is held by worker-7 since \d{4}-/);
    await open.close();
  });

  it('passes to another process when the lease has ended, and fences the first writer', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()];
    const suspended = await postgresSessions(one).open('alice');
    await suspended.append(record(0, start('turn-1')));
    await endLease(one);
    const taken = await postgresSessions(other).open('alice');
    expect(taken.journal).toHaveLength(1);
    await expect(suspended.append(record(1, stored('turn-1', 1)))).rejects.toMatchObject({ code: 'session-taken' });
    await taken.append(record(1, stored('turn-1', 2)));
    await suspended.close();
    await expect(postgresSessions(one).open('alice')).rejects.toBeInstanceOf(SessionBusyError);
    await taken.close();
    const { journal } = await postgresSessions(one).open('alice');
    expect(journal.map((each) => each.event)).toEqual([start('turn-1'), stored('turn-1', 2)]);
  });

  it('continues after its connections were cut, and stores each record once', async () => {
    const schema = testSchema();
    const open = await postgresSessions(schema.connect()).open('alice');
    await open.append(record(0, start('turn-1')));
    let cut = 0;
    for (let seq = 1; seq <= 20; seq += 1) {
      const written = open.append(record(seq, stored('turn-1', seq)));
      cut += await cutConnections(schema);
      await written;
    }
    expect(cut).toBeGreaterThan(0);
    await open.close();
    const { journal } = await postgresSessions(schema.connect()).open('alice');
    expect(journal.map(({ seq }) => seq)).toEqual(Array.from({ length: 21 }, (_, seq) => seq));
  });

  it.each(['its claim had no answer', 'it was not read and not released', 'it was not released'])(
    'does not stay after an outage in which %s',
    async (fault) => {
      const schema = testSchema();
      const { pool, faults } = faultyPool(schema);
      const sessions = postgresSessions(schema.connect({ pool, leaseMs: 2_000, retryMs: 0, label: 'first' }));
      const other = postgresSessions(schema.connect());
      const open = await sessions.open('alice');
      await open.append(record(0, start('turn-1')));
      const bob = await sessions.open('bob');
      if (fault === 'it was not released') faults.before = (text) => text.includes('owner = null');
      await open.close();
      if (fault === 'its claim had no answer') faults.after = (text) => text.includes('insert into');
      if (fault === 'it was not read and not released') faults.before = (text) => !text.includes('insert into');
      await expect(sessions.open('alice')).rejects.toThrow();
      await expect(other.open('alice')).rejects.toMatchObject({ owner: 'first' });
      Object.assign(faults, { before: () => false, after: () => false });
      const again = await vi.waitFor(() => other.open('alice'), { timeout: 10_000, interval: 100 });
      expect(again.journal).toHaveLength(1);
      await again.close();
      // What the process uses stays with it.
      await expect(other.open('bob')).rejects.toMatchObject({ owner: 'first' });
      await bob.close();
    },
  );

  it('ends with the connection, which releases open sessions', async () => {
    const schema = testSchema();
    const database = schema.connect();
    const sessions = postgresSessions(database);
    const open = await sessions.open('alice');
    await open.append(record(0, start('turn-1')));
    await database.close();
    await expect(sessions.open('alice')).rejects.toMatchObject({ code: 'database-closed', isRetryable: false });
    await (await postgresSessions(schema.connect()).open('alice')).close();
  });

  it('leaves no row for a session in which nothing was written', async () => {
    const database = testSchema().connect();
    await (await postgresSessions(database).open('alice')).close();
    expect(await database.query(`select 1 from ${database.name('session')}`)).toEqual([]);
  });
});

describe('migrations', () => {
  it('run once when ten processes start at once', async () => {
    const schema = testSchema();
    const databases = Array.from({ length: 10 }, () => schema.connect({ maxConnections: 2 }));
    await Promise.all(databases.map((database) => database.ready()));
    const [first] = databases;
    expect(await first?.query(`select version from ${first.name('migration')}`)).toEqual([{ version: 1 }]);
  });

  it('reject a schema that a later release has changed', async () => {
    const schema = testSchema();
    const database = schema.connect();
    await database.query(
      `insert into ${database.name('migration')} (version, since) values (99, 99) on conflict do nothing`,
    );
    await expect(schema.connect().ready()).rejects.toMatchObject({ code: 'database-schema', isRetryable: false });
    await database.query(`update ${database.name('migration')} set since = 1 where version = 99`);
    await schema.connect().ready();
  });
});

describe('an unavailable database', () => {
  it('is reported with the advice to retry', async () => {
    const database = testSchema().connect({
      pool: undefined,
      connectionString: 'postgres://localhost:1/x',
      retryMs: 0,
    });
    const opened = postgresSessions(database).open('alice');
    await expect(opened).rejects.toMatchObject({ code: 'database-unavailable', isRetryable: true });
    await database.close();
  });
});

describe('lists', () => {
  it('contain sessions with their latest turn, the most recent first', async () => {
    const sessions = postgresSessions(testSchema().connect());
    const agent = harness({ model: scriptedModel(['One.', 'Two.', 'Three.']), sessions }).pipe();
    await reply(agent.turn({ session: 'alice', input: 'First', id: 'turn-1' }));
    await reply(agent.turn({ session: 'bob', input: 'Hello', id: 'turn-2' }));
    await reply(agent.turn({ session: 'alice', input: 'Again', id: 'turn-3' }));
    const [alice, bob] = await sessions.list();
    expect(alice).toMatchObject({
      session: 'alice',
      turns: 2,
      firstInput: 'First',
      latestTurn: 'turn-3',
      state: 'idle',
    });
    expect(bob).toMatchObject({ session: 'bob', turns: 1 });
    expect(await sessions.list({ limit: 1, offset: 1 })).toEqual([bob]);
    const archived: string[] = [];
    for await (const { turn, outcome } of sessions.archive('alice')) archived.push(`${turn} ${outcome}`);
    expect(archived).toEqual(['turn-1 completed', 'turn-3 completed']);
    expect(await sessions.messages('alice')).toHaveLength(4);
    await sessions.delete('alice');
    expect([await sessions.messages('alice'), (await sessions.list()).length]).toEqual([[], 1]);
  });

  it('keep a session that is deleted while it is open', async () => {
    const sessions = postgresSessions(testSchema().connect());
    const open = await sessions.open('alice');
    await open.append(record(0, start('turn-1')));
    await expect(sessions.delete('alice')).rejects.toBeInstanceOf(SessionBusyError);
    await open.close();
    await sessions.delete('alice');
    expect(await sessions.list()).toEqual([]);
  });

  it('read a long session from its snapshot', async () => {
    const database = testSchema().connect();
    const sessions = postgresSessions(database);
    const long = 'x'.repeat(20_000);
    const agent = harness({ model: scriptedModel(Array.from({ length: 6 }, () => long)), sessions }).pipe();
    for (let turn = 0; turn < 6; turn += 1) await reply(agent.turn({ session: 'alice', input: `Turn ${turn}` }));
    const [snapshot] = await database.query<{ turn: number }>(`select turn from ${database.name('snapshot')}`);
    expect(snapshot?.turn).toBeGreaterThan(0);
    expect(await sessions.messages('alice')).toHaveLength(12);
  });

  it('ends with a hand-over, also for a session that is being opened', async () => {
    const schema = testSchema();
    const sessions = postgresSessions(schema.connect());
    const opening = sessions.open('alice');
    opening.catch(() => undefined);
    await sessions.handOver();
    await expect(opening).rejects.toMatchObject({ code: 'session-closed' });
    await (await postgresSessions(schema.connect()).open('alice')).close();
    await (await sessions.open('alice')).close();
  });

  it('rejects a new turn of a session with an unfinished one, also after that could not be resumed', async () => {
    const schema = testSchema();
    const resumed: string[] = [];
    const sessions = postgresSessions(schema.connect(), { onUnfinished: ({ turn }) => void resumed.push(turn) });
    sessions.keepUnfinished();
    const first = await sessions.open('alice');
    await first.append(record(0, start('turn-1')));
    await first.close();
    // A wrapper that does not pass the options of open() on.
    const wrapped: SessionStore = { ...sessions, open: (session) => sessions.open(session) };
    const agent = harness({ model: scriptedModel(['Two.', 'One.', 'Three.']), sessions: wrapped }).pipe();
    const next = { session: 'alice', input: 'Hi' };
    const unfinished = { outcome: 'error', error: { code: 'session-unfinished' } };
    expect(await reply(agent.turn(next))).toMatchObject(unfinished);
    // Another claim has the session while this process tries to resume the turn.
    const other = await postgresSessions(schema.connect()).open('alice');
    expect(await reply(agent.resume('turn-1'))).toMatchObject({ outcome: 'error', error: { code: 'session-busy' } });
    await other.close();
    expect(await reply(agent.turn(next))).toMatchObject(unfinished);
    expect(resumed).toEqual([]);
    const own = harness({ model: scriptedModel(['One.', 'Two.']), sessions }).pipe();
    expect(await reply(own.resume('turn-1'))).toMatchObject({ outcome: 'completed' });
    expect(resumed).toEqual(['turn-1']);
    expect(await reply(own.turn(next))).toMatchObject({ outcome: 'completed' });
  });
});
