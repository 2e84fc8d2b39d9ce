import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { continuity, continuityTools, type Project, type SessionCommit, type SessionFailure } from '@h/continuity';
import { hooks } from '@h/hooks';
import { commitGate } from '@h/hooks/commands';
import { localChecks } from '@h/process';
import { createRegistry, defineTool, toolDriver } from '@h/tools';
import { harness, type ModelDriver, type TurnEvent, type TurnOperator } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { createGitRepository, git } from '@h/git';
import { createSandbox } from '@h/sandbox';
import { workspaceTools } from '@h/workspace';
import { bashTool } from '@h/workspace/bash';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { begunProject, gitIn, ownRepository } from './continuity-folder.js';

const check = { command: 'test -f green', run: localChecks() };
let calls = 0;
const use = (name: string, input: object = {}) => call(`call-${(calls += 1)}`, name, input);

const runTurn = async (
  project: Project,
  model: ModelDriver,
  session: string,
  ...operators: readonly TurnOperator[]
): Promise<readonly TurnEvent[]> => {
  const sandbox = await createSandbox({ mode: 'host', root: project.folder });
  try {
    const files = workspaceTools({ root: project.folder });
    const registry = createRegistry().register(
      files,
      bashTool(files.workspace, { sandbox }),
      ...continuityTools({ project, check }).map((tool) => defineTool(tool)),
    );
    const agent = harness({ model, tools: toolDriver(registry), closeGraceMs: 60_000 }).pipe(...operators);
    return await lastValueFrom(agent.turn({ session, input: 'Go on.' }).pipe(toArray()));
  } finally {
    await sandbox.close();
  }
};

const statuses = (events: readonly TurnEvent[]): readonly string[] =>
  events.flatMap((event) => (event.type === 'tool.result' ? [`${event.call.name} ${event.status}`] : []));

/** Creates a commit function that runs the installed git, as an app does. */
const commitWith =
  (folder: string, ...settings: readonly string[]) =>
  ({ message }: SessionCommit): string => {
    gitIn(folder, ...settings, 'add', '--all');
    gitIn(folder, ...settings, 'commit', '--quiet', '-m', message);
    return gitIn(folder, 'rev-parse', 'HEAD');
  };

describe('work in progress', () => {
  const gate = (folder: string) => hooks([commitGate({ command: check.command, cwd: folder })]);
  const commits = (message: string) =>
    response(use('bash', { command: `git -c user.name=Test -c user.email=t@example.com commit -qam "${message}"` }));

  it('is committed on an agent branch despite failing tests, unlike a finished task', async () => {
    const folder = await ownRepository();
    const project = await begunProject(folder, 'login');
    gitIn(folder, 'add', '--all');
    const model = scriptedModel([
      response(use('task_next')),
      commits('Build login (login)'),
      commits('WIP: Build login (login)'),
      'Half of it is done.',
    ]);
    const made: SessionCommit[] = [];
    const events = await runTurn(
      project,
      model,
      'one',
      gate(folder),
      continuity({
        project,
        commit: (next) => {
          made.push(next);
          return commitWith(folder)(next);
        },
      }),
    );
    expect(statuses(events)).toEqual(['task_next ok', 'bash denied', 'bash ok']);
    expect(made).toMatchObject([{ message: 'WIP: Build login (login)', isWorkInProgress: true }]);
    expect(gitIn(folder, 'log', '--format=%s').split('\n')).toEqual([
      'WIP: Build login (login)',
      'WIP: Build login (login)',
      'Begin',
    ]);
    expect(gitIn(folder, 'status', '--short')).toBe('');
  });

  it('passes the gate with the message of an ended session, on agent branches only', async () => {
    const judged: (string | undefined)[] = [];
    for (const branch of ['agent/shop', 'main']) {
      const folder = await ownRepository(branch);
      const project = await begunProject(folder, 'login');
      const { beforeTool } = commitGate({ command: check.command, cwd: folder });
      const commit = async ({ message, session, turn, signal }: SessionCommit): Promise<string> => {
        const input = { command: `git commit -qam "${message}"` };
        const verdict = await beforeTool?.({
          call: use('bash', input),
          session,
          turn,
          signal,
          step: 1,
          at: 0,
        } as never);
        judged.push(verdict?.decision);
        return commitWith(folder)({ message } as SessionCommit);
      };
      await runTurn(
        project,
        scriptedModel([response(use('task_next')), 'Half of it is done.']),
        'one',
        continuity({ project, commit }),
      );
    }
    expect(judged).toEqual([undefined, 'deny']);
  });

  it('passes a git hook that accepts WIP, and is committed as done once the check passes', async () => {
    const folder = await ownRepository();
    const project = await begunProject(folder, 'login');
    const hook = join(folder, '.git/hooks/commit-msg');
    await writeFile(hook, '#!/bin/sh\ngrep -q "^WIP:" "$1" || test -f green\n');
    await chmod(hook, 0o755);
    const commit = commitWith(folder);
    await runTurn(
      project,
      scriptedModel([response(use('task_next')), 'Half of it is done.']),
      'one',
      continuity({ project, commit }),
    );
    const failing = scriptedModel([
      response(use('task_next')),
      response(use('task_done', { id: 'login', summary: 'x' })),
      response(use('write', { path: 'green', content: 'x' })),
      response(use('task_done', { id: 'login', summary: 'It works.' })),
      'Done.',
    ]);
    const events = await runTurn(project, failing, 'two', continuity({ project, commit }));
    expect(statuses(events)).toEqual(['task_next ok', 'task_done failed', 'write ok', 'task_done ok']);
    expect(gitIn(folder, 'log', '--format=%s').split('\n')).toEqual([
      'Build login (login)',
      'WIP: Build login (login)',
      'Begin',
    ]);
  });
});

