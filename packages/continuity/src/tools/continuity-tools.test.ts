import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { manualClock, planned, projectWith, scriptedCheck } from '../../test/projects.js';
import { openProject, type Project } from '../project.js';
import type { TaskCheck } from './check-task.js';
import { continuityTools } from './continuity-tools.js';
import type { ContinuityTool } from './tool-shape.js';

const { signal } = new AbortController();

const named = (tools: readonly ContinuityTool[], name: string): ContinuityTool => {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`There is no ${name}.`);
  return tool;
};

const toolsOf = (
  project: Project,
  { command, run, redact }: TaskCheck = { command: 'npm run e2e', ...scriptedCheck(0) },
) => {
  const tools = continuityTools({ project, check: { command, run, redact } });
  return (name: string, input = {}, session = 'one') => named(tools, name).run(input, { session, signal });
};

describe('task_next', () => {
  it('claims the first task and returns its acceptance criteria', async () => {
    const project = await projectWith(planned('a', 'b'));
    const use = toolsOf(project);
    expect(await use('task_next')).toBe(
      'It is new.\nTask a: Do a\nAcceptance criteria, agreed before work began:\n- a works end to end',
    );
    expect(await use('task_next')).toMatch(/^It was begun before.*\nTask a/);
    expect(await use('task_next', {}, 'two')).toMatch(/^It is new.\nTask b/);
    expect(await use('task_next', {}, 'three')).toMatch(/Other sessions hold the remaining tasks \(a, b\)/);
  });

  it('takes over the task of a session whose lease has expired', async () => {
    const { clock, pass } = manualClock();
    const use = toolsOf(await projectWith(planned('a'), { clock, leaseMs: 60_000 }));
    await use('task_next');
    pass(59_999);
    expect(await use('task_next', {}, 'two')).toMatch(/Other sessions hold/);
    pass(1);
    expect(await use('task_next', {}, 'two')).toMatch(/^It was begun before/);
    await expect(use('task_done', { id: 'a', summary: 'Late.' })).rejects.toMatchObject({ code: 'claim-lost' });
  });

  it('reports that all tasks are done, blocked or not planned', async () => {
    expect(await toolsOf(openProject({ folder: temporaryFolder() }))('task_next')).toMatch(/no tasks/);
    const use = toolsOf(await projectWith(planned('a', 'b')));
    await use('task_next');
    await use('task_done', { id: 'a', summary: 'Done.' });
    await use('task_next');
    await use('task_block', { id: 'b', reason: 'No key.' });
    expect(await use('task_next')).toMatch(/tasks are blocked:\n- b: Do b \(No key\.\)/);
    const finished = toolsOf(await projectWith(planned('a')));
    await finished('task_next');
    await finished('task_done', { id: 'a', summary: 'Done.' });
    expect(await finished('task_next')).toMatch(/^All 1 tasks are done/);
  });
});

describe('task_done', () => {
  it('requires that the end-to-end check passes, and stores its evidence', async () => {
    const check = scriptedCheck(1, 0);
    const project = await projectWith(planned('a'));
    const use = toolsOf(project, { command: ({ id }) => `npm run e2e -- ${id}`, run: check.run });
    await use('task_next');
    await expect(use('task_done', { id: 'a', summary: 'I am sure.' })).rejects.toMatchObject({
      code: 'check-failed',
      message: expect.stringContaining('expected 1 to be 2') as unknown,
    });
    expect(await project.progress.read()).toMatchObject({ progress: { tasks: [{ status: 'in_progress' }] } });
    expect(await use('task_done', { id: 'a', summary: 'Now it is.' })).toMatch(/1 of 1/);
    expect(check.ran).toEqual(['npm run e2e -- a', 'npm run e2e -- a']);
    expect(await project.progress.read()).toMatchObject({
      progress: {
        tasks: [
          {
            status: 'done',
            evidence: {
              summary: 'Now it is.',
              check: { command: 'npm run e2e -- a', exitCode: 0, output: 'all good' },
            },
          },
        ],
      },
    });
    expect(await use('task_done', { id: 'a', summary: 'Again.' })).toMatch(/already done/);
    expect(check.ran).toHaveLength(2);
  });

  it('runs no check for an unknown task or the task of another session', async () => {
    const check = scriptedCheck(0);
    const use = toolsOf(await projectWith(planned('a')), { command: 'x', run: check.run });
    await expect(use('task_done', { id: 'a', summary: 'x' })).rejects.toMatchObject({ code: 'not-claimed' });
    await expect(use('task_done', { id: 'b', summary: 'x' })).rejects.toMatchObject({ code: 'unknown-task' });
    expect(check.ran).toEqual([]);
  });

  it.each(['timed-out', 'killed'])('rejects a check that %s', async (failure) => {
    const use = toolsOf(await projectWith(planned('a')), {
      command: 'x',
      run: () => Promise.resolve({ exitCode: 0, output: '', failure }),
    });
    await use('task_next');
    await expect(use('task_done', { id: 'a', summary: 'x' })).rejects.toMatchObject({
      code: 'check-failed',
      message: expect.stringContaining(failure) as unknown,
    });
  });
});

