import type { LaneLease, LaneRequest, Lanes } from '@h/queue';
import { afterEach, describe, expect, it } from 'vitest';
import { createSchema, cutConnections, type TestSchema } from '../../test/database.js';
import { postgresLanes, type PostgresLanesOptions } from './index.js';

const opened: { readonly lanes: Lanes[]; readonly schemas: TestSchema[] } = { lanes: [], schemas: [] };

afterEach(async () => {
  await Promise.all(opened.lanes.splice(0).map((lanes) => lanes.shutdown()));
  await Promise.all(opened.schemas.splice(0).map((schema) => schema.dispose()));
});

/** Lanes of several workers with one schema. */
const workers = (
  options: PostgresLanesOptions,
): { readonly schema: TestSchema; readonly lanes: readonly [Lanes, Lanes, Lanes] } => {
  const schema = createSchema();
  opened.schemas.push(schema);
  const create = (): Lanes => postgresLanes(schema.connect(), { graceMs: 0, ...options });
  const lanes = [create(), create(), create()] as const;
  opened.lanes.push(...lanes);
  return { schema, lanes };
};

const ofWorker = ([first, second, third]: readonly [Lanes, Lanes, Lanes], index: number): Lanes =>
  index % 3 === 0 ? first : index % 3 === 1 ? second : third;

const admission = (lanes: Lanes, request: LaneRequest): Promise<LaneLease> =>
  new Promise((admitted, refused) => lanes.enter(request, { admitted, refused }));

/** Waits until the database has these requests. */
const requests = async (schema: TestSchema, count: number): Promise<void> => {
  const database = schema.connect();
  for (;;) {
    const rows = await database.query(`select 1 from ${database.name('lane_request')}`);
    if (rows.length === count) return;
  }
};

/** Removes the worker that has a request in this state, as another one does after the end of its lease. */
const bury = async (schema: TestSchema, state: 0 | 1): Promise<void> => {
  const database = schema.connect();
  await database.query(
    `with gone as (delete from ${database.name('lane_request')} where state = $1 returning worker)
     delete from ${database.name('lane_worker')} using gone where id = gone.worker`,
    [state],
  );
};

describe('workers', () => {
  it('share slots exactly, and admit one request of a session at a time in order', async () => {
    const { lanes } = workers({ concurrency: 3 });
    const running = new Set<string>();
    const problems: string[] = [];
    let [most, fence] = [0, new Map<string, number>()];
    const tasks = Array.from({ length: 150 }, (_, index) => {
      const session = `s${index % 7}`;
      return ofWorker(lanes, index).run(
        session,
        async (lease) => {
          if (running.has(session)) problems.push(`${session} runs twice`);
          if (lease.fence <= (fence.get(session) ?? 0)) problems.push(`the fence of ${session} fell`);
          fence = fence.set(session, lease.fence);
          running.add(session);
          most = Math.max(most, running.size);
          await new Promise((resolve) => setImmediate(resolve));
          lease.check();
          running.delete(session);
        },
        { priority: index % 2 === 0 ? 'normal' : 'foreground' },
      );
    });
    await Promise.all(tasks);
    expect([problems, most]).toEqual([[], 3]);
  });

  it('admit requests of a session in the order of arrival, whichever worker made them', async () => {
    const { schema, lanes } = workers({ concurrency: 4 });
    const order: string[] = [];
    const first = await admission(lanes[0], { session: 'alice' });
    const later: Promise<void>[] = [];
    for (const [index, name] of ['a', 'b', 'c', 'd'].entries()) {
      const entered = admission(ofWorker(lanes, index), { session: 'alice' });
      later.push(entered.then((lease) => (order.push(name), lease.release())));
      await requests(schema, index + 2);
    }
    first.release();
    await Promise.all(later);
    expect(order).toEqual(['a', 'b', 'c', 'd']);
  });

  it('pass on the priority of a session across workers', async () => {
    const { schema, lanes } = workers({ concurrency: 1 });
    const order: string[] = [];
    const current = await admission(lanes[0], { session: 'current' });
    const later: Promise<void>[] = [];
    const given = [
      ['heartbeat', 'alice', 'background'],
      ['bob', 'bob', 'normal'],
      ['message', 'alice', 'foreground'],
    ] as const;
    for (const [index, [name, session, priority]] of given.entries()) {
      const entered = admission(ofWorker(lanes, index % 2), { session, priority });
      later.push(entered.then((lease) => (order.push(name), lease.release())));
      await requests(schema, index + 2);
    }
    current.release();
    await Promise.all(later);
    expect(order).toEqual(['heartbeat', 'message', 'bob']);
  });

  it('keep the limits of groups together', async () => {
    const { lanes } = workers({ concurrency: 8, groups: { provider: { concurrency: 2, keys: { local: 1 } } } });
    const running: Record<string, number> = { local: 0, other: 0 };
    const most: Record<string, number> = { local: 0, other: 0 };
    await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const provider = index % 2 === 0 ? 'local' : 'other';
        const task = async (): Promise<void> => {
          most[provider] = Math.max(most[provider] ?? 0, (running[provider] = (running[provider] ?? 0) + 1));
          await new Promise((resolve) => setImmediate(resolve));
          running[provider] = (running[provider] ?? 0) - 1;
        };
        return ofWorker(lanes, index).run(`s${index}`, task, { groups: { provider } });
      }),
    );
    expect(most).toEqual({ local: 1, other: 2 });
  });

  it('hand the slots of a worker over when its lease has ended', async () => {
    const { schema, lanes } = workers({ concurrency: 1, leaseMs: 6_000 });
    const suspended = await admission(lanes[0], { session: 'alice' });
    const next = admission(lanes[1], { session: 'alice' });
    await requests(schema, 2);
    await bury(schema, 1);
    const [lease] = await Promise.all([
      next,
      new Promise((resolve) => suspended.signal.addEventListener('abort', resolve)),
    ]);
    expect(lease.fence).toBeGreaterThan(suspended.fence);
    expect(suspended.isCurrent).toBe(false);
    expect(() => suspended.check()).toThrow(expect.objectContaining({ code: 'lane-lost' }) as Error);
    lease.release();
  });

  it('enter their waiting requests again after they were presumed dead', async () => {
    const { schema, lanes } = workers({ concurrency: 1, leaseMs: 6_000 });
    const current = await admission(lanes[0], { session: 'alice' });
    const waiting = admission(lanes[1], { session: 'bob' });
    await requests(schema, 2);
    await bury(schema, 0);
    await requests(schema, 2);
    current.release();
    (await waiting).release();
  });

  it('lose no request when connections are cut', async () => {
    const { schema, lanes } = workers({ concurrency: 2, leaseMs: 20_000 });
    let done = 0;
    const all = Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        ofWorker(lanes, index).run(`s${index % 9}`, async () => {
          if (index % 10 === 0) await cutConnections(schema);
          done += 1;
        }),
      ),
    );
    await all;
    expect(done).toBe(60);
    await Promise.all(lanes.map((each) => each.shutdown()));
    await requests(schema, 0);
  });

  it('hand their slots over at once when they shut down', async () => {
    const { schema, lanes } = workers({ concurrency: 1 });
    await admission(lanes[0], { session: 'alice' });
    const next = admission(lanes[1], { session: 'bob' });
    await requests(schema, 2);
    await lanes[0].shutdown();
    (await next).release();
    const database = schema.connect();
    expect(await database.query(`select 1 from ${database.name('lane_worker')}`)).toHaveLength(1);
  });
});
