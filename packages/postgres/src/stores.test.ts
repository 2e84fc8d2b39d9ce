import { createCredentialPool, classifyError } from '@h/failover';
import type { RememberedApproval } from '@h/hooks';
import type { ChildRecord } from '@h/subagents';
import { describe, expect, it } from 'vitest';
import { endLeases, testSchema } from '../test/database.js';
import { postgresApprovals } from './approvals.js';
import { postgresChildren } from './children.js';
import { postgresPool } from './pool.js';

describe('postgresApprovals', () => {
  const rule = (pattern: string): RememberedApproval => ({ tool: 'bash', pattern, at: 1 });

  it('stores each rule once per scope, and removes the oldest rules', async () => {
    const schema = testSchema();
    const [one, other] = [schema.connect(), schema.connect()].map((database) =>
      postgresApprovals(database, { scope: 'alice', maxRules: 3 }),
    );
    for (const pattern of ['a', 'b', 'b', 'c']) await one?.add(rule(pattern));
    await other?.add({ tool: 'bash', hash: 'x\0', at: 2 });
    expect(await one?.list()).toEqual([rule('b'), rule('c'), { tool: 'bash', hash: 'x\0', at: 2 }]);
    expect(await postgresApprovals(schema.connect(), { scope: 'bob' }).list()).toEqual([]);
  });

  it('rejects unknown options', () => {
    const database = testSchema().connect();
    expect(() => postgresApprovals(database, { user: 'alice' } as never)).toThrow('user');
    expect(() => postgresApprovals({} as never)).toThrow('connectPostgres');
  });
});

describe('postgresChildren', () => {
  const record = (id: string, more: Partial<ChildRecord> = {}): ChildRecord => ({
    v: 1,
    id,
    agent: 'worker',
    task: 'Look \ud800',
    session: `child-${id}`,
    turn: `turn-${id}`,
    parent: 'boss',
    root: 'boss',
    depth: 1,
    receiver: 'parent',
    spawnedAt: Number.parseInt(id, 10),
    ...more,
  });

  it('saves, replaces, deletes and lists the records of this process', async () => {
    const schema = testSchema();
    const store = postgresChildren(schema.connect());
    for (const id of ['2', '1', '3']) await store.save(record(id));
    await store.save(record('2', { takenBy: 'call' }));
    await store.delete('3');
    expect(await store.list()).toEqual([record('1'), record('2', { takenBy: 'call' })]);
    expect(await postgresChildren(schema.connect()).list()).toEqual([]);
  });

  it('passes each record of a dead process to one process that wants it', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    const store = postgresChildren(dead);
    for (let id = 0; id < 20; id += 1) await store.save(record(String(id)));
    await endLeases(dead);
    const [one, other] = [postgresChildren(schema.connect()), postgresChildren(schema.connect())];
    const even = ({ spawnedAt }: ChildRecord): boolean => spawnedAt % 2 === 0;
    const [found, rest] = await Promise.all([one.list(even), other.list(even)]);
    expect(found.length + rest.length).toBe(10);
    expect((await other.list()).length).toBe(10 + rest.length);
    await expect(store.save(record('1'))).rejects.toMatchObject({ code: 'store-taken' });
    await store.save(record('100'));
    expect(await store.list()).toEqual([record('100')]);
  });

  it('removes the oldest records that no process wants', async () => {
    const schema = testSchema();
    const dead = schema.connect();
    for (let id = 0; id < 9; id += 1) await postgresChildren(dead).save(record(String(id)));
    await endLeases(dead);
    const store = postgresChildren(schema.connect(), { mostLeft: 2 });
    expect(await store.list(() => false)).toEqual([]);
    expect((await store.list()).map(({ id }) => id)).toEqual(['7', '8']);
  });
});

describe('postgresPool', () => {
  it('loses no change of processes that write at once', async () => {
    const schema = testSchema();
    const stores = Array.from({ length: 4 }, () => postgresPool(schema.connect()));
    const count = { reason: 'rate-limit', since: 0, until: 0 } as const;
    await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        stores[index % 4]?.update(({ windows }) => ({
          version: 1,
          windows: { ...windows, count: { ...count, level: (windows['count']?.level ?? 0) + 1 } },
        })),
      ),
    );
    expect((await stores[0]?.read())?.windows['count']?.level).toBe(40);
  });

  it('writes nothing if the change throws', async () => {
    const store = postgresPool(testSchema().connect());
    const failing = (): never => {
      throw new Error('No.');
    };
    await expect(Promise.resolve(store.update(failing))).rejects.toThrow('No.');
    expect(await store.read()).toEqual({ version: 1, windows: {} });
  });

  it('shares the cooldowns of a credential pool', async () => {
    const schema = testSchema();
    const pools = [0, 1].map(() =>
      createCredentialPool({
        profiles: [{ id: 'a1', provider: 'alpha', key: 'secret' }],
        store: postgresPool(schema.connect()),
        refreshMs: 100,
        now: () => 0,
      }),
    );
    pools[0]?.failed('a1', 'm', classifyError({ status: 429 }));
    await pools[0]?.flush();
    await pools[1]?.refresh();
    expect(pools[1]?.status()[0]?.cooldowns).toHaveLength(1);
  });
});
