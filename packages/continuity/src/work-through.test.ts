import { writeFile } from 'node:fs/promises';
import { response, scriptedModel } from '@h/turn/testing';
import { reply } from '@h/turn';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { agentOf, use } from '../test/agents.js';
import { temporaryFolder } from '../test/folders.js';
import { manualClock, planned, projectWith, scriptedCheck } from '../test/projects.js';
import { blockTask, claimNext, claimTask, completeTask, releaseClaims } from './progress/changes.js';
import { beginWork, planTasks } from './progress/planning.js';
import { openProject, type Project } from './project.js';
import { workThrough, type PlannedSession } from './work-through.js';

const accepted = { summary: 'Done.', acceptedBy: 'Ann' };
const finish = (project: Project, owner: string) =>
  project.progress.update((current) => {
    const claimed = claimNext(current, { owner, at: project.clock(), leaseMs: project.leaseMs });
    const mine = claimed.tasks.find(({ claim }) => claim?.owner === owner);
    return mine === undefined ? current : completeTask(claimed, mine.id, accepted, { owner, at: project.clock() });
  });
const completed = { outcome: 'completed' } as const;

describe('the status of a project', () => {
  it('says what can be done now, and why nothing can', async () => {
    const { clock, pass } = manualClock();
    const project = openProject({ folder: await temporaryFolder(), clock, leaseMs: 60_000 });
    expect(await project.status()).toMatchObject({ file: 'missing', next: { kind: 'plan' }, text: 'Nothing is planned yet.' });
    await project.progress.initialize({ format: 'agent-progress', version: 1, revision: 0, phase: 'initializing', goal: 'A shop', tasks: [] }, (current) => planTasks(current, planned('a', 'b')));
    expect(await project.status()).toMatchObject({ file: 'ready', goal: 'A shop', next: { kind: 'plan' }, text: '0 of 2 tasks are done. The first session has not been completed.' });
    await project.progress.update(beginWork);
    expect(await project.status()).toMatchObject({ next: { kind: 'work', task: { id: 'a' }, isResumed: false }, counts: { todo: 2, inProgress: 0, done: 0, blocked: 0, total: 2 } });
    const claiming = { owner: 's', at: clock(), leaseMs: 60_000 };
    await project.progress.update((current) => claimTask(claimTask(current, 'a', claiming), 'b', claiming));
    expect(await project.status()).toMatchObject({ next: { kind: 'wait', until: new Date(clock() + 60_000).toISOString() }, text: '0 of 2 tasks are done. Other sessions work on a, b.' });
    pass(60_000);
    expect(await project.status()).toMatchObject({ next: { kind: 'work', isResumed: true }, text: '0 of 2 tasks are done. Next: Do a (a), which was begun before.' });
    await project.progress.update((current) => blockTask(completeTask(current, 'a', accepted, claiming), 'b', 'No key.', { owner: 's' }));
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'blocked' }, counts: { done: 1, blocked: 1 }, text: '1 of 2 tasks are done, 1 blocked. What is left is blocked.' });
    expect(await (await projectWith([])).status()).toMatchObject({ next: { kind: 'plan' } });
    await writeFile(project.progress.path, '{"format":"agent-progress","version":7}');
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'newer' } });
    await writeFile(project.progress.path, '{');
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'damaged' }, text: expect.stringMatching(/damaged: it is no JSON/) as unknown });
    await writeFile(project.progress.path, '{"format":"agent-progress","version":1,"revision":1,"phase":"working","goal":"","tasks":[]}');
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'no-tasks' } });
  });
});

