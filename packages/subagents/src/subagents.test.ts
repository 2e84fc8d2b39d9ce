import { harness, type TurnEvent } from '@h/turn';
import { scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { countOf, endOf, readBy, says, spawn, tree, wait } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';

useVirtualTime();

describe('spawn', () => {
  it('returns at once, and delivers the result to a parent that is done earlier', async () => {
    const { run, parent, contexts } = tree({
      parent: [says(spawn('a', 'Look')), 'I wait.', 'It is done.'],
      tasks: { Look: ['Found it.'] },
    });
    const events = await run();
    expect(endOf(events)).toMatchObject({ outcome: 'completed', steps: 3 });
    expect(readBy(parent, 1)).toContain('accepted');
    expect(readBy(parent, 2)).toContain('Found it.');
    expect(countOf(readBy(parent, 2), 'Found it.')).toBe(1);
    expect(contexts).toMatchObject([
      {
        id: 'c1',
        turn: 't1',
        session: 'subagent-c1',
        parent: 'boss',
        root: 'boss',
        depth: 1,
        agent: 'worker',
        task: 'Look',
      },
    ]);
  });

  it('emits notices when it was spawned, has ended and was delivered', async () => {
    const { run } = tree({ parent: [says(spawn('a')), 'I wait.', 'Done.'] });
    const types = (await run()).map(({ type }) => type).filter((type) => type.startsWith('subagent.'));
    expect(types).toEqual(['subagent.spawned', 'subagent.ended', 'subagent.delivered']);
  });

  it('names the parent turn in the metadata', async () => {
    const starts: unknown[] = [];
    const onEvent = (_: unknown, event: TurnEvent): void => {
      if (event.type === 'turn.start') starts.push(event.metadata);
    };
    const { run, team } = tree({ parent: [says(spawn('a')), 'I wait.', 'Done.'], onEvent });
    const events = await run();
    await pass(100);
    expect(starts).toEqual([
      { parentTurn: events[0]?.turn, subagent: { id: 'c1', depth: 1, parent: 'boss', root: 'boss', agent: 'worker' } },
    ]);
    const alone = await team.spawn({ parent: 'boss', agent: 'worker', task: 'b' });
    if (alone.status === 'accepted') await Promise.all([alone.ended, pass(100)]);
    expect(starts[1]).toEqual({ subagent: { id: 'c2', depth: 1, parent: 'boss', root: 'boss', agent: 'worker' } });
  });

  it('marks results as evidence with the given wrapper', async () => {
    const wrap = (text: string, { source }: { source: string }): string => `[[${source}: ${text}]]`;
    const { run, parent } = tree({ parent: [says(spawn('a')), '…', '!'], wrap });
    await run();
    expect(readBy(parent, 2)).toContain('[[sub-agent worker c1: Done: a]]');
  });

  it.each([
    ['an unknown agent', { agent: 'nobody' }, 'unknown-agent'],
    ['an empty task', { task: ' ' }, 'invalid-task'],
  ])('refuses %s with an answer', async (_, more, code) => {
    const { run, parent, team } = tree({ parent: [says(spawn('a', 'x', more)), 'Well.'] });
    const events = await run();
    expect(events.find(({ type }) => type === 'subagent.refused')).toMatchObject({ code });
    expect(readBy(parent, 1)).toContain(code);
    expect(team.list('boss')).toEqual([]);
  });

  it('runs up to limits.concurrency at a time, and the others in order', async () => {
    const started: string[] = [];
    const { run } = tree({
      parent: [says(...['a', 'b', 'c', 'd', 'e'].map((id) => spawn(id))), '…', '…', '…', '…', '…', '!'],
      limits: { concurrency: 2 },
      delayMs: 10,
      childOperators: ({ task }) => (started.push(task), []),
    });
    const done = run();
    await pass(75);
    expect(started).toEqual(['a', 'b']);
    await pass(1000);
    expect(started).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(endOf(await done)).toMatchObject({ outcome: 'completed' });
  });

  it('truncates a long result and stores it in full', async () => {
    const kept: string[] = [];
    const long = `start ${'x'.repeat(5000)} end`;
    const artifacts = {
      put: ({ content, session, external }: { content: string; session: string; external: boolean }) => (
        kept.push(content),
        { id: `art-${session}-${external}` }
      ),
    };
    const { run, parent } = tree({
      parent: [says(spawn('a')), '…', '!'],
      tasks: { a: [long] },
      artifacts,
      limits: { resultChars: 300 },
    });
    await run();
    const read = readBy(parent, 2);
    expect(read.length).toBeLessThan(3000);
    expect(read).toContain('art-boss-true');
    expect(read).toContain(' end');
    expect(kept).toEqual([long]);
  });

  it.each<[string, () => Promise<never>, RegExp]>([
    ['fails', () => Promise.reject(new Error('The disk is full.')), /could not be stored: The disk is full\./],
    ['hangs', () => new Promise<never>(() => undefined), /was not stored within the time limit/],
  ])('reports that a long result is not stored if its store %s', async (_, put, why) => {
    const { run, parent } = tree({
      parent: [says(spawn('a')), says(wait('w')), '!'],
      tasks: { a: ['x'.repeat(500)] },
      artifacts: { put },
      limits: { resultChars: 100, graceMs: 50 },
    });
    const done = run();
    await pass(100);
    await done;
    const read = readBy(parent, 2);
    expect(read).toMatch(/ended: ok/);
    expect(read).toMatch(why);
  });

  it('reports that a sub-agent without text delivered nothing', async () => {
    const { run, parent } = tree({ parent: [says(spawn('a')), '…', '!'], tasks: { a: [says()] } });
    await run();
    expect(readBy(parent, 2)).toContain('its result is missing');
  });

  it('informs the parent of a sub-agent whose model fails', async () => {
    const { run, parent } = tree({
      parent: [says(spawn('a')), says(wait('w')), '!'],
      tasks: { a: [{ error: { name: 'Error', message: 'No credit.' } }] },
    });
    await run();
    expect(readBy(parent, 2)).toMatch(/ended: failed \(error\).*No credit/);
  });

  it('informs the parent of a sub-agent that cannot be created or has no guard', async () => {
    const agents = {
      broken: { description: 'Cannot be made.', create: () => Promise.reject(new Error('No parts.')) },
      naked: { description: 'Has no guard.', create: () => harness({ model: scriptedModel(['Free!']) }).pipe() },
    };
    const { run, parent } = tree({
      agents,
      parent: [says(spawn('a', 'a', { agent: 'broken' }), spawn('b', 'b', { agent: 'naked' })), says(wait('w')), '!'],
    });
    await run();
    expect(readBy(parent, 2)).toMatch(/failed.*No parts\..*failed.*has no guard/);
    expect(readBy(parent, 2)).not.toContain('Free!');
  });
});
