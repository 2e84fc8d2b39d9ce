import { harness, type TurnEvent } from '@h/turn';
import { call, scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { endOf, readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import type { Spawned } from './index.js';

useVirtualTime();

const hang = { hang: [{ never: ['Half.'] }] };

describe('cancelling', () => {
  it('cancels all sub-agents, including nested ones', async () => {
    const { agent, team, children } = tree({
      parent: [says(spawn('a', 'mid')), 'I wait.'],
      tasks: { mid: [says(spawn('b', 'hang')), says(wait('w'))], ...hang },
    });
    const controller = new AbortController();
    const events: TurnEvent[] = [];
    agent.turn({ session: 'boss', input: 'Go', signal: controller.signal }).subscribe((event) => events.push(event));
    await pass(10);
    expect(children.map(({ active }) => active)).toEqual([0, 1]);
    controller.abort(new Error('Enough.'));
    await pass(10);
    expect(endOf(events)).toMatchObject({ outcome: 'cancelled', reason: 'Enough.' });
    expect(children.map(({ active }) => active)).toEqual([0, 0]);
    expect(team.list('boss')).toMatchObject([{ id: 'c1', status: 'cancelled' }]);
    expect(team.list('subagent-c1')).toEqual([]);
  });

  it('cancels sub-agents when the subscriber leaves', async () => {
    const { agent, team, children } = tree({ parent: [says(spawn('a', 'hang')), 'I wait.'], tasks: hang });
    const running = agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    running.unsubscribe();
    await pass(10);
    expect(children[0]?.active).toBe(0);
    expect(team.list('boss')).toMatchObject([{ status: 'cancelled' }]);
  });

  it('cancels sub-agents when the turn fails, unless they are detached', async () => {
    const script = [says(spawn('a', 'hang')), { error: { name: 'Error', message: 'Broke.' } }];
    const ends = await Promise.all(
      (['wait', 'detach'] as const).map(async (parentEnd) => {
        const { run, team } = tree({ parent: script, tasks: hang, parentEnd });
        await run();
        await pass(1);
        const [child] = team.list('boss');
        await team.close();
        return child?.status;
      }),
    );
    expect(ends).toEqual(['cancelled', 'under-way']);
  });

  it('reports cancellations to the next turn without waking it', async () => {
    const woken: string[] = [];
    const { agent, run, parent } = tree({
      parent: [says(spawn('a', 'hang')), 'I wait.', 'Pity.'],
      tasks: hang,
      wake: (session) => woken.push(session),
    });
    const running = agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    running.unsubscribe();
    await pass(10);
    await run('So?');
    expect(readBy(parent, 2)).toMatch(/c1 \(worker\) ended: cancelled.*may have completed a part/);
    expect(woken).toEqual([]);
  });

  it('cancels the children of a sub-agent that ended without its operator', async () => {
    const { team } = tree({
      parent: [],
      agents: {
        bare: {
          description: 'Bare.',
          create: ({ guard, task }) =>
            harness({ model: scriptedModel([task === 'hang' ? { never: [] } : 'Done.'], { delayMs: 10 }) }).pipe(guard),
        },
      },
    });
    const above = (await team.spawn({ parent: 'boss', agent: 'bare', task: 'x' })) as Spawned;
    const below = (await team.spawn({ parent: above.session, agent: 'bare', task: 'hang' })) as Spawned;
    await pass(50);
    expect((await above.ended).status).toBe('ok');
    expect(await below.ended).toMatchObject({ status: 'cancelled', reason: 'Its parent agent has ended.' });
    await pass(10);
  });

  it('resolves when all have ended, and abandons those that do not stop', async () => {
    const { team } = tree({
      parent: [],
      limits: { graceMs: 500 },
      agents: { stuck: { description: 'Stuck.', create: () => new Promise<never>(() => undefined) } },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'stuck', task: 'x' })) as Spawned;
    await pass(1);
    let isOver = false;
    void team.cancel('boss', { reason: 'Enough.' }).then(() => (isOver = true));
    await pass(499);
    expect(isOver).toBe(false);
    await pass(1);
    expect(isOver).toBe(true);
    expect(await spawned.ended).toMatchObject({ status: 'cancelled', reason: 'Enough.' });
  });

  it('ignores events after the end', async () => {
    let make: (agent: never) => void = () => undefined;
    let disposed = 0;
    const { team, agent } = tree({
      parent: ['Never asked.'],
      limits: { graceMs: 10 },
      agents: { slow: { description: 'Slow.', create: () => new Promise((resolve) => (make = resolve)) } },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'slow', task: 'x' })) as Spawned;
    await pass(1);
    void team.cancel('boss');
    await pass(10);
    const end = await spawned.ended;
    make({ agent, dispose: () => (disposed += 1) } as never);
    await pass(10);
    expect(end.status).toBe('cancelled');
    expect([disposed, agent.running()]).toEqual([1, []]);
  });

  it('never starts a sub-agent that waited for its slot', async () => {
    const { team, contexts } = tree({ parent: [], limits: { concurrency: 1 }, tasks: hang });
    const [, second] = (await Promise.all(
      [1, 2].map(() => team.spawn({ parent: 'boss', agent: 'worker', task: 'hang' })),
    )) as Spawned[];
    await team.cancel('boss', { child: second?.child ?? '' });
    expect(await second?.ended).toMatchObject({ status: 'cancelled', durationMs: 0 });
    await team.cancel('boss');
    expect(contexts).toHaveLength(1);
  });

  it('cleans up at any point of a turn', async () => {
    for (let moment = 0; moment < 120; moment += 1) {
      let disposed = 0;
      let made = 0;
      const { agent, team, children, parent } = tree({
        parent: [says(spawn('a', 'mid'), spawn('b')), says(wait('w')), 'Done.'],
        tasks: { mid: [says(spawn('c', 'leaf')), says(call('n', 'nap')), 'Mid.'] },
        tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 5, 'slept')) }],
        delayMs: 1,
        limits: { concurrency: 2 },
        childOperators: () => ((made += 1), []),
        onEvent: (_, event) => void (event.type === 'turn.end' && (disposed += 1)),
      });
      const ends: TurnEvent[] = [];
      const running = agent
        .turn({ session: 'boss', input: 'Go' })
        .subscribe((event) => void (event.type === 'turn.end' && ends.push(event)));
      await pass(moment % 60);
      if (moment < 60) running.unsubscribe();
      else await team.close();
      await pass(200);
      running.unsubscribe();
      expect(
        [parent.active, ...children.map(({ active }) => active)].every((active) => active === 0),
        `moment ${moment}`,
      ).toBe(true);
      expect([agent.running(), team.list('subagent-c1'), disposed], `moment ${moment}`).toEqual([[], [], made]);
      expect(
        team.list('boss').every(({ status }) => status !== 'under-way'),
        `moment ${moment}`,
      ).toBe(true);
    }
  });
});
