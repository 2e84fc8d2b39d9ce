import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planned } from '../../test/projects.js';
import { ContinuityError } from '../errors.js';
import {
  attemptsOf,
  blockTask,
  claimNext,
  claimTask,
  completeTask,
  releaseClaims,
  releaseGone,
  renewClaims,
  taskOf,
  unblockTask,
} from './changes.js';
import { beginWork, emptyProgress, planTasks } from './planning.js';
import { progressSchema, type Progress, type Task } from './schema.js';
import { isHeld, selectTask } from './select-task.js';

const leaseMs = 1_000;
const evidence = { summary: 'It works.', acceptedBy: 'alice' };
const working = (...ids: readonly string[]): Progress => beginWork(planTasks(emptyProgress('Goal'), planned(...ids)));
const code = (work: () => unknown): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof ContinuityError ? error.code : String(error);
  }
};

describe('claimTask', () => {
  it('grants a task to one owner until its lease expires', () => {
    const claimed = claimTask(working('a'), 'a', { owner: 'one', at: 0, leaseMs });
    expect(code(() => claimTask(claimed, 'a', { owner: 'two', at: 999, leaseMs }))).toBe('claim-lost');
    const taken = claimTask(claimed, 'a', { owner: 'two', at: 1_000, leaseMs });
    expect(taskOf(taken, 'a').claim).toMatchObject({ owner: 'two', generation: 2 });
    expect(code(() => completeTask(taken, 'a', evidence, { owner: 'one', at: 1_001 }))).toBe('claim-lost');
  });

  it('renews the claim of its owner', () => {
    const claimed = renewClaims(claimTask(working('a'), 'a', { owner: 'one', at: 0, leaseMs }), {
      owner: 'one',
      at: 900,
      leaseMs,
    });
    expect(code(() => claimTask(claimed, 'a', { owner: 'two', at: 1_800, leaseMs }))).toBe('claim-lost');
  });

  it('counts an attempt for each session, and again after the task was unblocked', () => {
    const by = (owner: string, at: number) => ({ owner, at, leaseMs });
    const released = releaseClaims(claimTask(working('a'), 'a', by('one', 0)), 'one');
    const again = claimTask(released, 'a', by('one', 1));
    const other = claimTask(releaseClaims(again, 'one'), 'a', by('two', 2));
    const unblocked = unblockTask(blockTask(other, 'a', 'No key.', { owner: 'two' }), 'a');
    const after = claimTask(unblocked, 'a', by('two', 3));
    expect([released, again, other, unblocked, after].map((progress) => attemptsOf(taskOf(progress, 'a')))).toEqual([
      1, 1, 2, 0, 1,
    ]);
  });

  it('asks the session that worked on a released task to claim it again, and others to claim it', () => {
    const released = releaseClaims(claimTask(working('a'), 'a', { owner: 'one', at: 0, leaseMs }), 'one');
    expect(() => completeTask(released, 'a', evidence, { owner: 'one', at: 1 })).toThrow('claim it again');
    expect(() => completeTask(released, 'a', evidence, { owner: 'two', at: 1 })).toThrow('Claim it first');
    const [task] = released.tasks;
    const reset: Progress = { ...released, tasks: [{ ...task, status: 'todo' } as Task] };
    expect(() => completeTask(reset, 'a', evidence, { owner: 'one', at: 1 })).toThrow('Claim it first');
  });

  it('rejects tasks that are done, blocked or not ready', () => {
    const progress = beginWork(
      planTasks(
        emptyProgress('Goal'),
        planned('a', 'b').map((task) => (task.id === 'b' ? { ...task, dependsOn: ['a'] } : task)),
      ),
    );
    expect(code(() => claimTask(progress, 'b', { owner: 'one', at: 0, leaseMs }))).toBe('not-ready');
    const claimed = claimTask(progress, 'a', { owner: 'one', at: 0, leaseMs });
    const done = completeTask(claimed, 'a', evidence, { owner: 'one', at: 1 });
    expect(code(() => claimTask(done, 'a', { owner: 'one', at: 2, leaseMs }))).toBe('not-ready');
    expect(code(() => claimTask(done, 'b', { owner: 'one', at: 2, leaseMs }))).toBeUndefined();
    expect(code(() => claimTask(done, 'x', { owner: 'one', at: 2, leaseMs }))).toBe('unknown-task');
  });
});

describe('releaseGone', () => {
  it('releases claims of processes that have ended, and retains the others', () => {
    const mark = { machine: 'm', boot: 'b', start: '1' };
    const marks = { dead: { ...mark, pid: 1 }, alive: { ...mark, pid: 2 } };
    const claimed = claimTask(
      claimTask(claimTask(working('a', 'b', 'c'), 'a', { owner: 'one', at: 0, leaseMs, process: marks.dead }), 'b', {
        owner: 'two',
        at: 0,
        leaseMs,
        process: marks.alive,
      }),
      'c',
      { owner: 'three', at: 0, leaseMs },
    );
    const after = releaseGone(claimed, ({ pid }) => pid === 1);
    expect(after.tasks.map(({ claim, lastOwner }) => [claim?.owner, lastOwner])).toEqual([
      [undefined, 'one'],
      ['two', 'two'],
      ['three', 'three'],
    ]);
    expect(releaseGone(after, ({ pid }) => pid === 1)).toBe(after);
    // The session continues in another process.
    expect(
      taskOf(renewClaims(claimed, { owner: 'one', at: 1, leaseMs, process: marks.alive }), 'a').claim?.process,
    ).toEqual(marks.alive);
  });
});

