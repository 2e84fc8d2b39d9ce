import { readFile } from 'node:fs/promises';
import { response, scriptedModel } from '@h/turn/testing';
import { lastValueFrom, Subject, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runSession, tailOf, use } from '../test/agents.js';
import { manualClock, planned } from '../test/projects.js';
import { openProject, type Project } from './project.js';
import { workThrough } from './work/work-through.js';
import { releaseClaims } from './progress/changes.js';
import { claimPlanning, emptyProgress } from './progress/planning.js';

const check = { command: 'true', run: () => Promise.resolve({ exitCode: 0, output: '' }) };
const plan = (...ids: readonly string[]) => response(use('task_plan', { goal: 'Build it.', tasks: planned(...ids) }));
const goneProcess = (project: Project) => ({ ...project.process, pid: 2 ** 22 + 1 });
const claimed = (project: Project, owner: string, process = project.process) =>
  project.progress.initialize(emptyProgress(''), (current) =>
    claimPlanning(current, { owner, at: project.clock(), leaseMs: project.leaseMs, process }),
  );
const outcomes = (events: Awaited<ReturnType<typeof runSession>>): readonly string[] =>
  events.flatMap((event) => (event.type === 'tool.result' ? [`${event.call.name} ${event.status}`] : []));

describe('the planning', () => {
  it('belongs to one session: the turn of another one ends before its first model call', async () => {
    const folder = temporaryFolder();
    const project = openProject({ folder });
    const pause = new Subject<string>();
    let isPlanning = false;
    const first = runSession({
      project,
      session: 'first',
      model: scriptedModel([plan('a'), response(use('think')), 'Planned.']),
      check,
      tools: {
        think: () => {
          isPlanning = true;
          return lastValueFrom(pause);
        },
      },
    });
    await vi.waitUntil(() => isPlanning, { timeout: 5_000 });
    expect((await openProject({ folder }).status()).next).toMatchObject({ kind: 'wait', planner: 'first', tasks: [] });
    expect((await project.status()).text).toBe(
      '0 of 1 tasks are done. The first session has not been completed. The session first is planning.',
    );

    const commit = vi.fn(() => undefined);
    const ran = vi.fn(() => Promise.resolve({ exitCode: 0, output: '' }));
    const model = scriptedModel(['Never asked.']);
    const events = await runSession({
      project: openProject({ folder }),
      session: 'second',
      model,
      check,
      commit,
      run: ran,
    });
    expect(events.at(-1)).toMatchObject({
      type: 'turn.end',
      outcome: 'blocked',
      reason: expect.stringMatching(/^The session first plans the tasks; its lease ends at /) as unknown,
    });
    expect([model.requests.length, commit.mock.calls.length, ran.mock.calls.length]).toEqual([0, 0, 0]);
    expect(events.filter(({ type }) => type.startsWith('continuity.'))).toEqual([]);
    await expect(readFile(project.notes.path, 'utf8')).rejects.toThrow('ENOENT');

    pause.next('Thought.');
    pause.complete();
    expect((await first).at(-1)).toMatchObject({ outcome: 'completed' });
    expect((await project.status()).next).toMatchObject({ kind: 'work', task: { id: 'a' } });
  });

  it('is taken over at once if the process of its session has died', async () => {
    const project = openProject({ folder: temporaryFolder() });
    await claimed(project, 'dead', goneProcess(project));
    expect((await project.status()).next).toEqual({ kind: 'plan' });
    await runSession({ project, session: 'next', model: scriptedModel([plan('a'), 'Planned.']), check });
    expect((await project.status()).next).toMatchObject({ kind: 'work', task: { id: 'a' } });
  });

  it('is released by a session that fails, and claimed by the next one', async () => {
    const project = openProject({ folder: temporaryFolder() });
    await runSession({
      project,
      session: 'one',
      model: scriptedModel([plan('a'), { error: { name: 'Error', message: 'Down.' } }]),
      check,
    });
    expect((await project.status()).next).toEqual({ kind: 'plan' });
    const model = scriptedModel([plan('b'), 'Planned.']);
    await runSession({ project, session: 'two', model, check });
    expect(tailOf(model.requests[0])).toContain('The first session has not been completed.');
    expect((await project.status()).tasks.map(({ id }) => id)).toEqual(['b']);
  });

  it('ends a session that was suspended past its lease if another one plans', async () => {
    const { clock, pass } = manualClock();
    const project = openProject({ folder: temporaryFolder(), clock, leaseMs: 60_000 });
    const sleep = async (): Promise<string> => {
      pass(60_000);
      await claimed(project, 'other');
      return 'Slept.';
    };
    const wrote = vi.fn(() => 'Written.');
    const model = scriptedModel([
      response(use('sleep')),
      response(use('write'), use('task_plan', { goal: 'Mine.', tasks: planned('mine') })),
      'Never asked.',
    ]);
    const events = await runSession({ project, session: 'slow', model, check, tools: { sleep, write: wrote } });
    expect(outcomes(events)).toEqual(['sleep ok', 'write denied', 'task_plan failed']);
    expect(wrote).not.toHaveBeenCalled();
    expect(events.at(-1)).toMatchObject({ outcome: 'blocked', steps: 2 });
    expect(await project.status()).toMatchObject({ tasks: [], next: { kind: 'wait', planner: 'other' } });
  });

  it('stays with a session that was suspended past its lease if no other one plans', async () => {
    const { clock, pass } = manualClock();
    const project = openProject({ folder: temporaryFolder(), clock, leaseMs: 60_000 });
    const tools = {
      sleep: () => {
        pass(120_000);
        return 'Slept.';
      },
      write: 'Written.',
    };
    const events = await runSession({
      project,
      session: 'slow',
      model: scriptedModel([response(use('sleep')), response(use('write')), plan('a'), 'Planned.']),
      check,
      tools,
    });
    expect(outcomes(events)).toEqual(['sleep ok', 'write ok', 'task_plan ok']);
    expect((await project.status()).next).toMatchObject({ kind: 'work' });
  });

  it('has ended for a session if another one has completed the plan', async () => {
    const { clock, pass } = manualClock();
    const project = openProject({ folder: temporaryFolder(), clock, leaseMs: 60_000 });
    const sleep = async (): Promise<string> => {
      pass(60_000);
      await runSession({ project, session: 'other', model: scriptedModel([plan('theirs'), 'Planned.']), check });
      return 'Slept.';
    };
    const events = await runSession({
      project,
      session: 'slow',
      model: scriptedModel([response(use('sleep')), response(use('write')), 'Never asked.']),
      check,
      tools: { sleep, write: 'Written.' },
    });
    expect(outcomes(events)).toEqual(['sleep ok', 'write denied']);
    expect((await project.status()).tasks.map(({ id }) => id)).toEqual(['theirs']);
  });
});

