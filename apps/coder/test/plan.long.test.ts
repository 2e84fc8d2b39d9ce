import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';
import { commitFolder, git, sampleProject } from './folders.js';
import { call, startModelServer, textOf, type Answer, type Answers } from './model-server.js';

type Asked = Parameters<typeof textOf>[0];

const answersIn = ({ messages }: Asked): number => messages.filter(({ role }) => role === 'tool').length;

const tasks = [
  { id: 'one', title: 'Write one', acceptance: ['one.txt is there'] },
  { id: 'two', title: 'Write two', acceptance: ['two.txt is there'], dependsOn: ['one'] },
];

/** Plans two tasks; each later session does one of them with the calls of `doing`. */
const builder =
  (
    doing: (task: string) => Answer = (task) => call('write', { path: `${task}.txt`, content: task }, `write-${task}`),
  ): Answers =>
  (request) => {
    const step = answersIn(request);
    if (textOf(request).includes('Something went wrong while an agent worked')) {
      return 'Run the checks before task_done.';
    }
    if (textOf(request).includes('You open a project')) {
      return step === 0 ? call('task_plan', { goal: 'Two files', tasks }, 'plan') : 'It is planned.';
    }
    if (step === 0) return call('task_next', {}, 'next');
    const task =
      /Write (one|two)[^]{0,20}/.exec(JSON.stringify(request.messages.filter(({ role }) => role === 'tool')[0]))?.[1] ??
      'none';
    if (step === 1) return doing(task);
    return step === 2
      ? call('task_done', { id: task, summary: `${task}.txt is written` }, `done-${task}`)
      : 'One task is done.';
  };

const prepare = async (answers: Answers, { isRepository = true } = {}) => {
  const server = await startModelServer(answers);
  const workspace = await sampleProject();
  if (isRepository) await commitFolder(workspace);
  const words = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', workspace, '--plan'];
  const environment = { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() };
  return { server, workspace, words, environment };
};

/** A check that passes once the file of the current task exists. */
const check = 'test -e one.txt';

