import { intercept, reply, type TurnOperator } from '@h/turn';
import { call } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { countOf, endOf, readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import type { ChildEnd, Spawned } from './index.js';

useVirtualTime();

const hang = { hang: [{ never: ['Half.'] }] };
const nap = { name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 100, 'slept')) };

describe('a turn', () => {
  it('that is refused because its session is busy leaves the sub-agents of the other alone', async () => {
    const { agent, run, parent, team } = tree({ parent: [says(spawn('a', 'slow')), says(wait('w')), says(spawn('b')), 'I wait.', 'Done.'], tasks: { slow: [says(call('n', 'nap')), 'Slow result.'] }, tools: [nap] });
    const done = run();
    await pass(10);
    expect(await reply(agent.turn({ session: 'boss', input: 'Me too' }))).toMatchObject({ outcome: 'error', error: { code: 'session-busy' } });
    expect(team.list('boss')).toMatchObject([{ status: 'under-way' }]);
    await pass(500);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed' });
    const read = readBy(parent, parent.requests.length - 1);
    expect([countOf(read, 'Slow result.'), countOf(read, 'Done: b')]).toEqual([1, 1]);
  });

  it('that is given up while its results are held up on their way has them in its next turn', async () => {
    const holding = (): TurnOperator => intercept('holding', () => ({ decide: { 'history.append': (event) => (isHeld && event.origin === 'subagents' ? new Promise(() => undefined) : undefined) } }));
    let isHeld = true;
    const { agent, parent } = tree({ parent: [says(spawn('a'), call('n', 'nap')), { never: ['Let me see'] }, 'Got it.'], tools: [nap], lateOperators: [holding()] });
    const running = agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(200);
    running.unsubscribe();
    isHeld = false;
    await pass(10);
    await reply(agent.turn({ session: 'boss', input: 'And?' }));
    expect([1, 2].map((request) => countOf(readBy(parent, request), 'Done: a'))).toEqual([0, 1]);
  });
});

describe('an app', () => {
  it('may fail in all that it is told, at once and later', async () => {
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
              decide: { 'tool.call': (event) => (emit({ type: 'approval.request', id: event.turn, reason: 'May I?' }), new Promise<undefined>((resolve) => (answer = resolve))) },
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

  it('is told of results that nobody has fetched when there are too many', async () => {
    const forgotten: string[] = [];
    const { team, run } = tree({ parent: ['Hi.'], limits: { unread: 2 }, onForgotten: ({ task }) => forgotten.push(task) });
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
  it('that has ended spawns nothing more, and is no agent at the top then', async () => {
    const { team } = tree({ parent: [], tasks: hang });
    const above = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'a' })) as Spawned;
    await above.ended;
    await pass(1);
    expect(await team.spawn({ parent: above.session, agent: 'worker', task: 'late' })).toMatchObject({ status: 'refused', code: 'parent-ended' });
    const stopping = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' })) as Spawned;
    const cancelled = team.cancel('boss');
    expect(await team.spawn({ parent: stopping.session, agent: 'worker', task: 'late' })).toMatchObject({ status: 'refused', code: 'parent-ended' });
    await cancelled;
  });

  it('whose copy cannot be finished, or not in time, leaves it, and says where', async () => {
    const notes = await Promise.all(
      [() => Promise.reject(new Error('git is busy.')), () => new Promise<never>(() => undefined)].map(async (finish): Promise<ChildEnd> => {
        const { team } = tree({
          parent: [],
          limits: { graceMs: 10 },
          isolate: () => ({ folder: '/copies/x', original: '/repo', finish }),
          agents: { editor: { description: 'Edits.', isolate: true, create: () => Promise.reject(new Error('Broken.')) } },
        });
        const spawned = (await team.spawn({ parent: 'boss', agent: 'editor', task: 'x' })) as Spawned;
        await pass(50);
        return spawned.ended;
      }),
    );
    expect(notes[0]).toMatchObject({ status: 'failed', reason: 'Broken.', note: 'Its folder is still there: /copies/x. It could not be finished: git is busy.' });
    expect(notes[1]).toMatchObject({ status: 'failed', note: 'Its folder is still there: /copies/x' });
  });
});