/** A scheduler whose waits end at once. */
const hurried = (): VirtualTimeScheduler => {
  const scheduler = new VirtualTimeScheduler();
  const ticking = setInterval(() => scheduler.flush(), 5);
  onTestFinished(() => clearInterval(ticking));
  return scheduler;
};

describe('workThrough', () => {
  it('waits while another process plans, then works on its tasks', async () => {
    const folder = temporaryFolder();
    const there = openProject({ folder });
    await claimed(there, 'other');
    const told: string[] = [];
    const roles: string[] = [];
    const here = openProject({ folder });
    const end = workThrough({
      project: here,
      goal: 'Build it.',
      scheduler: hurried(),
      onWait: ({ text }) => {
        if (told.push(text) > 1) return;
        void runSession({ project: there, session: 'other', model: scriptedModel([plan('a'), 'Planned.']), check });
      },
      runSession: async ({ session, role, status: { next } }) => {
        roles.push(role);
        const id = next.kind === 'work' ? next.task.id : '';
        await runSession({
          project: here,
          session,
          model: scriptedModel([
            response(use('task_next')),
            response(use('task_done', { id, summary: 'It works.' })),
            'Done.',
          ]),
          check,
        });
        return { outcome: 'completed' };
      },
    });
    expect(await end).toMatchObject({ reason: 'all-done', sessions: 1 });
    expect([told[0], roles]).toEqual(['Nothing is planned yet. The session other is planning.', ['worker']]);
  });

  it('does not count a session that found another one planning', async () => {
    const folder = temporaryFolder();
    const project = openProject({ folder });
    let sessions = 0;
    const runs = async () => {
      sessions += 1;
      if (sessions > 1) return { outcome: 'completed' } as const;
      await claimed(project, 'other', goneProcess(project));
      const before = await project.status();
      expect(before.next.kind).toBe('plan');
      await claimed(project, 'other');
      setTimeout(() => void project.progress.update((current) => releaseClaims(current, 'other')), 50);
      return { outcome: 'blocked' } as const;
    };
    expect(
      await workThrough({ project, goal: 'x', runSession: runs, maxIdleSessions: 1, scheduler: hurried() }),
    ).toMatchObject({ reason: 'no-progress', sessions: 1 });
    expect(sessions).toBe(2);
  });
});