describe('--plan', () => {
  it('plans, then does one task per session, checked and committed on a new branch', async () => {
    const { workspace, words, environment } = await prepare(builder());
    const home = temporaryFolder();
    await mkdir(join(home, '.claude'));
    const tell = { hooks: [{ type: 'command', command: 'echo over >> "$HOME/ended"' }] };
    await writeFile(join(home, '.claude', 'settings.json'), JSON.stringify({ hooks: { SessionEnd: [tell] } }));
    const { code, stdout } = await runCoder({
      words: [...words, '--check', check, 'Write two files'],
      environment: { ...environment, HOME: home },
    });
    expect(await readFile(join(home, 'ended'), 'utf8')).toBe('over\nover\nover\n');
    expect(stdout).toMatch(/^Session 1 · initializer · Nothing is planned yet\.$/m);
    expect(stdout).toMatch(/^Session 2 · worker · 0 of 2 tasks are done\. Next: Write one \(one\)\.$/m);
    expect(stdout).toMatch(
      /^✓ one · Write one\n✓ two · Write two\n2 of 2 tasks are done\. All tasks are done\.\nall-done · 3 sessions\. Its work is on the branch agent\/write-two-files-/m,
    );
    expect(code).toBe(0);
    expect(await git(workspace, 'branch', '--show-current')).toMatch(/^agent\/write-two-files-/);
    expect(await git(workspace, 'log', '--format=%s')).toBe(
      'Write two (two)\nWrite one (one)\nPlan the project\nFirst',
    );
    expect(await git(workspace, 'status', '--porcelain')).toBe('');
    expect(await git(workspace, 'show', '--name-only', '--format=', 'HEAD')).toBe(
      'agent-notes.md\nagent-progress.json\ntwo.txt',
    );
  });

  it('ends when its budget is used, without further sessions', async () => {
    const answers = builder() as (request: Asked) => Answer;
    const { words, environment } = await prepare((request) => {
      const answer = answers(request);
      const usage = { input_tokens: 900, output_tokens: 100 };
      return { ...(typeof answer === 'string' ? { content: answer } : answer), usage };
    });
    const options = ['--check', check, '--max-tokens', '5000'];
    const { code, stdout } = await runCoder({ words: [...words, ...options, 'Write two files'], environment });
    expect(stdout).toMatch(/^budget-exceeded · [123] sessions?\./m);
    expect(code).toBe(4);
  });

  it('blocks a task whose check fails in three sessions', async () => {
    const { words, environment, workspace } = await prepare(builder());
    const { code, stdout } = await runCoder({
      words: [...words, '--check', 'echo not yet; exit 3', 'Write two files'],
      environment,
    });
    expect(stdout).toMatch(/✗ task_done[^\n]*exit code 3/);
    expect(stdout).toMatch(/^proposed for AGENTS\.md: Run the checks before task_done\.$/m);
    expect(stdout).toMatch(
      /^⊘ one · Write one \(blocked: Given up after 3 sessions[^\n]*\n· two · Write two\n[^\n]*\nblocked · 4 sessions[^\n]*\n1 rule is proposed for AGENTS\.md/m,
    );
    expect(code).toBe(6);
    expect(await git(workspace, 'log', '--format=%s', '-1')).toBe('WIP: Write one (one)');
  });

  it('continues with uncommitted files after a kill during a command', async () => {
    let sessions = 0;
    const doing = (task: string): Answer => {
      sessions += 1;
      return sessions === 1
        ? call('bash', { command: 'echo half > half.txt; touch began; sleep 1000' }, 'half')
        : call('write', { path: `${task}.txt`, content: task }, `write-${task}`);
    };
    const { workspace, words, environment } = await prepare(builder(doing));
    const coder = startCoder({ words: [...words, '--check', check, 'Write two files'], environment });
    await vi.waitFor(() => access(join(workspace, 'began')), 60_000);
    const other = await runCoder({ words: [...words, '--check', check], environment });
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--plan: process \d+ has held the plan of this folder since /) as string,
    });
    coder.signal('SIGKILL');
    await coder.finished;
    const { code, stdout } = await runCoder({ words: [...words, '--check', check], environment });
    expect(stdout).toMatch(
      /^Session 1 · worker · 0 of 2 tasks are done\. Next: Write one \(one\), which was begun before\.$/m,
    );
    expect(stdout).toMatch(/^all-done · 2 sessions/m);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^The plan has taken \d+ of the 28800000 milliseconds that it may take\.$/m);
    const after = await runCoder({ words: [...words, '--check', check], environment });
    expect(after.stdout).not.toContain('The plan has taken');
    expect(await git(workspace, 'show', '--name-only', '--format=', 'HEAD~1')).toMatch(
      /^agent-notes\.md\nagent-progress\.json\nbegan\nhalf\.txt\none\.txt$/,
    );
  });

  it('says for which claim it waits, and for how long', async () => {
    const { workspace, words, environment } = await prepare(builder(), { isRepository: false });
    const at = new Date();
    const claim = { owner: 'gone', generation: 1, claimedAt: at, heartbeatAt: at, expiresAt: new Date(+at + 300_000) };
    const task = { ...tasks[0], description: '', dependsOn: [], status: 'in_progress', generation: 1, claim };
    const plan = {
      format: 'agent-progress',
      version: 1,
      revision: 1,
      phase: 'working',
      goal: 'One file',
      tasks: [task],
    };
    await writeFile(join(workspace, 'agent-progress.json'), JSON.stringify(plan));
    const coder = startCoder({ words, environment });
    await coder.said('Other sessions work on one.');
    coder.signal('SIGINT');
    const { stdout } = await coder.finished;
    expect(stdout).toMatch(
      /^0 of 1 tasks are done\. Other sessions work on one\. Waiting for up to 4 min \d+ s, or longer if/m,
    );
  });

  it('shows the progress of a plan, reports its end and rejects a second plan', async () => {
    const { words, environment } = await prepare(builder(), { isRepository: false });
    const first = await runCoder({
      words: [...words, '--check', check, '--max-sessions', '2', 'Write two files'],
      environment,
    });
    expect(first.stdout).toContain('This folder is not a git repository, so nothing is committed.');
    expect(first.stdout).toMatch(/^✓ one · Write one\n· two · Write two\n[^\n]*\nmax-sessions · 2 sessions/m);
    expect(first.code).toBe(3);
    const other = await runCoder({ words: [...words, '--check', check, 'Something else'], environment });
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--plan: this folder already has a plan\. 1 of 2/) as string,
    });
    const rest = await runCoder({ words: [...words, '--check', check], environment });
    expect(rest).toMatchObject({ code: 0, stdout: expect.stringMatching(/^all-done · 1 session\.$/m) as string });
    const again = await runCoder({ words: [...words, '--check', check], environment });
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/^all-done · 0 sessions\.$/m) as string });
  });

  it('reports in one line why a plan cannot start', async () => {
    const { words, environment, workspace } = await prepare([]);
    expect(await runCoder({ words: [...words, '--check', check], environment })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--plan: this folder has no plan to continue\. Pass a prompt\.\n$/) as string,
    });
    await writeFile(join(workspace, 'mine.txt'), 'mine');
    expect(await runCoder({ words: [...words, '--check', check, 'x'], environment })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--plan: 1 file is not committed \(mine\.txt\)[^\n]*\n$/) as string,
    });
    await writeFile(join(workspace, 'agent-progress.json'), '{"format": "agent-pro');
    const damaged = await runCoder({ words: [...words, '--check', check, 'x'], environment });
    expect(damaged).toMatchObject({ code: 2, stderr: expect.stringMatching(/damaged/) as string });
    expect(await readFile(join(workspace, 'agent-progress.json'), 'utf8')).toBe('{"format": "agent-pro');
  });
});