describe('the git operator', () => {
  const wiring = (project: Project): readonly TurnOperator[] => {
    let message = '';
    return [
      continuity({
        project,
        commit: (next) => {
          message = next.message;
          return undefined;
        },
      }),
      git({
        repository: createGitRepository({ root: project.folder }),
        autoBranch: false,
        autoCommit: true,
        adoptUncommitted: true,
        message: () => message,
      }),
    ];
  };

  it('commits notes, progress and work of a session, and the leftovers of a crashed one', async () => {
    const folder = await ownRepository();
    const project = await begunProject(folder, 'login');
    await writeFile(join(folder, 'left-by-the-dead.txt'), 'half');
    const model = scriptedModel([
      response(use('task_next')),
      response(use('write', { path: 'form.txt', content: 'x' })),
      'Half of it is done.',
    ]);
    const events = await runTurn(project, model, 'one', ...wiring(project));
    expect(events.filter(({ type }) => type === 'git.failed' || type === 'continuity.problem')).toEqual([]);
    expect(gitIn(folder, 'log', '-1', '--format=%s')).toBe('WIP: Build login (login)');
    expect(gitIn(folder, 'show', '--stat', '--format=', '--name-only').split('\n').toSorted()).toEqual([
      'agent-notes.md',
      'agent-progress.json',
      'form.txt',
      'left-by-the-dead.txt',
    ]);
    expect(gitIn(folder, 'status', '--short')).toBe('');
    expect(gitIn(folder, 'branch', '--show-current')).toBe('agent/shop');
  });
});

describe('a branch for each session', () => {
  it('hides the progress file from the next session, so a project requires one shared branch', async () => {
    const folder = await ownRepository('main');
    const project = await begunProject(folder, 'login');
    await runTurn(
      project,
      scriptedModel([response(use('task_next')), 'Half of it is done.']),
      'one',
      continuity({ project }),
      git({ repository: createGitRepository({ root: folder }), autoCommit: true, adoptUncommitted: true }),
    );
    expect(gitIn(folder, 'branch', '--show-current')).toBe('main');
    expect(await project.status()).toMatchObject({ file: 'missing', next: { kind: 'plan' } });
  });
});

describe('a commit that fails', () => {
  const refusing = async (folder: string): Promise<void> => {
    const hook = join(folder, '.git/hooks/pre-commit');
    await writeFile(hook, '#!/bin/sh\necho "the tests are red" >&2\nexit 1\n');
    await chmod(hook, 0o755);
  };
  const merging = async (folder: string): Promise<void> => {
    for (const [branch, text] of [
      ['agent/one', 'one'],
      ['agent/two', 'two'],
    ] as const) {
      gitIn(folder, 'switch', '--quiet', '-c', branch, 'agent/shop');
      await writeFile(join(folder, 'same.txt'), text);
      gitIn(folder, 'add', 'same.txt');
      gitIn(folder, 'commit', '--quiet', '-m', text);
    }
    expect(() => gitIn(folder, 'merge', '--quiet', 'agent/one')).toThrow('merge');
  };

  it.each<readonly [string, (folder: string) => unknown, readonly string[], RegExp]>([
    ['a hook refuses it', refusing, [], /the tests are red/],
    ['git has no author', () => undefined, ['-c', 'user.name=', '-c', 'user.email='], /ident/],
    ['the repository is locked', (folder) => writeFile(join(folder, '.git/index.lock'), ''), [], /index.lock/],
  ])('because %s is reported and blocks neither the turn nor the next session', async (_, prepare, settings, why) => {
    const folder = await ownRepository();
    const project = await begunProject(folder, 'login');
    await prepare(folder);
    const drafts: SessionFailure[] = [];
    const events = await runTurn(
      project,
      scriptedModel([response(use('task_next')), 'Half of it is done.']),
      'one',
      continuity({
        project,
        commit: commitWith(folder, ...settings),
        draftRule: (failure) => {
          drafts.push(failure);
          return undefined;
        },
      }),
    );
    expect(events.filter(({ type }) => type === 'continuity.problem')).toMatchObject([
      { what: 'commit', error: { message: expect.stringMatching(why) as unknown } },
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed' });
    expect(await project.status()).toMatchObject({ next: { kind: 'work', task: { id: 'login' }, isResumed: true } });
    expect(await readFile(project.notes.path, 'utf8')).toContain('The task login is not done yet.');
    expect(drafts).toEqual([]);
  });

  it.each<readonly [string, (folder: string) => unknown, string, boolean]>([
    ['on a detached head', (folder) => gitIn(folder, 'checkout', '--quiet', '--detach'), 'completed', true],
    ['in the middle of a merge', merging, 'blocked', false],
  ])('%s is reported by the git operator', async (_, prepare, outcome, begins) => {
    const folder = await ownRepository();
    await prepare(folder);
    const project = await begunProject(folder, 'login');
    const repository = createGitRepository({ root: folder });
    const model = scriptedModel([response(use('task_next')), 'Half of it is done.']);
    const events = await runTurn(
      project,
      model,
      'one',
      continuity({ project }),
      git({ repository, autoBranch: false, autoCommit: true, adoptUncommitted: true }),
    );
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome });
    expect(events.some(({ type }) => type === 'git.commit')).toBe(false);
    expect(model.requests.length > 0).toBe(begins);
    expect(events.filter(({ type }) => type === 'continuity.problem')).toEqual([]);
    expect(await project.status()).toMatchObject({ next: { kind: 'work', task: { id: 'login' } } });
    expect(gitIn(folder, 'rev-list', '--count', 'HEAD')).toBe(begins ? '1' : '2');
  });
});
