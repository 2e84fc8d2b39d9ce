import { open, writeFile, type FileHandle } from 'node:fs/promises';
import { response, scriptedModel } from '@h/turn/testing';
import { reply } from '@h/turn';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { agentOf, runSession, use } from '../../test/agents.js';
import { manualClock, planned, projectWith, scriptedCheck } from '../../test/projects.js';
import { blockTask, claimNext, claimTask, completeTask, releaseClaims, unblockTask } from '../progress/changes.js';
import { beginWork, planTasks } from '../progress/planning.js';
import { openProject, type Project } from '../project.js';
import { isOutage } from './outage.js';
import { statusOf } from '../status.js';
import type { Outage, PlannedSession } from './work-options.js';
import { workThrough } from './work-through.js';

const accepted = { summary: 'Done.', acceptedBy: 'Ann' };
const finish = (project: Project, owner: string) =>
  project.progress.update((current) => {
    const claimed = claimNext(current, { owner, at: project.clock(), leaseMs: project.leaseMs });
    const mine = claimed.tasks.find(({ claim }) => claim?.owner === owner);
    return mine === undefined ? current : completeTask(claimed, mine.id, accepted, { owner, at: project.clock() });
  });
const completed = { outcome: 'completed' } as const;

describe('the status of a project', () => {
  it('returns the next step, or why there is none', async () => {
    const { clock, pass } = manualClock();
    const project = openProject({ folder: temporaryFolder(), clock, leaseMs: 60_000 });
    expect(await project.status()).toMatchObject({
      file: 'missing',
      next: { kind: 'plan' },
      text: 'Nothing is planned yet.',
    });
    await project.progress.initialize(
      { format: 'agent-progress', version: 1, revision: 0, phase: 'initializing', goal: 'A shop', tasks: [] },
      (current) => planTasks(current, planned('a', 'b')),
    );
    expect(await project.status()).toMatchObject({
      file: 'ready',
      goal: 'A shop',
      next: { kind: 'plan' },
      text: '0 of 2 tasks are done. The first session has not been completed.',
    });
    await project.progress.update(beginWork);
    expect(await project.status()).toMatchObject({
      next: { kind: 'work', task: { id: 'a' }, isResumed: false },
      counts: { todo: 2, inProgress: 0, done: 0, blocked: 0, total: 2 },
    });
    const claiming = { owner: 's', at: clock(), leaseMs: 60_000 };
    await project.progress.update((current) => claimTask(claimTask(current, 'a', claiming), 'b', claiming));
    expect(await project.status()).toMatchObject({
      next: { kind: 'wait', until: new Date(clock() + 60_000).toISOString() },
      text: '0 of 2 tasks are done. Other sessions work on a, b.',
    });
    pass(60_000);
    expect(await project.status()).toMatchObject({
      next: { kind: 'work', isResumed: true },
      text: '0 of 2 tasks are done. Next: Do a (a), which was begun before.',
    });
    await project.progress.update((current) =>
      blockTask(completeTask(current, 'a', accepted, claiming), 'b', 'No key.', { owner: 's' }),
    );
    expect(await project.status()).toMatchObject({
      next: { kind: 'stop', reason: 'blocked' },
      counts: { done: 1, blocked: 1 },
      text: '1 of 2 tasks are done, 1 blocked. The remaining tasks are blocked.',
    });
    expect(await (await projectWith([])).status()).toMatchObject({ next: { kind: 'plan' } });
    await writeFile(project.progress.path, '{"format":"agent-progress","version":7}');
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'newer' } });
    await writeFile(project.progress.path, '{');
    expect(await project.status()).toMatchObject({
      next: { kind: 'stop', reason: 'damaged' },
      text: expect.stringMatching(/damaged: it is not JSON/) as unknown,
    });
    await writeFile(
      project.progress.path,
      '{"format":"agent-progress","version":1,"revision":1,"phase":"working","goal":"","tasks":[]}',
    );
    expect(await project.status()).toMatchObject({ next: { kind: 'stop', reason: 'no-tasks' } });
  });
});

