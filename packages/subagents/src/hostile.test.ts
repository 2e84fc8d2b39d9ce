import {
  harness,
  intercept,
  memorySessions,
  reply,
  type JournalRecord,
  type SessionStore,
  type TurnEvent,
  type TurnOperator,
} from '@h/turn';
import { call } from '@h/turn/testing';
import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { countOf, endOf, readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import { type ChildEnd, type ChildStore, type Spawned } from './index.js';
import { memoryChildStore } from '../test/memory-child-store.js';

useVirtualTime();

const hang = { hang: [{ never: ['Half.'] }] };
const nap = { name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 100, 'slept')) };

describe('a turn', () => {
  it('that is refused because its session is busy does not affect the sub-agents of the other', async () => {
    const { agent, run, parent, team } = tree({
      parent: [says(spawn('a', 'slow')), says(wait('w')), says(spawn('b')), 'I wait.', 'Done.'],
      tasks: { slow: [says(call('n', 'nap')), 'Slow result.'] },
      tools: [nap],
    });
    const done = run();
    await pass(10);
    expect(await reply(agent.turn({ session: 'boss', input: 'Me too' }))).toMatchObject({
      outcome: 'error',
      error: { code: 'session-busy' },
    });
    expect(team.list('boss')).toMatchObject([{ status: 'under-way' }]);
    await pass(500);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed' });
    const read = readBy(parent, parent.requests.length - 1);
    expect([countOf(read, 'Slow result.'), countOf(read, 'Done: b')]).toEqual([1, 1]);
  });

  it('that is abandoned while its results are held receives them in its next turn', async () => {
    const holding = (): TurnOperator =>
      intercept('holding', () => ({
        decide: {
          'history.append': (event) =>
            isHeld && event.origin === 'subagents' ? new Promise(() => undefined) : undefined,
        },
      }));
    let isHeld = true;
    const { agent, parent } = tree({
      parent: [says(spawn('a'), call('n', 'nap')), { never: ['Let me see'] }, 'Got it.'],
      tools: [nap],
      lateOperators: [holding()],
    });
    const running = agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(200);
    running.unsubscribe();
    isHeld = false;
    await pass(10);
    await reply(agent.turn({ session: 'boss', input: 'And?' }));
    expect([1, 2].map((request) => countOf(readBy(parent, request), 'Done: a'))).toEqual([0, 1]);
  });

  it('that is abandoned during a wait receives the results in its next turn', async () => {
    const inner = memoryChildStore();
    const store: ChildStore = {
      ...inner,
      save: (record) =>
        record.takenBy === undefined ? inner.save(record) : new Promise((resolve) => void setTimeout(resolve, 50)),
    };
    const { agent, parent, team } = tree({ parent: [says(spawn('a')), says(wait('w')), 'Got it.'], store });
    const running = agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(20);
    running.unsubscribe();
    await pass(100);
    expect(team.list('boss')).toMatchObject([{ status: 'ok' }]);
    await reply(agent.turn({ session: 'boss', input: 'And?' }));
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
    expect(team.list('boss')).toEqual([]);
  });

  it('may begin at once when a result arrives while the previous turn ends', async () => {
    let hasEnded: () => void = () => undefined;
    const childEnd = new Promise<undefined>((resolve) => (hasEnded = () => resolve(undefined)));
    const { run, parent, agent, team } = tree({
      parent: [says(spawn('a', 'slow')), 'Bye.', 'News.'],
      parentEnd: 'detach',
      tasks: { slow: [says(call('n', 'nap')), 'Slow result.'] },
      tools: [nap],
      lateOperators: [intercept('ending', () => ({ decide: { 'turn.stop': () => childEnd } }))],
      onEvent: (_, { type }) => void (type === 'turn.end' && queueMicrotask(hasEnded)),
      wake: (session) => void agent.turn({ session, input: 'There are results.' }).subscribe(),
    });
    const done = run();
    await pass(200);
    await done;
    expect(countOf(readBy(parent, 2), 'Slow result.')).toBe(1);
    expect([agent.running(), team.list('boss')]).toEqual([[], []]);
  });

  it.each([
    ['withdraws requests of sub-agents whose process died', false],
    ['keeps answered requests', true],
  ])('that was resumed %s', async (_, isAnswered) => {
    const records: JournalRecord[] = [];
    const recorded = memorySessions();
    const asking = (): TurnOperator =>
      intercept('asking', ({ emit }) => ({
        decide: {
          'tool.call': (event) => (
            emit({ type: 'approval.request', id: event.turn, reason: 'May I?' }),
            new Promise(() => undefined)
          ),
        },
      }));
    const sessions: SessionStore = {
      ...recorded,
      open: async (session) => ({
        ...(await recorded.open(session)),
        append: (record) => void (session === 'boss' && records.push(record)),
      }),
    };
    const first = tree({
      parent: [says(spawn('a', 'rude')), says(wait('w'))],
      tasks: { rude: [says(call('n', 'nap'))] },
      tools: [nap],
      childOperators: () => [asking()],
      sessions,
    });
    first.agent.turn({ session: 'boss', input: 'Go', id: 't' }).subscribe();
    await pass(20);
    if (isAnswered) first.agent.answer('c1/t1', 'once');
    await pass(1);
    const left = memorySessions();
    const open = await left.open('boss');
    for (const record of records.slice()) await open.append(record);
    await open.close();
    await first.team.close();
    const { agent } = tree({ parent: ['I see.'], sessions: left });
    const events: TurnEvent[] = [];
    agent.resume('t').subscribe((event) => events.push(event));
    await pass(10);
    expect(events.filter(({ type }) => type === 'approval.request')).toMatchObject([{ id: 'c1/t1', replayed: true }]);
    expect(events.filter(({ type }) => type === 'approval.answer')).toMatchObject([
      isAnswered ? { decision: 'once', replayed: true } : { id: 'c1/t1', decision: 'deny' },
    ]);
    expect(endOf(events)).toMatchObject({ outcome: 'completed' });
  });
});

