import { intercept, deny, type ApprovalDecision, type TurnEvent, type TurnOperator } from '@h/turn';
import { call } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { endOf, readBy, says, spawn, tree } from '../test/tree.js';
import { pass, useVirtualTime } from '../test/virtual-time.js';
import type { ChildQuestion } from './child/kind.js';

useVirtualTime();

/** Requests approval for each call of `rm`, as `@h/hooks` does. */
const asking = (): TurnOperator =>
  intercept('asking', ({ emit }) => {
    const waiting = new Map<string, (decision: ApprovalDecision) => void>();
    return {
      observe: { 'approval.answer': (event) => waiting.get(event.id)?.(event) },
      decide: {
        'tool.call': (event) => {
          if (event.call.name !== 'rm') return undefined;
          const id = `${event.turn}:${event.call.id}`;
          emit({ type: 'approval.request', id, reason: 'It deletes.', call: event.call });
          return new Promise(
            (resolve) =>
              void waiting.set(id, ({ decision, reason }) =>
                resolve(decision === 'deny' ? deny(event, reason ?? 'No.') : event),
              ),
          );
        },
      },
    };
  });

const rm = { name: 'rm', run: () => 'removed' };
const tasks = {
  clean: [says(call('r', 'rm')), 'Cleaned.'],
  mid: [says(spawn('x', 'clean')), 'I wait.', 'Mid is done.'],
};

describe('approvals', () => {
  it.each<[string, string, string, RegExp]>([
    ['a sub-agent', 'clean', 'c1/t1:r', /Sub-agent worker \(c1\): It deletes\./],
    ['one below it', 'mid', 'c1/c2/t2:r', /Sub-agent worker \(c1\): Sub-agent worker \(c2\): It deletes\./],
  ])('of %s are asked in the turn of the parent, and answered there', async (_, task, id, reason) => {
    const { agent, children } = tree({
      parent: [says(spawn('a', task)), 'I wait.', 'Done.'],
      tasks,
      tools: [rm],
      childOperators: () => [asking()],
    });
    const events: TurnEvent[] = [];
    agent.turn({ session: 'boss', input: 'Go' }).subscribe((event) => events.push(event));
    await pass(10);
    const asked = events.find(({ type }) => type === 'approval.request');
    expect(asked).toMatchObject({ id, call: { name: 'rm' }, reason: expect.stringMatching(reason) as string });
    expect(agent.running()).toMatchObject([{ state: 'waiting-for-input' }]);
    expect(agent.answer(id, 'once')).toBe(true);
    await pass(10);
    expect(endOf(events)).toMatchObject({ outcome: 'completed' });
    expect(children.map((model) => readBy(model, 1)).join('\n')).toContain('removed');
  });

  it('contain the reason of a denial', async () => {
    const { agent, children } = tree({
      parent: [says(spawn('a', 'clean')), 'I wait.', 'Done.'],
      tasks,
      tools: [rm],
      childOperators: () => [asking()],
    });
    agent.turn({ session: 'boss', input: 'Go' }).subscribe();
    await pass(10);
    agent.answer('c1/t1:r', { decision: 'deny', reason: 'Not today.' });
    await pass(10);
    expect(readBy(children[0] as never, 1)).toContain('Not today.');
  });

  it('go to the app if the parent has no turn', async () => {
    const questions: ChildQuestion[] = [];
    const { team, children } = tree({
      parent: [],
      tasks,
      tools: [rm],
      childOperators: () => [asking()],
      onApproval: (question) => questions.push(question),
    });
    await team.spawn({ parent: 'boss', agent: 'worker', task: 'clean' });
    await pass(10);
    expect(questions).toMatchObject([{ child: { id: 'c1', parent: 'boss' }, request: { id: 't1:r' } }]);
    expect(questions[0]?.answer({ decision: 'once' })).toBe(true);
    await pass(10);
    expect(readBy(children[0] as never, 1)).toContain('removed');
    expect(questions[0]?.answer({ decision: 'once' })).toBe(false);
  });

  it('are denied if the parent has no turn and the app does not answer', async () => {
    const { team, children } = tree({ parent: [], tasks, tools: [rm], childOperators: () => [asking()] });
    await team.spawn({ parent: 'boss', agent: 'worker', task: 'clean' });
    await pass(10);
    expect(readBy(children[0] as never, 1)).toContain('has no running turn');
  });

  it('are forwarded to the app when the turn of the parent ends', async () => {
    const questions: ChildQuestion[] = [];
    const { run, children } = tree({
      parent: [says(spawn('a', 'clean')), says(call('n', 'nap')), 'Bye.'],
      parentEnd: 'detach',
      tasks,
      tools: [rm, { name: 'nap', run: () => new Promise((resolve) => void setTimeout(resolve, 50, 'slept')) }],
      childOperators: () => [asking()],
      onApproval: (question) => questions.push(question),
    });
    const done = run();
    await pass(40);
    expect(questions).toEqual([]);
    await pass(20);
    await done;
    expect(questions).toHaveLength(1);
    questions[0]?.answer({ decision: 'once' });
    await pass(10);
    expect(readBy(children[0] as never, 1)).toContain('removed');
  });

  it('are withdrawn when the sub-agent has ended', async () => {
    const { agent, team } = tree({
      parent: [says(spawn('a', 'clean')), 'I wait.', 'Done.'],
      tasks,
      tools: [rm],
      childOperators: () => [asking()],
    });
    const events: TurnEvent[] = [];
    agent.turn({ session: 'boss', input: 'Go' }).subscribe((event) => events.push(event));
    await pass(10);
    await team.cancel('boss');
    await pass(10);
    expect(events.find(({ type }) => type === 'approval.answer')).toMatchObject({ id: 'c1/t1:r', decision: 'deny' });
    expect(agent.answer('c1/t1:r', 'once')).toBe(false);
    expect(endOf(events)).toMatchObject({ outcome: 'completed' });
  });
});