describe('completeTask', () => {
  it('requires a claim, and evidence of a passed check', () => {
    const progress = working('a');
    expect(code(() => completeTask(progress, 'a', evidence, { owner: 'one', at: 0 }))).toBe('not-claimed');
    const claimed = claimTask(progress, 'a', { owner: 'one', at: 0, leaseMs });
    expect(code(() => completeTask(claimed, 'a', { summary: 'I am sure.' }, { owner: 'one', at: 1 }))).toBe(
      'evidence-missing',
    );
    expect(code(() => completeTask(claimed, 'a', { ...evidence, summary: ' ' }, { owner: 'one', at: 1 }))).toBe(
      'evidence-missing',
    );
    const failed = {
      summary: 'Nearly.',
      check: { command: 'npm test', exitCode: 1, at: '2026-11-21T00:00:00.000Z', output: '' },
    };
    expect(code(() => completeTask(claimed, 'a', failed as never, { owner: 'one', at: 1 }))).toBe('evidence-missing');
    expect(taskOf(completeTask(claimed, 'a', evidence, { owner: 'one', at: 1 }), 'a')).toMatchObject({
      status: 'done',
      evidence,
    });
  });
});

describe('blockTask', () => {
  it('blocks a task until it is unblocked', () => {
    const claimed = claimTask(working('a'), 'a', { owner: 'one', at: 0, leaseMs });
    const blocked = blockTask(claimed, 'a', 'No key.', { owner: 'one' });
    expect(selectTask(blocked, 'one', 1)).toMatchObject({
      kind: 'blocked',
      tasks: [{ id: 'a', blockedBy: 'No key.' }],
    });
    expect(selectTask(unblockTask(blocked, 'a'), 'two', 1)).toMatchObject({ kind: 'task', isResumed: true });
    expect(code(() => unblockTask(claimed, 'a'))).toBe('not-ready');
  });
});

describe('selectTask', () => {
  it('resumes interrupted tasks before new ones, its own first', () => {
    const begun = releaseClaims(claimTask(working('a', 'b', 'c'), 'b', { owner: 'one', at: 0, leaseMs }), 'one');
    expect(selectTask(begun, 'two', 1)).toMatchObject({ task: { id: 'b' }, isResumed: true });
    const both = releaseClaims(claimTask(begun, 'a', { owner: 'two', at: 1, leaseMs }), 'two');
    expect(selectTask(both, 'one', 2)).toMatchObject({ task: { id: 'b' } });
    expect(selectTask(both, 'two', 2)).toMatchObject({ task: { id: 'a' } });
  });

  it('skips a task that was begun and has a new dependency', () => {
    const begun = releaseClaims(claimTask(working('a', 'b'), 'a', { owner: 'one', at: 0, leaseMs }), 'one');
    const edited: Progress = {
      ...begun,
      tasks: begun.tasks.map((task) => (task.id === 'a' ? { ...task, dependsOn: ['b'] } : task)),
    };
    const next = claimNext(edited, { owner: 'one', at: 1, leaseMs });
    expect(next.tasks.map(({ claim }) => claim?.owner)).toEqual([undefined, 'one']);
    const blocked = blockTask(next, 'b', 'No key.', { owner: 'one' });
    expect(selectTask(blocked, 'one', 2)).toMatchObject({ kind: 'blocked', tasks: [{ id: 'b' }] });
    expect(selectTask(completeTask(next, 'b', evidence, { owner: 'one', at: 2 }), 'one', 3)).toMatchObject({
      task: { id: 'a' },
      isResumed: true,
    });
  });

  it('ignores a claim from a clock that was years ahead', () => {
    const future = Date.UTC(2099, 0);
    const claimed = claimTask(working('a'), 'a', { owner: 'one', at: future, leaseMs });
    expect(selectTask(claimed, 'two', Date.UTC(2026, 0)).kind).toBe('task');
    expect(selectTask(claimed, 'two', future - 3_600_000).kind).toBe('taken');
    const setBack = renewClaims(claimed, { owner: 'one', at: future - 3_600_000, leaseMs });
    expect(selectTask(setBack, 'two', future - 3_600_000 + leaseMs)).toMatchObject({ kind: 'task', isResumed: true });
  });

  it('selects from 5,000 tasks that depend on each other', () => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `t${index}`);
    const progress = beginWork(
      planTasks(
        emptyProgress('Goal'),
        planned(...ids).map((task, index) => ({ ...task, dependsOn: ids.slice(Math.max(0, index - 5), index) })),
      ),
    );
    const blocked: Progress = {
      ...progress,
      tasks: progress.tasks.map((task, index) =>
        index === 0 ? { ...task, status: 'blocked', blockedBy: 'No key.' } : task,
      ),
    };
    for (let round = 0; round < 20; round += 1) expect(selectTask(blocked, 'one', 0).kind).toBe('blocked');
    expect(
      progressSchema.safeParse({
        ...progress,
        tasks: progress.tasks.map((task, index) => ({ ...task, dependsOn: index === 0 ? [] : ['t0'] })),
      }).success,
    ).toBe(true);
  });

  it('returns why no task is free', () => {
    expect(selectTask(emptyProgress('Goal'), 'one', 0)).toEqual({ kind: 'no-tasks' });
    const claimed = claimTask(working('a'), 'a', { owner: 'one', at: 0, leaseMs });
    expect(selectTask(claimed, 'two', 1)).toMatchObject({ kind: 'taken', freeAt: '1970-01-01T00:00:01.000Z' });
    expect(selectTask(completeTask(claimed, 'a', evidence, { owner: 'one', at: 1 }), 'two', 1)).toEqual({
      kind: 'all-done',
      count: 1,
    });
  });
});

