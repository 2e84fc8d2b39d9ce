import type { JSONObject, ToolRunContext } from '@h/turn';
import { describe, expect, it } from 'vitest';
import { countOf, endOf, readBy, says, spawn, tree, wait } from '../../test/tree.js';
import { pass, useVirtualTime } from '../../test/virtual-time.js';
import { type ChildEnd, type Spawned } from '../index.js';
import { memoryChildStore } from '../../test/memory-child-store.js';

useVirtualTime();

const after = (ms: number) => ({ delayMs: ms });

describe('results', () => {
  it('arrive through the tool wait, including earlier results', async () => {
    const { run, parent } = tree({
      parent: [
        says(spawn('a'), spawn('b')),
        says({ type: 'tool-call', toolCallId: 'n', toolName: 'nap', input: {} }, wait('w')),
        'Done.',
      ],
      tools: [{ name: 'nap', run: () => 'slept' }],
    });
    await run();
    const read = readBy(parent, 2);
    expect([countOf(read, 'Done: a'), countOf(read, 'Done: b')]).toEqual([1, 1]);
  });

  it('arrive once, with or without a waiting call', async () => {
    const { run, parent } = tree({
      parent: [
        says(spawn('a'), spawn('b')),
        says(wait('w1', { children: ['c1'] })),
        says(wait('w2')),
        says(wait('w3')),
        'Done.',
      ],
    });
    const events = await run();
    expect(endOf(events)).toMatchObject({ outcome: 'completed', steps: 5 });
    const read = readBy(parent, 4);
    expect([countOf(read, 'Done: a'), countOf(read, 'Done: b')]).toEqual([1, 1]);
    expect(read).toContain('nothing to wait for');
  });

  it('arrive once for two concurrent waits', async () => {
    const { run, parent } = tree({ parent: [says(spawn('a')), says(wait('w1'), wait('w2')), 'Done.'], ...after(5) });
    const done = run();
    await pass(500);
    await done;
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
    expect(countOf(readBy(parent, 2), 'given to you already')).toBe(1);
  });

  it('arrive with one wait for twenty sub-agents that end in any order', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `job-${index}.`);
    const { run, parent } = tree({
      parent: [says(...names.map((name) => spawn(name))), says(wait('w')), 'Done.'],
      limits: { concurrency: 7 },
      ...after(3),
    });
    const done = run();
    await pass(5000);
    await done;
    for (const name of names) expect(countOf(readBy(parent, 2), `Done: ${name}`)).toBe(1);
  });

  it('that miss the deadline of a wait are reported as timed out and delivered later', async () => {
    const { run, parent } = tree({
      parent: [says(spawn('quick'), spawn('slow')), says(wait('w', { timeoutMs: 300 })), 'I continue.', 'All done.'],
      tasks: { slow: [says({ type: 'tool-call', toolCallId: 'n', toolName: 'nap', input: {} }), 'Slow result.'] },
      tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 1000, 'slept')) }],
    });
    const done = run();
    await pass(299);
    expect(parent.requests).toHaveLength(2);
    await pass(1);
    expect(readBy(parent, 2)).toContain('Done: quick');
    expect(readBy(parent, 2)).toMatch(/c2 \(worker\): timed out/);
    expect(readBy(parent, 2)).not.toContain('Slow result');
    await pass(1000);
    await done;
    expect(countOf(readBy(parent, 3), 'Slow result.')).toBe(1);
  });

  it('are delivered even if the wait names unknown ids', async () => {
    const { run, parent } = tree({
      parent: [
        says(spawn('a')),
        says(wait('w', { children: ['c1', 'c1', 'c9'] })),
        says(wait('v', { children: ['c9'] })),
        'Done.',
      ],
    });
    await run();
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
    expect(countOf(readBy(parent, 3), 'is not one of your sub-agents')).toBe(2);
  });

  it('arrive between two steps of a working parent without skipping its calls', async () => {
    const nap = (id: string) => ({ type: 'tool-call', toolCallId: id, toolName: 'nap', input: {} }) as const;
    const { run, parent } = tree({
      parent: [says(spawn('a'), nap('n0')), says(nap('n1'), nap('n2')), 'Done.'],
      tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 100, 'slept')) }],
    });
    const done = run();
    await pass(1000);
    const events = await done;
    expect(
      events.filter(({ type }) => type === 'tool.result').map((event) => 'status' in event && event.status),
    ).toEqual(['ok', 'ok', 'ok', 'ok']);
    const roles = parent.requests[1]?.messages.toArray().map(({ role }) => role);
    expect(roles).toEqual(['user', 'assistant', 'tool', 'user']);
    expect(countOf(readBy(parent, 2), 'Done: a')).toBe(1);
  });

  it('end a wait early when new input arrives', async () => {
    const { agent, run, parent, team } = tree({
      parent: [says(spawn('a')), says(wait('w')), 'Hello to you.', 'Done.'],
      tasks: { a: [says({ type: 'tool-call', toolCallId: 'n', toolName: 'nap', input: {} }), 'Late.'] },
      tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 1000, 'slept')) }],
    });
    const done = run();
    await pass(10);
    expect(agent.steer('boss', 'Hello?')).toBe(true);
    await pass(1);
    expect(readBy(parent, 2)).toMatch(/because a message arrived.*Hello\?/);
    expect(team.list('boss')).toMatchObject([{ status: 'under-way' }]);
    await pass(1000);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed' });
    expect(countOf(readBy(parent, 3), 'Late.')).toBe(1);
  });

  it('let a parent that waits at its end receive new input', async () => {
    const { agent, run, parent } = tree({
      parent: [says(spawn('a')), 'I wait.', 'Hello to you.', 'Done.'],
      tasks: { a: [says({ type: 'tool-call', toolCallId: 'n', toolName: 'nap', input: {} }), 'Late.'] },
      tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 1000, 'slept')) }],
    });
    const done = run();
    await pass(10);
    agent.steer('boss', 'Hello?');
    await pass(1);
    expect(readBy(parent, 2)).toContain('Hello?');
    await pass(1000);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed', steps: 4 });
    expect(countOf(readBy(parent, 3), 'Late.')).toBe(1);
  });

  it('are delivered again if the call that received them was aborted', async () => {
    const tools = [
      {
        name: 'flaky',
        run: async (
          input: JSONObject,
          context: ToolRunContext & { readonly call: { readonly id: string } },
        ): Promise<unknown> => {
          await team.tools[1].run(input, context);
          throw new Error('Aborted.');
        },
      },
    ];
    const { run, parent, team } = tree({
      parent: [
        says(spawn('a')),
        says({ type: 'tool-call', toolCallId: 'f', toolName: 'flaky', input: {} }),
        'Done.',
        'Done.',
      ],
      tasks: { a: [says({ type: 'tool-call', toolCallId: 'n', toolName: 'none', input: {} }), 'Found.'] },
      tools,
      delayMs: 5,
    });
    const done = run();
    await pass(200);
    await done;
    expect(countOf(readBy(parent, 2), 'Aborted.')).toBe(1);
    expect(countOf(readBy(parent, parent.requests.length - 1), 'Found.')).toBe(1);
  });

  it('are recognized as delivered also before many other messages', async () => {
    const { agent, team, parent } = tree({
      parent: [says(spawn('a')), 'Bye.', 'News.'],
      parentEnd: 'detach',
      delayMs: 5,
    });
    agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(100);
    expect(team.list('boss')).toMatchObject([{ status: 'ok' }]);
    agent
      .turn({
        session: 'boss',
        input: Array.from({ length: 20 }, (_, index) => ({ role: 'user' as const, content: `And ${index}?` })),
      })
      .subscribe();
    await pass(4);
    expect(parent.requests).toHaveLength(3);
    expect(team.list('boss')).toEqual([]);
    await pass(100);
  });

  it('leave no state behind once they were delivered', async () => {
    const store = memoryChildStore();
    const { run, team } = tree({
      parent: [says(spawn('a'), spawn('b')), says(wait('w', { children: ['c1'] })), '…', 'Done.'],
      store,
    });
    await run();
    await pass(1);
    expect(await store.list()).toEqual([]);
    expect(team.list('boss')).toEqual([]);
  });

  it('of sub-agents that code spawned are not delivered to the parent', async () => {
    const ends: ChildEnd[] = [];
    const { team, run, parent } = tree({ parent: ['Hi.'] });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'x' })) as Spawned;
    ends.push(await spawned.ended);
    await run();
    expect(ends).toMatchObject([
      { child: 'c1', status: 'ok', text: 'Done: x', steps: 1, usage: { input: 10, output: 5 } },
    ]);
    expect(readBy(parent, 0)).not.toContain('Done: x');
    expect(team.list('boss')).toEqual([]);
  });
});