describe('the output of a check', () => {
  const secret = 'sk-ant-api03-Zx81kQvT0pLw5RmY7uNc2HdFb9GjEs4A';
  const evidenceWith = async (redact?: TaskCheck['redact']): Promise<string> => {
    const project = await projectWith(planned('a'));
    const run = () => Promise.resolve({ exitCode: 0, output: `ANTHROPIC_API_KEY=${secret}\n3 passed\n` });
    const use = toolsOf(project, { command: 'x', run, redact });
    await use('task_next');
    await use('task_done', { id: 'a', summary: 'x' });
    return readFile(project.progress.path, 'utf8');
  };

  it('is stored without secrets', async () => {
    const stored = await evidenceWith();
    expect(stored).toContain('3 passed');
    expect(stored).not.toContain(secret);
  });

  it('is redacted by `redact`', async () => {
    const stored = await evidenceWith((text) => text.replace('3 passed', 'some passed'));
    expect(stored).toContain('some passed');
    expect(stored).toContain(secret);
  });

  it('reaches the model without secrets if the check fails', async () => {
    const run = () => Promise.resolve({ exitCode: 1, output: `token: ${secret}\n1 failed\n` });
    const use = toolsOf(await projectWith(planned('a')), { command: 'x', run });
    await use('task_next');
    const error = await use('task_done', { id: 'a', summary: 'x' }).catch((thrown: unknown) => String(thrown));
    expect(error).toContain('1 failed');
    expect(error).not.toContain(secret);
  });
});

describe('an aborted task_done', () => {
  it('does not finish the task if its check passes afterwards', async () => {
    const project = await projectWith(planned('a'));
    const controller = new AbortController();
    const tools = continuityTools({
      project,
      check: {
        command: 'x',
        run: () => {
          controller.abort(new Error('Timed out.'));
          return Promise.resolve({ exitCode: 0, output: '' });
        },
      },
    });
    const use = (name: string, input: Parameters<(typeof tools)[number]['run']>[0]) =>
      named(tools, name).run(input, { session: 'one', signal: controller.signal });
    await use('task_next', {});
    await expect(use('task_done', { id: 'a', summary: 'x' })).rejects.toThrow('Timed out.');
    expect(await project.progress.read()).toMatchObject({ progress: { tasks: [{ status: 'in_progress' }] } });
  });
});

describe('task_plan', () => {
  it('writes the tasks in the first session only', async () => {
    const project = openProject({ folder: temporaryFolder() });
    const use = toolsOf(project);
    expect(await use('task_plan', { goal: 'A shop', tasks: planned('a') })).toBe('1 tasks are planned.');
    expect(await use('task_plan', { goal: 'A better shop', tasks: planned('a', 'b') })).toBe('2 tasks are planned.');
    expect(await project.progress.read()).toMatchObject({ progress: { phase: 'initializing', goal: 'A better shop' } });
    await expect(
      toolsOf(await projectWith(planned('a')))('task_plan', { goal: 'x', tasks: planned('b') }),
    ).rejects.toMatchObject({ code: 'already-initialized' });
  });
});

describe('note and rule_propose', () => {
  it('store notes and proposals', async () => {
    const project = await projectWith(planned('a'));
    const use = toolsOf(project);
    await use('note', { text: 'The port is 8080.' });
    expect(await readFile(project.notes.path, 'utf8')).toContain('- The port is 8080.\n');
    expect(await use('rule_propose', { rule: 'Run the linter.', because: 'It was red.' })).toMatch(
      /proposed as [0-9a-f]{8}/,
    );
    expect(await use('rule_propose', { rule: 'run the  linter.', because: 'Again.' })).toMatch(/already known/);
  });
});

describe('continuityTools', () => {
  it('names invalid options', async () => {
    const project = await projectWith([]);
    const check = { command: 'x', run: scriptedCheck(0).run };
    expect(() => continuityTools({ project } as never)).toThrow('continuityTools(): "check" is required');
    expect(() => continuityTools({ project, check, chek: 1 } as never)).toThrow('unknown option "chek" (received 1)');
    expect(() => continuityTools({ project, check: { ...check, timeoutMs: 0 } })).toThrow(
      /"check.timeoutMs" must be .*; received 0/,
    );
  });

  it('passes the time limit and the project folder to the check', async () => {
    const project = await projectWith(planned('a'));
    const runs: unknown[] = [];
    const tools = continuityTools({
      project,
      check: {
        command: 'x',
        timeoutMs: 1_000,
        run: (run) => {
          runs.push(run);
          return Promise.resolve({ exitCode: 0, output: '' });
        },
      },
    });
    for (const [name, input] of [
      ['task_next', {}],
      ['task_done', { id: 'a', summary: 'x' }],
    ] as const) {
      await named(tools, name).run(input, { session: 'one', signal });
    }
    expect(runs).toMatchObject([{ command: 'x', cwd: project.folder, timeoutMs: 1_000 }]);
    expect(tools.find(({ name }) => name === 'task_done')?.timeoutMs).toBe(16_000);
  });
});