type Command =
  | { readonly do: 'claim' | 'renew' | 'release' | 'complete' | 'block'; readonly owner: string; readonly task: number }
  | { readonly do: 'unblock'; readonly owner: string; readonly task: number }
  | { readonly do: 'wait'; readonly owner: string; readonly task: number };

describe('the progress of several owners', () => {
  it('satisfies the invariants in any order of changes', () => {
    const commands = fc.array(
      fc.record({
        do: fc.constantFrom<Command['do']>(
          'claim',
          'claim',
          'renew',
          'release',
          'complete',
          'complete',
          'block',
          'unblock',
          'wait',
        ),
        owner: fc.constantFrom('one', 'two', 'three'),
        task: fc.nat(3),
      }),
      { maxLength: 60 },
    );
    const dependencies = fc.array(fc.nat(3), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(commands, dependencies, (all, needs) => {
        const tasks = planned('t0', 't1', 't2', 't3').map((task, index) => ({
          ...task,
          dependsOn: (needs[index] ?? 0) < index ? [`t${needs[index]}`] : [],
        }));
        let progress = beginWork(planTasks(emptyProgress('Goal'), tasks));
        let at = 0;
        for (const command of all) {
          at += command.do === 'wait' ? 700 : 10;
          const before = progress;
          progress = attempt(before, command, at);
          expect(progressSchema.safeParse(progress).error).toBeUndefined();
          for (const [index, task] of progress.tasks.entries()) {
            const was = before.tasks[index] ?? task;
            expect(was.status === 'done' && task !== was, 'a finished task is unchanged').toBe(false);
            expect(task.generation).toBeGreaterThanOrEqual(was.generation);
            const isTaken = was.claim !== undefined && task.claim !== undefined && task.claim.owner !== was.claim.owner;
            expect(isTaken && isHeld(was, at), 'a live claim was taken').toBe(false);
            if (task.status === 'done' && was.status !== 'done') expect(was.claim?.owner).toBe(command.owner);
          }
          for (const owner of ['one', 'two', 'three']) {
            expect(
              progress.tasks.filter(({ claim }) => claim?.owner === owner).length,
              'one task at a time',
            ).toBeLessThanOrEqual(1);
            expect(['task', 'taken', 'blocked', 'all-done']).toContain(selectTask(progress, owner, at).kind);
          }
        }
        expect(
          finish(progress, at).tasks.every(
            ({ status }) => status === 'done' || status === 'blocked' || needsBlocked(progress, status),
          ),
        ).toBe(true);
      }),
    );
  });
});

const attempt = (progress: Progress, command: Command, at: number): Progress => {
  const { owner } = command;
  const own = progress.tasks.find(({ claim }) => claim?.owner === owner)?.id ?? `t${command.task}`;
  try {
    switch (command.do) {
      case 'claim':
        return claimNext(progress, { owner, at, leaseMs });
      case 'renew':
        return renewClaims(progress, { owner, at, leaseMs });
      case 'release':
        return releaseClaims(progress, owner);
      case 'complete':
        return completeTask(progress, own, evidence, { owner, at });
      case 'block':
        return blockTask(progress, own, 'Stuck.', { owner });
      case 'unblock':
        return unblockTask(progress, `t${command.task}`);
      default:
        return progress;
    }
  } catch (error) {
    expect(error).toBeInstanceOf(ContinuityError);
    return progress;
  }
};

/** One owner finishes all remaining tasks. */
const finish = (progress: Progress, at: number): Progress => {
  let now = at + 10 * leaseMs;
  let current = progress;
  for (let round = 0; round < 10; round += 1) {
    now += 1;
    const next = selectTask(current, 'last', now);
    if (next.kind !== 'task') return current;
    current = completeTask(
      claimTask(current, next.task.id, { owner: 'last', at: now, leaseMs }),
      next.task.id,
      evidence,
      { owner: 'last', at: now },
    );
  }
  throw new Error('It does not come to an end.');
};

/** Tasks that depend on a blocked one remain to do. */
const needsBlocked = (progress: Progress, status: string): boolean =>
  status === 'todo' && progress.tasks.some((task) => task.status === 'blocked');