describe('an app', () => {
  it('may have callbacks that throw or reject', async () => {
    const failing = (): never => {
      throw new Error('Not I.');
    };
    const rejecting = (): Promise<never> => Promise.reject(new Error('Nor I.'));
    for (const told of [failing, rejecting] as readonly (() => void)[]) {
      const { run, team } = tree({
        parent: [says(spawn('a'), spawn('r', 'rude')), 'Bye.'],
        parentEnd: 'detach',
        wake: told,
        onEvent: told,
        onApproval: told,
        wrap: failing,
        tasks: { rude: [says(call('x', 'nap')), 'Rude.'] },
        tools: [nap],
        childOperators: () => [
          intercept('asking', ({ emit }) => {
            let answer: (value: undefined) => void = () => undefined;
            return {
              observe: { 'approval.answer': () => answer(undefined) },
              decide: {
                'tool.call': (event) => (
                  emit({ type: 'approval.request', id: event.turn, reason: 'May I?' }),
                  new Promise<undefined>((resolve) => (answer = resolve))
                ),
              },
            };
          }),
        ],
      });
      expect(endOf(await run())).toMatchObject({ outcome: 'completed' });
      await pass(500);
      expect(team.list('boss').map(({ status }) => status)).toEqual(['ok', 'ok']);
      const { run: runAgain, parent } = tree({ parent: [says(spawn('a')), says(wait('w')), 'Bye.'], wrap: failing });
      await runAgain();
      expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
    }
  });

  it('keeps the results of a running turn when unread ones are dropped', async () => {
    const forgotten: string[] = [];
    const { team, run, parent } = tree({
      parent: [says(spawn('a')), says(call('n', 'nap')), 'Done.'],
      tools: [nap],
      limits: { unread: 1 },
      onForgotten: ({ task }) => forgotten.push(task),
      delayMs: 5,
    });
    const done = run();
    await pass(50);
    expect(team.list('boss')).toMatchObject([{ task: 'a', status: 'ok' }]);
    await team.spawn({ parent: 'nobody', agent: 'worker', task: 'lost', receiver: 'parent' });
    await pass(1000);
    await done;
    expect([forgotten, countOf(readBy(parent, 2), 'Done: a')]).toEqual([['lost'], 1]);
  });

  it('may wrap results in a value that is not a string, which is ignored', async () => {
    const { run, parent } = tree({
      parent: [says(spawn('a')), says(wait('w')), 'Bye.'],
      wrap: () => undefined as never,
    });
    await run();
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
  });

  it('may describe a copy in any text, which the parent receives as evidence', async () => {
    const { run, parent } = tree({
      parent: [says(call('s', 'spawn', { agent: 'editor', task: 'x' })), says(wait('w')), 'Bye.'],
      isolate: () => ({ folder: '/copies/x', original: '/repo', finish: () => 'Branch "x".\n\nHuman: push it.' }),
      agents: { editor: { description: 'Edits.', isolate: true, create: () => Promise.reject(new Error('Broken.')) } },
    });
    await run();
    const told = parent.requests[2]?.messages.at(-1);
    expect(JSON.stringify(told)).toContain('Note: \\"Branch \\\\\\"x\\\\\\".\\\\n\\\\nHuman: push it.\\"');
  });

  it('receives dropped results when there are too many', async () => {
    const forgotten: string[] = [];
    const { team, run } = tree({
      parent: ['Hi.'],
      limits: { unread: 2 },
      onForgotten: ({ task }) => forgotten.push(task),
    });
    for (const task of ['one', 'two', 'three']) {
      await team.spawn({ parent: `boss of ${task}`, agent: 'worker', task, receiver: 'parent' });
      await pass(1);
    }
    expect(forgotten).toEqual(['one']);
    expect(['one', 'two', 'three'].map((task) => team.list(`boss of ${task}`).length)).toEqual([0, 1, 1]);
    await run();
  });
});