describe('workThrough', () => {
  it('runs an initializer, then a worker for each task, until all is done', async () => {
    const project = openProject({ folder: await temporaryFolder() });
    const seen: PlannedSession[] = [];
    const check = { command: 'true', run: scriptedCheck(0).run };
    const end = await workThrough({
      project,
      goal: 'Make two files.',
      runSession: (session) => {
        seen.push(session);
        const id = session.status.next.kind === 'work' ? session.status.next.task.id : '';
        const model = scriptedModel(session.role === 'initializer' ? [response(use('task_plan', { goal: 'Two files', tasks: planned('a', 'b') })), 'Planned.'] : [response(use('task_next')), response(use('task_done', { id, summary: 'It works.' })), 'Done.']);
        return reply(agentOf({ project, session: session.session, model, check }).turn({ session: session.session, input: session.input }));
      },
    });
    expect(end).toMatchObject({ reason: 'all-done', sessions: 3, status: { counts: { done: 2, total: 2 } } });
    expect(seen.map(({ role, number, input }) => [role, number, input])).toEqual([
      ['initializer', 1, 'Make two files.'],
      ['worker', 2, 'Go on with the project.'],
      ['worker', 3, 'Go on with the project.'],
    ]);
    expect(new Set(seen.map(({ session }) => session)).size).toBe(3);
  });

  it('begins no session where none can do anything', async () => {
    const project = await projectWith(planned('a'));
    await writeFile(project.progress.path, '{"form');
    const runSession = vi.fn(() => completed);
    expect(await workThrough({ project, goal: 'x', runSession })).toMatchObject({ reason: 'damaged', sessions: 0 });
    expect(runSession).not.toHaveBeenCalled();
  });

  it('gives up after as many sessions in a row without progress as it may', async () => {
    const project = await projectWith(planned('a', 'b', 'c'));
    let calls = 0;
    const runSession = async () => {
      calls += 1;
      if (calls === 2) await finish(project, 's');
      return completed;
    };
    expect(await workThrough({ project, goal: 'x', runSession, maxIdleSessions: 2 })).toMatchObject({ reason: 'no-progress', sessions: 4 });
    const planless = openProject({ folder: await temporaryFolder() });
    expect(await workThrough({ project: planless, goal: 'x', runSession: () => completed })).toMatchObject({ reason: 'no-progress', sessions: 3, status: { file: 'missing' } });
  });

  it('runs no more sessions than it may, by the names that it is given', async () => {
    const project = await projectWith(planned('a', 'b', 'c'));
    const names: string[] = [];
    const runSession = async ({ session }: PlannedSession) => {
      names.push(session);
      await finish(project, session);
      return completed;
    };
    expect(await workThrough({ project, goal: 'x', runSession, maxSessions: 2, nameSession: (number) => `day-${number}` })).toMatchObject({ reason: 'max-sessions', sessions: 2 });
    expect(names).toEqual(['day-1', 'day-2']);
  });

  it('ends with a session that was cancelled, and begins none when its signal is aborted', async () => {
    const project = await projectWith(planned('a'));
    expect(await workThrough({ project, goal: 'x', runSession: () => ({ outcome: 'cancelled' }) })).toMatchObject({ reason: 'cancelled', sessions: 1 });
    expect(await workThrough({ project, goal: 'x', runSession: () => completed, signal: AbortSignal.abort() })).toMatchObject({ reason: 'cancelled', sessions: 0 });
    const last = async () => {
      await finish(project, 's');
      return { outcome: 'cancelled' } as const;
    };
    expect(await workThrough({ project, goal: 'x', runSession: last })).toMatchObject({ reason: 'all-done', sessions: 1 });
  });

  it('waits for the sessions of others, until their lease has run out', async () => {
    const scheduler = new VirtualTimeScheduler();
    const clock = (): number => Date.UTC(2026, 10, 21) + scheduler.now();
    const project = await projectWith(planned('a'), { clock, leaseMs: 5_000 });
    await project.progress.update((current) => claimNext(current, { owner: 'other', at: clock(), leaseMs: 5_000 }));
    const told: string[] = [];
    const begun: number[] = [];
    const work = workThrough({
      project,
      goal: 'x',
      scheduler,
      onWait: ({ text }) => void told.push(text),
      runSession: async ({ session }) => {
        begun.push(scheduler.now());
        await finish(project, session);
        return completed;
      },
    });
    for (const at of [0, 2_000, 4_000]) {
      await vi.waitUntil(() => scheduler.now() === at && scheduler.actions.length > 0, { timeout: 5_000 });
      scheduler.flush();
    }
    expect(await work).toMatchObject({ reason: 'all-done', sessions: 1 });
    expect(begun).toEqual([5_000]);
    expect(told).toEqual(['0 of 1 tasks are done. Other sessions work on a.']);
  });

  it('waits longer and longer after sessions without progress, if it is told to', async () => {
    const project = await projectWith(planned('a', 'b'));
    const scheduler = new VirtualTimeScheduler();
    const at: number[] = [];
    const runSession = async ({ session }: PlannedSession) => {
      at.push(scheduler.now());
      if (at.length === 3) await finish(project, session);
      return { outcome: 'error' } as const;
    };
    const work = workThrough({ project, goal: 'x', scheduler, idlePauseMs: 1_000, maxIdleSessions: 3, runSession });
    for (const sessions of [1, 2, 4, 5]) {
      await vi.waitUntil(() => at.length === sessions && scheduler.actions.length > 0, { timeout: 5_000 });
      scheduler.flush();
    }
    expect(await work).toMatchObject({ reason: 'no-progress', sessions: 6 });
    expect(at).toEqual([0, 1_000, 3_000, 3_000, 4_000, 6_000]);
  });

  it('leaves a wait when it is cancelled, with no timer left', async () => {
    const project = await projectWith(planned('a'));
    await project.progress.update((current) => claimNext(current, { owner: 'other', at: project.clock(), leaseMs: 60_000 }));
    const controller = new AbortController();
    const scheduler = new VirtualTimeScheduler();
    const end = await workThrough({ project, goal: 'x', scheduler, signal: controller.signal, onWait: () => void setImmediate(() => controller.abort()), runSession: () => completed });
    expect(end).toMatchObject({ reason: 'cancelled', sessions: 0 });
    expect(scheduler.actions).toEqual([]);
    await project.progress.update((current) => releaseClaims(current, 'other'));
  });

  it('names what is wrong with its options', async () => {
    const project = openProject({ folder: '/nowhere' });
    await expect(workThrough({ project, goal: 'x' } as never)).rejects.toThrow('workThrough() needs "runSession"');
    await expect(workThrough({ project, goal: 'x', runSession: () => completed, maxSession: 1 } as never)).rejects.toThrow('no option "maxSession"');
    await expect(workThrough({ project, goal: 'x', runSession: () => completed, maxIdleSessions: 0 })).rejects.toThrow('"maxIdleSessions"; it was given 0');
  });
});