describe('workThrough', () => {
  it('runs an initializer, then a worker for each task, until all tasks are done', async () => {
    const project = openProject({ folder: temporaryFolder() });
    const seen: PlannedSession[] = [];
    const check = { command: 'true', run: scriptedCheck(0).run };
    const end = await workThrough({
      project,
      goal: 'Make two files.',
      runSession: (session) => {
        seen.push(session);
        const id = session.status.next.kind === 'work' ? session.status.next.task.id : '';
        const model = scriptedModel(
          session.role === 'initializer'
            ? [response(use('task_plan', { goal: 'Two files', tasks: planned('a', 'b') })), 'Planned.']
            : [response(use('task_next')), response(use('task_done', { id, summary: 'It works.' })), 'Done.'],
        );
        return reply(
          agentOf({ project, session: session.session, model, check }).turn({
            session: session.session,
            input: session.input,
          }),
        );
      },
    });
    expect(end).toMatchObject({ reason: 'all-done', sessions: 3, status: { counts: { done: 2, total: 2 } } });
    expect(seen.map(({ role, number, input }) => [role, number, input])).toEqual([
      ['initializer', 1, 'Make two files.'],
      ['worker', 2, 'Continue the project.'],
      ['worker', 3, 'Continue the project.'],
    ]);
    expect(new Set(seen.map(({ session }) => session)).size).toBe(3);
  });

  it('starts no session if none can do anything', async () => {
    const project = await projectWith(planned('a'));
    await writeFile(project.progress.path, '{"form');
    const runSession = vi.fn(() => completed);
    expect(await workThrough({ project, goal: 'x', runSession })).toMatchObject({ reason: 'damaged', sessions: 0 });
    expect(runSession).not.toHaveBeenCalled();
  });

  it('ends after N consecutive sessions without progress', async () => {
    const project = await projectWith(planned('a', 'b', 'c'));
    let calls = 0;
    const runSession = async () => {
      calls += 1;
      if (calls === 2) await finish(project, 's');
      return completed;
    };
    expect(await workThrough({ project, goal: 'x', runSession, maxIdleSessions: 2 })).toMatchObject({
      reason: 'no-progress',
      sessions: 4,
    });
    const planless = openProject({ folder: temporaryFolder() });
    expect(await workThrough({ project: planless, goal: 'x', runSession: () => completed })).toMatchObject({
      reason: 'no-progress',
      sessions: 6,
      status: { file: 'missing' },
    });
  });

  it('limits the number of sessions, and names them with the option', async () => {
    const project = await projectWith(planned('a', 'b', 'c'));
    const names: string[] = [];
    const runSession = async ({ session }: PlannedSession) => {
      names.push(session);
      await finish(project, session);
      return completed;
    };
    expect(
      await workThrough({ project, goal: 'x', runSession, maxSessions: 2, nameSession: (number) => `day-${number}` }),
    ).toMatchObject({ reason: 'max-sessions', sessions: 2 });
    expect(names).toEqual(['day-1', 'day-2']);
  });

  it('ends after a cancelled session, and starts none once its signal is aborted', async () => {
    const project = await projectWith(planned('a'));
    expect(await workThrough({ project, goal: 'x', runSession: () => ({ outcome: 'cancelled' }) })).toMatchObject({
      reason: 'cancelled',
      sessions: 1,
    });
    expect(
      await workThrough({ project, goal: 'x', runSession: () => completed, signal: AbortSignal.abort() }),
    ).toMatchObject({ reason: 'cancelled', sessions: 0 });
    const last = async () => {
      await finish(project, 's');
      return { outcome: 'cancelled' } as const;
    };
    expect(await workThrough({ project, goal: 'x', runSession: last })).toMatchObject({
      reason: 'all-done',
      sessions: 1,
    });
  });

  it('waits for other sessions until their lease expires', async () => {
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

  it('blocks a task that no session finishes, and continues with the others', async () => {
    const project = await projectWith(planned('poison', 'b', 'c'));
    const begun: string[] = [];
    const runSession = async ({ session, status: { next } }: PlannedSession) => {
      const id = next.kind === 'work' ? next.task.id : '';
      begun.push(id);
      if (id !== 'poison') await finish(project, session);
      else {
        await project.progress.update((current) =>
          releaseClaims(claimNext(current, { owner: session, at: project.clock(), leaseMs: 1_000 }), session),
        );
      }
      return { outcome: 'error', steps: 3 } as const;
    };
    const end = await workThrough({ project, goal: 'x', runSession, maxAttempts: 2 });
    expect(end).toMatchObject({ reason: 'blocked', sessions: 4, status: { counts: { done: 2, blocked: 1 } } });
    expect(begun).toEqual(['poison', 'poison', 'b', 'c']);
    expect(end.status.tasks[0]).toMatchObject({
      status: 'blocked',
      blockedBy: expect.stringMatching(
        /^Given up after 2 sessions, the last of them plan-\w+-2; see its notes\.$/,
      ) as unknown,
    });
    // A person unblocks the task, which resets its attempts.
    await project.progress.update((current) => unblockTask(current, 'poison'));
    expect(await workThrough({ project, goal: 'x', runSession, maxAttempts: 2 })).toMatchObject({
      reason: 'blocked',
      sessions: 2,
    });
    await project.progress.update((current) => ({
      ...current,
      tasks: current.tasks.map((task) =>
        task.id === 'poison' ? { ...task, status: 'todo', blockedBy: undefined } : task,
      ),
    }));
    expect(await workThrough({ project, goal: 'x', runSession, maxAttempts: 2 })).toMatchObject({
      reason: 'blocked',
      sessions: 2,
    });
  });

  it('does not block tasks if every session fails', async () => {
    const project = await projectWith(planned('a', 'b', 'c', 'd'));
    const runSession = async ({ session }: PlannedSession) => {
      await project.progress.update((current) =>
        releaseClaims(claimNext(current, { owner: session, at: project.clock(), leaseMs: 1_000 }), session),
      );
      return completed;
    };
    expect(await workThrough({ project, goal: 'x', runSession })).toMatchObject({
      reason: 'no-progress',
      sessions: 6,
      status: { counts: { blocked: 1, inProgress: 1, todo: 2 } },
    });
  });

  describe('in an outage', () => {
    const down = { outcome: 'error', steps: 0, error: { name: 'Error', message: 'Overloaded.', status: 529 } } as const;

    it('waits with growing pauses, counts no session, and continues after it', async () => {
      const project = await projectWith(planned('a', 'b'));
      const scheduler = new VirtualTimeScheduler();
      const at: number[] = [];
      const told: Outage[] = [];
      const runSession = async ({ session }: PlannedSession) => {
        at.push(scheduler.now());
        if (at.length === 12 || at.length === 14) {
          await finish(project, session);
          return completed;
        }
        return down;
      };
      const work = workThrough({
        project,
        goal: 'x',
        scheduler,
        maxSessions: 2,
        onOutage: (outage) => void told.push(outage),
        runSession,
      });
      for (const sessions of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13]) {
        await vi.waitUntil(() => at.length === sessions && scheduler.actions.length > 0, { timeout: 5_000 });
        scheduler.flush();
      }
      expect(await work).toMatchObject({ reason: 'all-done', sessions: 2 });
      const minutes = at.map((ms) => Math.round(ms / 6_000) / 10);
      // From ten seconds to fifteen minutes, then from ten seconds again.
      expect(minutes).toEqual([0, 0.2, 0.5, 1.2, 2.5, 5.2, 10.5, 21.2, 36.2, 51.2, 66.2, 81.2, 81.2, 81.3]);
      expect(told[3]).toEqual({ pauseMs: 80_000, waitedMs: 70_000, error: down.error });
    });

    it('waits while the progress file cannot be read', async () => {
      const project = await projectWith(planned('a'));
      const scheduler = new VirtualTimeScheduler();
      const failures = [1, 1, 0, 1, 0];
      const read = () => Promise.reject(Object.assign(new Error('too many open files'), { code: 'EMFILE' }));
      const progress = { ...project.progress, read };
      const told: Outage[] = [];
      const work = workThrough({
        project: {
          ...project,
          status: () => (failures.shift() === 1 ? statusOf(progress, project.clock) : project.status()),
        },
        goal: 'x',
        scheduler,
        onOutage: (outage) => void told.push(outage),
        runSession: async ({ session }) => {
          await finish(project, session);
          return completed;
        },
      });
      for (const pauses of [1, 2]) {
        await vi.waitUntil(() => told.length === pauses && scheduler.actions.length > 0, { timeout: 5_000 });
        scheduler.flush();
      }
      expect(await work).toMatchObject({ reason: 'all-done', sessions: 1 });
      expect(told[0]).toMatchObject({ pauseMs: 10_000, error: { code: 'EMFILE' } });
    });

    it('ends as unavailable after the time limit', async () => {
      const project = await projectWith(planned('a'));
      const scheduler = new VirtualTimeScheduler();
      let sessions = 0;
      const work = workThrough({
        project,
        goal: 'x',
        scheduler,
        outagePauseMs: 100,
        maxOutageMs: 1_000,
        runSession: () => {
          sessions += 1;
          return down;
        },
      });
      for (const expected of [1, 2, 3, 4]) {
        await vi.waitUntil(() => sessions === expected && scheduler.actions.length > 0, { timeout: 5_000 });
        scheduler.flush();
      }
      expect(await work).toMatchObject({ reason: 'unavailable', sessions: 0, status: { counts: { todo: 1 } } });
      expect([sessions, scheduler.now()]).toEqual([4, 1_000]);
    });

    it('resets the pause after an interrupted session that finished its task', async () => {
      const project = await projectWith(planned('a', 'b'));
      const scheduler = new VirtualTimeScheduler();
      const told: Outage[] = [];
      let sessions = 0;
      const runSession = async ({ session }: PlannedSession) => {
        sessions += 1;
        if (sessions === 3 || sessions === 4) await finish(project, session);
        return down;
      };
      const work = workThrough({
        project,
        goal: 'x',
        scheduler,
        onOutage: (outage) => void told.push(outage),
        runSession,
      });
      for (const expected of [1, 2, 3]) {
        await vi.waitUntil(() => sessions === expected && scheduler.actions.length > 0, { timeout: 5_000 });
        scheduler.flush();
      }
      expect(await work).toMatchObject({ reason: 'all-done', sessions: 0 });
      expect(told.map(({ pauseMs }) => pauseMs)).toEqual([10_000, 20_000, 10_000]);
    });

    it('stops waiting when it is cancelled', async () => {
      const project = await projectWith(planned('a'));
      const controller = new AbortController();
      const scheduler = new VirtualTimeScheduler();
      const end = await workThrough({
        project,
        goal: 'x',
        scheduler,
        signal: controller.signal,
        onOutage: () => void setImmediate(() => controller.abort()),
        runSession: () => down,
      });
      expect(end).toMatchObject({ reason: 'cancelled', sessions: 0 });
      expect(scheduler.actions).toEqual([]);
    });

    it('does not count interrupted or cancelled sessions as attempts', async () => {
      const project = await projectWith(planned('a'));
      const check = { command: 'true', run: scriptedCheck(0).run };
      const failing = { error: { name: 'Error', message: 'Overloaded.', status: 529 } };
      for (const session of ['one', 'two', 'three']) {
        const agent = agentOf({ project, session, model: scriptedModel([response(use('task_next')), failing]), check });
        expect(await reply(agent.turn({ session, input: 'Continue.' }))).toMatchObject({ outcome: 'error', steps: 1 });
      }
      const attempts = async () => (await project.status()).tasks[0]?.attempts;
      expect(await attempts()).toBe(0);
      const badRequest = { error: { name: 'Error', message: 'Unprocessable.', status: 422 } };
      await reply(
        agentOf({
          project,
          session: 'four',
          model: scriptedModel([response(use('task_next')), badRequest]),
          check,
        }).turn({ session: 'four', input: 'Continue.' }),
      );
      expect(await attempts()).toBe(1);
      const left = agentOf({
        project,
        session: 'five',
        model: scriptedModel([response(use('task_next')), { never: ['Hm'] }]),
        check,
      });
      await new Promise<void>((resolve) => {
        const running = left.turn({ session: 'five', input: 'Continue.' }).subscribe(({ type }) => {
          if (type === 'tool.result') {
            running.unsubscribe();
            resolve();
          }
        });
      });
      await vi.waitUntil(async () => (await project.status()).next.kind === 'work', { timeout: 5_000 });
      expect(await attempts()).toBe(1);
    });

    it.each([
      ['written', ['appendFile']],
      ['read or written', ['stat', 'appendFile']],
    ] as const)('releases the claim of a session at whose end no file could be %s', async (_, operations) => {
      const project = await projectWith(planned('a'));
      const handle = await open(project.progress.path);
      await handle.close();
      const fill = (): string => {
        for (const name of operations) {
          const full = Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
          const spy = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, name).mockRejectedValue(full);
          onTestFinished(() => spy.mockRestore());
        }
        return 'The disk is full.';
      };
      const model = scriptedModel([response(use('task_next')), response(use('fill')), 'Done.']);
      const check = { command: 'true', run: scriptedCheck(0).run };
      await runSession({ project, session: 'one', model, check, tools: { fill } });
      vi.restoreAllMocks();
      expect((await project.status()).next).toMatchObject({ kind: 'work', isResumed: true });
      // Another process does not know it before the next change.
      const other = openProject({ folder: project.folder });
      expect((await other.status()).next.kind).toBe('wait');
      await project.progress.update((progress) => progress);
      expect((await other.status()).next.kind).toBe('work');
    });

    it.each<readonly [string, Parameters<typeof isOutage>[0], boolean]>([
      [
        'an overloaded provider, after many steps',
        { outcome: 'error', steps: 9, error: { name: 'E', message: '', status: 529 } },
        true,
      ],
      [
        'a rate limit as the cause of a failover error',
        {
          outcome: 'error',
          steps: 0,
          error: { name: 'E', message: '', code: 'failover-exhausted', cause: { name: 'E', message: '', status: 429 } },
        },
        true,
      ],
      [
        'an unavailable network',
        {
          outcome: 'error',
          steps: 2,
          error: { name: 'E', message: '', cause: { name: 'E', message: '', code: 'ENOTFOUND' } },
        },
        true,
      ],
      ['a full disk', { outcome: 'error', steps: 2, error: { name: 'E', message: '', code: 'ENOSPC' } }, true],
      ['a budget of the day that is used up', { outcome: 'budget-exceeded', steps: 0 }, true],
      ['a budget of the session that is used up', { outcome: 'budget-exceeded', steps: 7 }, false],
      ['a provider that says nothing', { outcome: 'timed-out', steps: 0 }, true],
      ['a key that is wrong', { outcome: 'error', steps: 0, error: { name: 'E', message: '', status: 401 } }, false],
      ['an invalid request', { outcome: 'error', steps: 4, error: { name: 'E', message: '', status: 400 } }, false],
      ['a failing operator', { outcome: 'error', steps: 0, error: { name: 'E', message: '', operator: 'x' } }, false],
      ['an operator that stops the turn', { outcome: 'error', steps: 4 }, false],
      ...['EACCES', 'ENOENT', 'ENOTDIR', 'ERR_INVALID_URL', 'ERR_MODULE_NOT_FOUND'].map(
        (code) =>
          [
            `the code ${code}`,
            {
              outcome: 'error',
              steps: code === 'ERR_MODULE_NOT_FOUND' ? 2 : 0,
              error: { name: 'E', message: '', code },
            },
            false,
          ] as const,
      ),
      [
        'a mistake',
        { outcome: 'error', steps: 0, error: { name: 'TypeError', message: 'x is not a function' } },
        false,
      ],
      [
        'a failed fetch',
        {
          outcome: 'error',
          steps: 0,
          error: {
            name: 'TypeError',
            message: 'fetch failed',
            cause: { name: 'E', message: '', code: 'ECONNREFUSED' },
          },
        },
        true,
      ],
      [
        'an interrupted stream',
        { outcome: 'error', steps: 2, error: { name: 'E', message: '', code: 'ERR_STREAM_PREMATURE_CLOSE' } },
        true,
      ],
      ['an error without a code', { outcome: 'error', steps: 0, error: { name: 'Error', message: 'Sorry.' } }, true],
      ['a session of which nothing is known', { outcome: 'error' }, false],
      ['a session that comes to its end', { outcome: 'completed', steps: 0 }, false],
    ])('classifies %s', (_, end, expected) => {
      expect(isOutage(end)).toBe(expected);
    });
  });

  it('stops waiting when it is cancelled, and leaves no timer', async () => {
    const project = await projectWith(planned('a'));
    await project.progress.update((current) =>
      claimNext(current, { owner: 'other', at: project.clock(), leaseMs: 60_000 }),
    );
    const controller = new AbortController();
    const scheduler = new VirtualTimeScheduler();
    const end = await workThrough({
      project,
      goal: 'x',
      scheduler,
      signal: controller.signal,
      onWait: () => void setImmediate(() => controller.abort()),
      runSession: () => completed,
    });
    expect(end).toMatchObject({ reason: 'cancelled', sessions: 0 });
    expect(scheduler.actions).toEqual([]);
    await project.progress.update((current) => releaseClaims(current, 'other'));
  });

  it.each([undefined, 'done', {}])('rejects %j as the end of a session', async (end) => {
    const project = await projectWith(planned('a'));
    await expect(workThrough({ project, goal: 'x', runSession: () => end as never })).rejects.toMatchObject({
      code: 'invalid-option',
      message: expect.stringContaining('"runSession" must return the end of the session') as string,
    });
  });

  it('names invalid options', async () => {
    const project = openProject({ folder: '/nowhere' });
    await expect(workThrough({ project, goal: 'x' } as never)).rejects.toThrow(
      'workThrough(): "runSession" is required',
    );
    await expect(
      workThrough({ project, goal: 'x', runSession: () => completed, maxSession: 1 } as never),
    ).rejects.toThrow('unknown option "maxSession"');
    await expect(workThrough({ project, goal: 'x', runSession: () => completed, maxIdleSessions: 0 })).rejects.toThrow(
      /"maxIdleSessions" must be .*; received 0/,
    );
  });
});
