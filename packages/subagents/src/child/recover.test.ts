import { intercept, memorySessions, noUsage, reply, type ModelRequest } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { countOf, readBy, says, spawn, tree, wait } from '../../test/tree.js';
import { pass, useVirtualTime } from '../../test/virtual-time.js';
import { isChildSession, type ChildRecord, type ChildStore } from '../index.js';
import { childRecord } from '../testing/child-record.js';
import { memoryChildStore } from '../../test/memory-child-store.js';

useVirtualTime();

/** Copies a store as it is when the process dies: the old process continues in these tests. */
const copyOf = async (store: ChildStore): Promise<ChildStore> => {
  const copy = memoryChildStore();
  for (const record of await store.list()) await copy.save(JSON.parse(JSON.stringify(record)) as ChildRecord);
  return copy;
};

const textOf = ({ messages }: ModelRequest): string => JSON.stringify(messages.toArray());

describe('recover', () => {
  it('finds sub-agents whose process died and informs the parent once', async () => {
    const store = memoryChildStore();
    const first = tree({
      parent: [says(spawn('a', 'hang'), spawn('b', 'hang')), 'I wait.'],
      tasks: { hang: [{ never: ['…'] }] },
      store,
      limits: { concurrency: 1 },
    });
    first.agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    const woken: string[] = [];
    const second = tree({
      parent: ['I see.', 'Nothing new.'],
      store: await copyOf(store),
      wake: (session) => woken.push(session),
    });
    const orphans = await second.team.recover({
      unfinished: () => [{ turn: 't1', session: 'subagent-c1', startedAt: 0 }],
    });
    expect(
      orphans.map(({ record, isResumable, toldTo }) => [record.id, record.end.status, isResumable, toldTo]),
    ).toEqual([
      ['c1', 'interrupted', true, 'boss'],
      ['c2', 'interrupted', false, 'boss'],
    ]);
    expect(woken).toEqual(['boss']);
    expect(await second.team.recover()).toEqual([]);
    await second.run('Hello again');
    expect(countOf(readBy(second.parent, 0), 'ended: interrupted. Its task began')).toBe(2);
    await second.run('And?');
    expect(countOf(readBy(second.parent, 1), 'ended: interrupted')).toBe(2);
    expect(second.team.list('boss')).toEqual([]);
    await first.team.close();
  });

  it('informs the agent at the top about nested sub-agents, but not about those that code spawned', async () => {
    const store = memoryChildStore();
    await store.save(childRecord('x', { parent: 'subagent-y', depth: 2 }));
    await store.save(childRecord('z', { receiver: 'caller', isolated: '/copies/z' }));
    const { team, run, parent } = tree({ parent: ['I see.'], store });
    const orphans = await team.recover();
    expect(orphans.map(({ toldTo }) => toldTo)).toEqual(['boss', undefined]);
    expect(orphans[1]?.record.end.note).toContain('/copies/z');
    await run();
    expect(countOf(readBy(parent, 0), 'ended: interrupted')).toBe(1);
    await pass(1);
    expect(await store.list()).toEqual([]);
  });

  it('stores all results concurrently before it resolves', async () => {
    const store = memoryChildStore();
    for (const id of ['o1', 'o2', 'o3']) {
      await store.save(childRecord(id, { parent: 'subagent-x', depth: 2 }));
    }
    const slow: ChildStore = {
      ...store,
      save: (record) => new Promise((resolve) => void setTimeout(() => resolve(store.save(record)), 20)),
    };
    const { team } = tree({ parent: [], store: slow });
    let found: readonly unknown[] | undefined;
    void team.recover().then((orphans) => (found = orphans));
    await pass(19);
    expect(found).toBe(undefined);
    await pass(1);
    expect(found).toHaveLength(3);
    expect((await store.list()).map(({ parent, end }) => [parent, end?.status])).toEqual(
      Array.from({ length: 3 }, () => ['boss', 'interrupted']),
    );
  });

  it('puts at most limits.children results into one message', async () => {
    const store = memoryChildStore();
    for (let index = 0; index < 7; index += 1) await store.save(childRecord(`o${index}`, { spawnedAt: index }));
    const { team, run, parent } = tree({ parent: ['I see.', 'I see.', 'I see.'], store, limits: { children: 3 } });
    await team.recover();
    await run();
    expect(parent.requests.map((_, index) => countOf(readBy(parent, index), 'ended: interrupted'))).toEqual([3, 6, 7]);
    expect([team.list('boss'), await store.list()]).toEqual([[], []]);
  });

  it('finds each once, also when it is called twice at once', async () => {
    const store = memoryChildStore();
    const first = tree({ parent: [says(spawn('a', 'hang')), 'I wait.'], tasks: { hang: [{ never: ['…'] }] }, store });
    first.agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    const { team } = tree({ parent: [], store: await copyOf(store) });
    const found = await Promise.all([team.recover(), team.recover()]);
    expect(found.map(({ length }) => length)).toEqual([1, 0]);
    expect(team.list('boss')).toHaveLength(1);
    expect(team.list('boss').map(({ session }) => isChildSession(session))).toEqual([true]);
    expect(isChildSession('boss')).toBe(false);
    await first.team.close();
  });

  it('informs parents also if the store cannot be written', async () => {
    const store = memoryChildStore();
    const first = tree({ parent: [says(spawn('a', 'hang')), 'I wait.'], tasks: { hang: [{ never: ['…'] }] }, store });
    first.agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    const full = (): never => {
      throw new Error('The disk is full.');
    };
    const { team, run, parent } = tree({
      parent: ['I see.'],
      store: { save: full, delete: full, list: () => store.list() },
    });
    expect(await team.recover()).toHaveLength(1);
    await run();
    expect(countOf(readBy(parent, 0), 'ended: interrupted')).toBe(1);
    await first.team.close();
  });

  it('ignores sub-agents of sessions for which it is not responsible', async () => {
    const store = memoryChildStore();
    const first = tree({ parent: [says(spawn('a', 'hang')), 'I wait.'], tasks: { hang: [{ never: ['…'] }] }, store });
    first.agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    const { team } = tree({ parent: [], store: await copyOf(store) });
    expect(await team.recover({ sessions: (session) => session === 'another' })).toEqual([]);
    expect(await team.recover({ sessions: (session) => session === 'boss' })).toMatchObject([{ toldTo: 'boss' }]);
    await expect(team.recover({ session: 'boss' } as never)).rejects.toThrow(/recover\(\): unknown option "session"/);
    await first.team.close();
  });

  it('does not repeat a result that was delivered before the process died', async () => {
    const store = memoryChildStore();
    const sessions = memorySessions();
    let before: ChildStore | undefined;
    const first = tree({
      parent: [says(spawn('a'), spawn('b')), says(wait('w', { children: ['c1'] })), 'Done.', 'Done.'],
      store: { ...store, delete: async (id) => ((before ??= await copyOf(store)), store.delete(id)) },
      sessions,
    });
    await first.run();
    await pass(1);
    expect((await before?.list())?.map(({ id }) => id)).toEqual(['c1', 'c2']);
    const second = tree({ parent: ['Nothing new.'], store: before ?? memoryChildStore(), sessions });
    await second.team.recover();
    await second.run('And?');
    expect([countOf(readBy(second.parent, 0), 'Done: a'), countOf(readBy(second.parent, 0), 'Done: b')]).toEqual([
      1, 1,
    ]);
  });

  it('detects a result that was delivered by a call whose answer was lost', async () => {
    const store = memoryChildStore();
    const sessions = memorySessions();
    let before: ChildStore | undefined;
    const cut = intercept('cut', () => ({
      decide: {
        'tool.result': (event) =>
          event.output.type === 'text'
            ? { ...event, output: { type: 'text', value: event.output.value.slice(0, 60) } }
            : undefined,
      },
    }));
    const first = tree({
      parent: [says(spawn('a'), spawn('b'), spawn('c')), says(wait('w')), 'Done.'],
      store: { ...store, delete: async (id) => ((before ??= await copyOf(store)), store.delete(id)) },
      sessions,
      lateOperators: [cut],
    });
    await first.run();
    await pass(1);
    const second = tree({ parent: ['Nothing new.'], store: before ?? memoryChildStore(), sessions });
    await second.team.recover();
    expect(second.team.list('boss')).toHaveLength(3);
    await second.run('And?');
    expect(countOf(readBy(second.parent, 0), 'Done: ')).toBe(0);
    expect(second.team.list('boss')).toEqual([]);
  });

  it('does not mistake the answer to an earlier call with the same id for a delivery', async () => {
    const sessions = memorySessions();
    const first = tree({ parent: [says(wait('w')), 'Nothing.'], sessions });
    await first.run();
    const store = memoryChildStore();
    const record: ChildRecord = {
      v: 1,
      id: 'c9',
      agent: 'worker',
      task: 'x',
      session: 'subagent-c9',
      turn: 't9',
      parent: 'boss',
      root: 'boss',
      depth: 1,
      receiver: 'parent',
      spawnedAt: 0,
      takenBy: 'w',
      end: {
        child: 'c9',
        agent: 'worker',
        session: 'subagent-c9',
        task: 'x',
        status: 'ok',
        text: 'Found.',
        textChars: 6,
        steps: 1,
        usage: noUsage,
        durationMs: 1,
      },
    };
    await store.save(record);
    const second = tree({ parent: ['I see.'], store, sessions });
    await second.team.recover();
    await second.run('And?');
    expect(countOf(readBy(second.parent, 0), 'Found.')).toBe(1);
  });

  it('delivers each result once, from whatever record a turn is resumed', async () => {
    const recorded: { readonly journal: readonly unknown[]; readonly records: readonly ChildRecord[] }[] = [];
    const store = memoryChildStore();
    const inner = memorySessions();
    const events: unknown[] = [];
    const first = tree({
      parent: [says(spawn('a'), spawn('b')), says(wait('w', { children: ['c1'] })), 'I wait.', 'Done.'],
      store,
      sessions: {
        ...inner,
        open: (session) => {
          const open = inner.open(session) as Awaited<ReturnType<typeof inner.open>>;
          if (session !== 'boss') return open;
          return {
            ...open,
            append: (record) => {
              void open.append(record);
              events.push(record);
              recorded.push({ journal: [...events], records: [...(store.list() as readonly ChildRecord[])] });
            },
          };
        },
      },
    });
    await first.run();
    await pass(1);
    expect(recorded.length).toBeGreaterThan(15);
    for (const [index, { journal, records }] of recorded.slice(0, -1).entries()) {
      const left = memoryChildStore();
      for (const record of records) await left.save(record);
      const sessions = memorySessions();
      const open = await sessions.open('boss');
      for (const record of journal) await open.append(record as never);
      await open.close();
      const answers = Array.from({ length: 12 }, () => 'Done.');
      const second = tree({ parent: answers, store: left, sessions });
      await second.team.recover({ unfinished: () => second.agent.unfinished() });
      const turn = (await second.agent.unfinished())[0]?.turn ?? '';
      expect(await reply(second.agent.resume(turn)), `record ${index}`).toMatchObject({ outcome: 'completed' });
      await reply(second.agent.turn({ session: 'boss', input: 'And?' }));
      const read = textOf(second.parent.requests.at(-1) as ModelRequest);
      const known = (await left.list()).length;
      for (const id of ['c1', 'c2']) {
        const times = countOf(read, `Sub-agent ${id} (worker) ended`);
        expect(times, `record ${index}, ${id}`).toBeLessThanOrEqual(1);
        if (read.includes(`child\\\\\\":\\\\\\"${id}`)) expect(times, `record ${index}, ${id}`).toBe(1);
      }
      expect(known, `record ${index}`).toBe(0);
    }
  });
});
