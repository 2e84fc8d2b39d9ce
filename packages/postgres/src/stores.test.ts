import { describePoolStore } from '@h/failover/testing';
import { describeApprovalStore } from '@h/hooks/testing';
import type { ChildRecord } from '@h/subagents';
import { childRecord, describeChildStore } from '@h/subagents/testing';
import { event } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { endLease, renewLease, testSchema } from '../test/database.js';
import { postgresApprovals } from './approvals.js';
import { postgresChildren } from './children.js';
import { postgresSessions } from './index.js';
import { postgresPool } from './pool.js';

describe('postgresApprovals', () => {
  describeApprovalStore((options) => {
    const schema = testSchema();
    const open = () => postgresApprovals(schema.connect(), { scope: 'alice', ...options });
    return { store: open(), reopen: open };
  });

  it('stores the rules of each scope apart', async () => {
    const schema = testSchema();
    await postgresApprovals(schema.connect(), { scope: 'alice' }).add({ tool: 'bash', pattern: 'a', at: 1 });
    expect(await postgresApprovals(schema.connect(), { scope: 'bob' }).list()).toEqual([]);
  });

  it('rejects unknown options', () => {
    const database = testSchema().connect();
    expect(() => postgresApprovals(database, { user: 'alice' } as never)).toThrow('user');
    expect(() => postgresApprovals({} as never)).toThrow('connectPostgres');
  });
});

describe('postgresChildren', () => {
  const record = (id: string, more: Partial<ChildRecord> = {}): ChildRecord =>
    childRecord(id, { spawnedAt: Number.parseInt(id, 10), ...more });
  describeChildStore(() => {
    const schema = testSchema();
    const first = schema.connect();
    return {
      store: postgresChildren(first),
      next: async () => {
        await endLease(first);
        return postgresChildren(schema.connect());
      },
    };
  });

  it('lists the records of this process only', async () => {
    const schema = testSchema();
    await postgresChildren(schema.connect()).save(record('1'));
    expect(await postgresChildren(schema.connect()).list()).toEqual([]);
  });

  it('passes each record of a dead process to one process that wants it', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    const store = postgresChildren(dead);
    for (let id = 0; id < 20; id += 1) await store.save(record(String(id)));
    await endLease(dead);
    const [one, other] = [postgresChildren(schema.connect()), postgresChildren(schema.connect())];
    const even = ({ spawnedAt }: ChildRecord): boolean => spawnedAt % 2 === 0;
    const [found, rest] = await Promise.all([one.list(even), other.list(even)]);
    expect(found.length + rest.length).toBe(10);
    expect((await other.list()).length).toBe(10 + rest.length);
    await renewLease(dead);
    await expect(store.save(record('1'))).rejects.toMatchObject({ code: 'store-taken' });
    await store.save(record('100'));
    expect(await store.list()).toEqual([record('100')]);
  });

  it('passes the records of a tree to the process that has opened its root session, although the first one lives', async () => {
    const schema = testSchema();
    const [first, next] = [schema.connect(), schema.connect()];
    const store = postgresChildren(first);
    await store.save(record('1'));
    await store.save(record('2', { parent: 'other', root: 'other' }));
    const found: ChildRecord[] = [];
    const sessions = postgresSessions(next, {
      onUnfinished: async () => void found.push(...(await postgresChildren(next).list())),
    });
    const open = await sessions.open('boss');
    const input = [{ role: 'user', content: 'Hi' }] as const;
    const start = event('turn.start', { session: 'boss', input, trigger: 'user' }, { turn: 'turn-1', at: 1 });
    await open.append({ v: 1, seq: 0, event: start, derived: false });
    await open.close();
    expect(found).toEqual([]);
    await (await sessions.open('boss')).close();
    expect(found).toEqual([]);
    await (await sessions.open('boss', { resume: 'turn-1' })).close();
    expect(found).toEqual([record('1')]);
    await expect(store.save(record('1', { takenBy: 'call-1' }))).rejects.toMatchObject({ code: 'store-taken' });
    expect(await store.list()).toEqual([record('2', { parent: 'other', root: 'other' })]);
  });

  it('removes the oldest records that no process wants', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    for (let id = 0; id < 9; id += 1) await postgresChildren(dead).save(record(String(id)));
    await endLease(dead);
    const store = postgresChildren(schema.connect(), { mostLeft: 2 });
    expect(await store.list(() => false)).toEqual([]);
    expect((await store.list()).map(({ id }) => id)).toEqual(['7', '8']);
  });
});

describe('postgresPool', () => {
  describePoolStore(() => {
    const schema = testSchema();
    return () => postgresPool(schema.connect());
  });
});
