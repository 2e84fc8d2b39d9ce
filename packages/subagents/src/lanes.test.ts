import { reply } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { call } from '@h/turn/testing';
import { readBy, says, spawn, tree, wait } from '../test/tree.js';
import { slots } from '../test/slots.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import type { TestTool } from '../test/tool-driver.js';
import type { ChildLanes, Spawned, Subagents } from './index.js';

useVirtualTime();

/** A tool that spawns sub-agents and waits for them. */
const research = (team: () => Subagents): TestTool => ({
  name: 'research',
  run: async (
    { task, giveUpMs }: { readonly task: string; readonly giveUpMs?: number },
    { session }: { readonly session: string },
  ) => {
    const spawned = (await team().spawn({ parent: session, agent: 'worker', task })) as Spawned;
    const stop = new AbortController();
    if (giveUpMs !== undefined) setTimeout(() => stop.abort(new Error('Too long.')), giveUpMs);
    return (await spawned.wait(stop.signal)).text;
  },
});

describe('lanes', () => {
  it.each([
    ['by the tool', [says(spawn('a'), spawn('b')), says(wait('w')), 'Done.']],
    ['at their end', [says(spawn('a'), spawn('b')), 'I wait.', 'Still.', 'Done.', 'Done.']],
  ])('are free while any number of parents wait %s', async (_, script) => {
    const lanes = slots(2);
    const parents = Array.from({ length: 5 }, (__, index) => {
      const one = tree({ parent: script, lanes, delayMs: 1, newId: undefined });
      return lanes.run(`boss-${index}`, () => reply(one.agent.turn({ session: `boss-${index}`, input: 'Go' })));
    });
    await pass(1000);
    expect((await Promise.all(parents)).map(({ outcome }) => outcome)).toEqual(
      Array.from({ length: 5 }, () => 'completed'),
    );
    expect(lanes.most).toBe(2);
    expect(lanes.taken).toBe(0);
    expect(lanes.sessions).toHaveLength(15);
  });

  it('are released while sub-agents wait for sub-agents, with one slot for all', async () => {
    const lanes = slots(1);
    const tasks = Object.fromEntries(
      ['5', '4', '3', '2'].map((depth) => [
        depth,
        [
          says(spawn('x', String(Number(depth) - 1)), spawn('y', String(Number(depth) - 1))),
          says(wait('w')),
          `Done ${depth}.`,
        ],
      ]),
    );
    const { agent, contexts } = tree({
      parent: [says(spawn('a', '5')), says(wait('w')), 'Done.'],
      tasks,
      lanes,
      delayMs: 1,
      limits: { concurrency: 1 },
    });
    const done = lanes.run('boss', () => reply(agent.turn({ session: 'boss', input: 'Go' })));
    await pass(2000);
    expect(await done).toMatchObject({ outcome: 'completed' });
    expect(contexts).toHaveLength(31);
    expect(Math.max(...contexts.map(({ depth }) => depth))).toBe(5);
    expect([lanes.most, lanes.taken]).toEqual([1, 0]);
  });

  it('are released while a tool waits for its sub-agents, at the top and below', async () => {
    const lanes = slots(1);
    const tasks = { mid: [says(call('r', 'research', { task: 'deep' })), 'Mid.'], deep: ['Deep.'] };
    const tried = tree({
      parent: [says(call('r', 'research', { task: 'mid' })), 'Done.'],
      tasks,
      tools: [research(() => tried.team)],
      lanes,
      delayMs: 1,
      limits: { concurrency: 1 },
    });
    const done = lanes.run('boss', () => reply(tried.agent.turn({ session: 'boss', input: 'Go' })));
    await pass(100);
    expect([readBy(tried.parent, 1), readBy(tried.children[0] as never, 1)]).toEqual([
      expect.stringContaining('Mid.'),
      expect.stringContaining('Deep.'),
    ]);
    expect(await done).toMatchObject({ outcome: 'completed', steps: 2 });
    expect([lanes.most, lanes.taken]).toEqual([1, 0]);
  });

  it('do not affect code that waits outside of turns, also for ended sub-agents', async () => {
    const { team } = tree({ parent: [], lanes: slots(1) });
    const spawned = (await team.spawn({ parent: 'code', agent: 'worker', task: 'x' })) as Spawned;
    expect(await spawned.wait()).toMatchObject({ status: 'ok', text: 'Done: x' });
    expect(await spawned.wait(AbortSignal.abort())).toBe(await spawned.ended);
  });

  it('are acquired again when a tool stops waiting', async () => {
    const lanes = slots(2);
    const tried = tree({
      parent: [says(call('r', 'research', { task: 'hang', giveUpMs: 50 })), 'Done.'],
      tasks: { hang: [{ never: [] }] },
      tools: [research(() => tried.team)],
      lanes,
    });
    const done = lanes.run('boss', () => reply(tried.agent.turn({ session: 'boss', input: 'Go' })));
    await pass(49);
    expect([tried.parent.requests.length, lanes.taken]).toEqual([1, 1]);
    await pass(1);
    expect(readBy(tried.parent, 1)).toContain('Too long.');
    expect([await done, tried.team.list('boss')]).toMatchObject([{ outcome: 'completed' }, [{ status: 'under-way' }]]);
    await tried.team.cancel('boss');
    await pass(1);
    expect(lanes.taken).toBe(0);
  });

  it('receive the priority and the time limit of a sub-agent, and stop it', async () => {
    const heard: unknown[] = [];
    const stop = new AbortController();
    const lanes: ChildLanes = {
      run: (session, task, { priority, idleTimeoutMs } = {}) => {
        heard.push([session, priority, idleTimeoutMs]);
        return task({ signal: stop.signal, yieldWhile: (work) => work() });
      },
      yieldWhile: (work) => work(),
    };
    const { team } = tree({
      parent: [],
      lanes,
      agents: {
        slow: {
          description: 'Slow.',
          priority: 'background',
          timeoutMs: 5000,
          create: () => new Promise<never>(() => undefined),
        },
      },
      limits: { graceMs: 10 },
    });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'slow', task: 'x' })) as Spawned;
    await pass(1);
    stop.abort(new Error('The lane was preempted.'));
    await pass(10);
    expect(heard).toEqual([['subagent-c1', 'background', 6020]]);
    expect(await spawned.ended).toMatchObject({ status: 'cancelled', reason: 'The lane was preempted.' });
  });

  it('that refuse a sub-agent fail it', async () => {
    const lanes: ChildLanes = { run: () => Promise.reject(new Error('Full.')), yieldWhile: (work) => work() };
    const { team } = tree({ parent: [], lanes });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'x' })) as Spawned;
    expect(await spawned.ended).toMatchObject({ status: 'failed', reason: 'Full.' });
  });
});
