import { describe, expect, it } from 'vitest';
import { countOf, endOf, readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import { type ChildRecord, type ChildStore, type Spawned } from './index.js';
import { memoryChildStore } from '../test/memory-child-store.js';

useVirtualTime();

const never = (): Promise<never> => new Promise<never>(() => undefined);

describe('a store', () => {
  it('that hangs causes a refusal, and a record that it stores too late is deleted', async () => {
    const kept: string[] = [];
    let confirm: () => void = () => undefined;
    const store: ChildStore = {
      save: ({ id }) => new Promise<void>((resolve) => (confirm = () => (kept.push(id), resolve()))),
      delete: (id) => void kept.splice(kept.indexOf(id), 1),
      list: () => [],
    };
    const { team, contexts } = tree({ parent: [], store, limits: { storeMs: 1000, children: 1, tree: 1 } });
    const asked = team.spawn({ parent: 'boss', agent: 'worker', task: 'a' });
    await pass(1000);
    expect(await asked).toMatchObject({
      status: 'refused',
      code: 'not-kept',
      reason: expect.stringContaining('1000 ms') as string,
    });
    expect(team.list('boss')).toEqual([]);
    confirm();
    await pass(1);
    expect(kept).toEqual([]);
    expect(contexts).toEqual([]);
    const again = team.spawn({ parent: 'boss', agent: 'worker', task: 'b' });
    await pass(0);
    confirm();
    expect(await again).toMatchObject({ status: 'accepted' });
    await pass(1000);
  });

  it('that fails causes a spawn to be refused, with a notice', async () => {
    const store: ChildStore = {
      save: () => Promise.reject(new Error('The disk is full.')),
      delete: () => undefined,
      list: () => [],
    };
    const { run, parent } = tree({ parent: [says(spawn('a')), 'Done.'], store });
    const events = await run();
    expect(events.filter(({ type }) => type === 'subagent.refused')).toMatchObject([
      { agent: 'worker', code: 'not-kept', reason: expect.stringContaining('The disk is full.') as string },
    ]);
    expect(readBy(parent, 1)).toContain('not-kept');
  });

  it('that fails although it has stored a record is asked to delete it', async () => {
    const inner = memoryChildStore();
    const store: ChildStore = {
      ...inner,
      save: async (record) => {
        await inner.save(record);
        throw new Error('The connection was lost.');
      },
    };
    const { team } = tree({ parent: [], store });
    expect(await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })).toMatchObject({ code: 'not-kept' });
    await pass(0);
    expect(await inner.list()).toEqual([]);
  });

  it('may be slow: tool calls that wait for it have a later deadline', () => {
    const timesOf = (limits: object): readonly number[] =>
      tree({ parent: [], limits }).team.tools.map(({ timeoutMs }) => timeoutMs);
    expect(timesOf({ storeMs: 100_000, waitMs: 1000 })).toEqual([130_000, 31_000]);
    expect(timesOf({ storeMs: Infinity, waitMs: Infinity })).toEqual([Infinity, Infinity]);
  });

  it('that fails during cancellation leaves no waiter', async () => {
    let fail: (error: Error) => void = () => undefined;
    const store: ChildStore = {
      save: () => new Promise<void>((_, reject) => (fail = reject)),
      delete: () => undefined,
      list: () => [],
    };
    const { team } = tree({ parent: [], store });
    const asked = team.spawn({ parent: 'boss', agent: 'worker', task: 'a' });
    const cancelled = team.cancel('boss');
    const closed = team.close();
    await pass(0);
    fail(new Error('The disk is full.'));
    expect(await asked).toMatchObject({ status: 'refused', code: 'not-kept' });
    await Promise.all([cancelled, closed]);
  });

  it('that hangs later delays a result by the time limit only, with a notice', async () => {
    const store: ChildStore = {
      save: (record: ChildRecord) => (record.takenBy === undefined && record.end === undefined ? undefined : never()),
      delete: never,
      list: () => [],
    };
    const { run, parent } = tree({
      parent: [says(spawn('a')), says(wait('w')), 'Done.'],
      store,
      limits: { storeMs: 50 },
    });
    const done = run();
    await pass(200);
    const events = await done;
    expect(endOf(events)).toMatchObject({ outcome: 'completed', steps: 3 });
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
    expect(events.filter(({ type }) => type === 'subagent.not-kept').length).toBeGreaterThan(0);
    await pass(200);
  });

  it('contains every record when close() has resolved', async () => {
    const inner = memoryChildStore();
    const slowly = (work: () => unknown): Promise<void> =>
      new Promise((resolve) => void setTimeout(() => (work(), resolve()), 20));
    const store: ChildStore = {
      save: (record) => slowly(() => inner.save(record)),
      delete: (id) => slowly(() => inner.delete(id)),
      list: () => inner.list(),
    };
    const { team } = tree({ parent: [], store, tasks: { hang: [{ never: [] }] } });
    const asked = team.spawn({ parent: 'boss', agent: 'worker', task: 'hang', receiver: 'parent' });
    await pass(30);
    expect((await asked).status).toBe('accepted');
    let isClosed = false;
    void team.close().then(() => (isClosed = true));
    await pass(19);
    expect(isClosed).toBe(false);
    await pass(1);
    expect(isClosed).toBe(true);
    expect(await inner.list()).toMatchObject([{ end: { status: 'cancelled' } }]);
  });

  it('receives no record of a copy that was created too late', async () => {
    const store = memoryChildStore();
    let make: (isolation: never) => void = () => undefined;
    const finished: string[] = [];
    const { team } = tree({
      parent: [],
      store,
      limits: { graceMs: 10 },
      isolate: () => new Promise((resolve) => (make = resolve)),
      agents: { editor: { description: 'Edits.', isolate: true, create: () => Promise.reject(new Error('Never.')) } },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'editor', task: 'x' })) as Spawned;
    await pass(1);
    void team.cancel('boss');
    await pass(10);
    expect((await spawned.ended).status).toBe('cancelled');
    make({ folder: '/copy', original: '/repo', finish: (status: string) => void finished.push(status) } as never);
    await pass(10);
    expect(finished).toEqual(['cancelled']);
    expect(await store.list()).toEqual([]);
  });
});