describe('parentEnd', () => {
  const slow = {
    tasks: { a: [says({ type: 'tool-call' as const, toolCallId: 'n', toolName: 'nap', input: {} }), 'Late.'] },
    tools: [{ name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 1000, 'slept')) }],
  };

  it('detach: lets the parent end, wakes it, and begins its next turn with the result', async () => {
    const woken: unknown[] = [];
    const { run, parent, team } = tree({
      ...slow,
      parent: [says(spawn('a')), 'Bye.', 'Oh, news.'],
      parentEnd: 'detach',
      wake: (session, ends) => woken.push([session, ends.map(({ child }) => child)]),
    });
    const done = run();
    await pass(1);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed', steps: 2 });
    expect(woken).toEqual([]);
    await pass(1000);
    expect(woken).toEqual([['boss', ['c1']]]);
    expect(team.list('boss')).toMatchObject([{ id: 'c1', status: 'ok' }]);
    await run('Anything new?');
    const messages = parent.requests[2]?.messages.toArray() ?? [];
    expect(JSON.stringify(messages.at(-2))).toContain('Late.');
    expect(messages.at(-1)).toMatchObject({ role: 'user', content: 'Anything new?' });
    expect(team.list('boss')).toEqual([]);
  });

  it('detach: forgets unread results on request', async () => {
    const { run, team } = tree({ ...slow, parent: [says(spawn('a')), 'Bye.'], parentEnd: 'detach' });
    const done = run();
    await pass(2000);
    await done;
    team.forget('boss');
    expect(team.list('boss')).toEqual([]);
  });

  it('detach: a sub-agent waits for its own, because it has no next turn', async () => {
    const { run, children } = tree({
      ...slow,
      parent: [says(spawn('mid')), 'Bye.'],
      tasks: { ...slow.tasks, mid: [says(spawn('a')), 'I wait.', 'Got it.'] },
      parentEnd: 'detach',
    });
    const done = run();
    await pass(2000);
    await done;
    expect(readBy(children[0] as never, 2)).toContain('Late.');
  });

  it('cancel: cancels them and informs the next turn', async () => {
    const woken: string[] = [];
    const { run, parent, team, children } = tree({
      ...slow,
      parent: [says(spawn('a')), 'Bye.', 'I see.'],
      parentEnd: 'cancel',
      wake: (session) => woken.push(session),
    });
    const done = run();
    await pass(1);
    await done;
    expect(team.list('boss')).toMatchObject([{ status: 'cancelled' }]);
    expect(children[0]?.active).toBe(0);
    await run('And?');
    expect(readBy(parent, 2)).toMatch(/ended: cancelled/);
    expect(woken).toEqual([]);
  });
});
