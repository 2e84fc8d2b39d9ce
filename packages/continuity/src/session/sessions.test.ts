import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TurnEvent, TurnEventOf, TurnEventType } from '@h/turn';
import { response, scriptedModel } from '@h/turn/testing';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { runSession, tailOf, use } from '../../test/agents.js';
import { bundle } from '../../test/bundle.js';
import { git, repository } from '../../test/folders.js';
import { planned } from '../../test/projects.js';
import type { CheckRunner } from '@h/process';
import type { SessionCommit } from '../options.js';
import { openProject } from '../project.js';

const eventOf = <Type extends TurnEventType>(events: readonly TurnEvent[], type: Type): TurnEventOf<Type> => {
  const found = events.find((event): event is TurnEventOf<Type> & TurnEvent => event.type === type);
  if (found === undefined) throw new Error(`There is no ${type}.`);
  return found;
};

describe('a project over several sessions', () => {
  it('runs from the initializer through workers to its end, with a crash in between', async () => {
    const folder = await repository();
    const project = openProject({ folder });
    const commits: SessionCommit[] = [];
    const commit = (request: SessionCommit): string | undefined => {
      commits.push(request);
      git(folder, 'add', '--all');
      git(folder, 'commit', '--quiet', '-m', request.message);
      return git(folder, 'rev-parse', 'HEAD');
    };
    const run: CheckRunner = async ({ command, cwd }) => {
      try {
        await readFile(join(cwd, command));
        return { exitCode: 0, output: 'ok' };
      } catch {
        return { exitCode: 1, output: `${command} is missing` };
      }
    };
    const check = { command: ({ id }: { readonly id: string }) => `${id}.txt`, run };
    const write: Record<string, (input: unknown) => Promise<string>> = {
      write: async (input) => {
        const { file } = input as { readonly file: string };
        await writeFile(join(folder, file), 'x');
        return 'Written.';
      },
    };
    const session = { project, check, commit, tools: write };

    // The initializer plans, and cannot do a task.
    const planner = scriptedModel([
      response(use('task_next'), use('task_plan', { goal: 'Three files', tasks: planned('a', 'b', 'c') })),
      'Planned.',
    ]);
    const first = await runSession({ ...session, session: 's1', model: planner }, 'Make three files.');
    expect(eventOf(first, 'continuity.state')).toMatchObject({ role: 'initializer', file: 'missing' });
    expect(first.filter(({ type }) => type === 'tool.result')).toMatchObject([{ status: 'denied' }, { status: 'ok' }]);
    expect(planner.requests[0]?.tools.map(({ name }) => name)).toEqual(['note', 'rule_propose', 'task_plan', 'write']);
    expect(eventOf(first, 'continuity.ended')).toMatchObject({
      done: 0,
      total: 3,
      commit: git(folder, 'rev-parse', 'HEAD'),
    });
    expect(git(folder, 'ls-files').split('\n')).toEqual(['agent-notes.md', 'agent-progress.json', 'workspace.sh']);

    // A worker does the first task; its claim counts only once the check passes.
    const worker = scriptedModel([
      response(use('task_next')),
      response(use('task_done', { id: 'a', summary: 'It should work.' })),
      response(use('write', { file: 'a.txt' })),
      response(use('task_done', { id: 'a', summary: 'It works.' })),
      'Done.',
    ]);
    const second = await runSession({ ...session, session: 's2', model: worker });
    expect(eventOf(second, 'continuity.state')).toMatchObject({ role: 'worker', file: 'ready', task: 'a', total: 3 });
    expect(
      second.filter(({ type }) => type === 'tool.result').map((event) => 'status' in event && event.status),
    ).toEqual(['ok', 'failed', 'ok', 'ok']);
    expect(tailOf(worker.requests[0])).toContain('0 of 3 tasks are done.');
    expect(tailOf(worker.requests[4])).toContain('1 of 3 tasks are done.');

    // The next one is killed in the middle of the second task.
    const script = join(temporaryFolder(), 'session.mjs');
    await bundle('./session-child.ts', script);
    const child = spawn(process.execPath, [script, folder, 's3'], { stdio: ['ignore', 'ignore', 'inherit'] });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);

    // The next one takes over the task of the killed session at once, and finds its notes.
    const early = scriptedModel([response(use('task_next')), 'Stopped in the middle.']);
    const third = await runSession({ ...session, session: 's4', model: early });
    expect(tailOf(early.requests[0])).toContain('It was begun before');
    expect(tailOf(early.requests[0])).toContain('The half of b is in b.txt.');
    expect(eventOf(third, 'continuity.ended')).toMatchObject({ task: 'b' });
    expect(commits.at(-1)).toMatchObject({ message: 'WIP: Do b (b)', isWorkInProgress: true });

    // The last worker resumes the interrupted task and finishes the others.
    const last = scriptedModel([
      response(use('task_next')),
      response(use('task_done', { id: 'b', summary: 'It works.' })),
      response(use('task_next')),
      response(use('write', { file: 'c.txt' })),
      response(use('task_done', { id: 'c', summary: 'It works.' })),
      response(use('task_next')),
      'All done.',
    ]);
    const fourth = await runSession({ ...session, session: 's5', model: last });
    expect(tailOf(last.requests[0])).toContain('Task b: Do b');
    expect(eventOf(fourth, 'continuity.ended')).toMatchObject({ done: 3, total: 3 });
    expect(commits.at(-1)).toMatchObject({ message: 'Do c (c)', isWorkInProgress: false });

    // A session after the end does no harm.
    const idle = scriptedModel([response(use('task_next')), 'Nothing to do.']);
    const fifth = await runSession({ ...session, session: 's6', model: idle });
    expect(eventOf(fifth, 'turn.end').outcome).toBe('completed');
    expect(tailOf(idle.requests[0])).toContain('All 3 tasks are done.');
    expect(fifth.some(({ type }) => type === 'continuity.problem')).toBe(false);

    const notes = await readFile(project.notes.path, 'utf8');
    expect([...notes.matchAll(/^## Session (\w+) /gm)].map(([, id]) => id)).toEqual([
      's1',
      's2',
      's3',
      's4',
      's5',
      's6',
    ]);
    expect(git(folder, 'status', '--short')).toBe('');
    expect(git(folder, 'log', '--format=%s').split('\n')).toEqual([
      'Add the notes of the session',
      'Do c (c)',
      'WIP: Do b (b)',
      'Do a (a)',
      'Plan the project',
    ]);
  });
});