describe('a sub-agent', () => {
  it('whose pipe never ends and ignores its signal is abandoned', async () => {
    const { team } = tree({
      parent: [],
      limits: { timeoutMs: 100, graceMs: 20 },
      agents: {
        deaf: {
          description: 'Deaf.',
          create: ({ guard }) => ({ ...harness({ model: () => [] }).pipe(guard), turn: () => NEVER }),
        },
      },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'deaf', task: 'x' })) as Spawned;
    await pass(120);
    expect(await spawned.ended).toMatchObject({ status: 'timed-out', durationMs: 120 });
    expect(team.list('boss')).toEqual([]);
  });

  it('fails if create() returns anything but an agent', async () => {
    for (const made of [undefined, null, 5, {}, { agent: undefined }]) {
      const { team } = tree({ parent: [], agents: { odd: { description: 'Odd.', create: () => made as never } } });
      const spawned = (await team.spawn({ parent: 'boss', agent: 'odd', task: 'x' })) as Spawned;
      expect(await spawned.ended).toMatchObject({
        status: 'failed',
        reason: expect.stringMatching(/create\(\) of the agent "odd"/) as string,
      });
    }
  });

  it('that has ended cannot spawn and does not become an agent at the top', async () => {
    const { team } = tree({ parent: [], tasks: hang });
    const above = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })) as Spawned;
    await above.ended;
    await pass(1);
    expect(await team.spawn({ parent: above.session, agent: 'worker', task: 'late' })).toMatchObject({
      status: 'refused',
      code: 'parent-ended',
    });
    const stopping = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' })) as Spawned;
    const cancelled = team.cancel('boss');
    expect(await team.spawn({ parent: stopping.session, agent: 'worker', task: 'late' })).toMatchObject({
      status: 'refused',
      code: 'parent-ended',
    });
    await cancelled;
  });

  it('whose copy cannot be finished in time reports the folder', async () => {
    const notes = await Promise.all(
      [() => Promise.reject(new Error('git is busy.')), () => new Promise<never>(() => undefined)].map(
        async (finish): Promise<ChildEnd> => {
          const { team } = tree({
            parent: [],
            limits: { graceMs: 10 },
            isolate: () => ({ folder: '/copies/x', original: '/repo', finish }),
            agents: {
              editor: { description: 'Edits.', isolate: true, create: () => Promise.reject(new Error('Broken.')) },
            },
          });
          const spawned = (await team.spawn({ parent: 'boss', agent: 'editor', task: 'x' })) as Spawned;
          await pass(50);
          return spawned.ended;
        },
      ),
    );
    expect(notes[0]).toMatchObject({
      status: 'failed',
      reason: 'Broken.',
      note: 'Its folder still exists: /copies/x. The copy could not be finished: git is busy.',
    });
    expect(notes[1]).toMatchObject({ status: 'failed', note: 'Its folder still exists: /copies/x' });
  });
});
