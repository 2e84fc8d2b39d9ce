import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRegistry, toolDriver, type Tool } from '@h/tools';
import {
  harness,
  memorySessions,
  type Agent,
  type ModelResponse,
  type SessionStore,
  type TurnEvent,
  type TurnEventOf,
  type TurnEventType,
} from '@h/turn';
import { decodeRecord, encodeRecord } from '@h/turn/records';
import { call, response, scriptedModel, type ScriptStep } from '@h/turn/testing';
import { describeOperator } from '@h/turn/vitest';
import { lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bashTool, editTool, writeTool } from '../test/agent-tools.js';
import { gitBench, gitBenchAt, type GitBench } from '../test/git-bench.js';
import { git } from './git.js';
import { gitConfig, type GitOptions } from './options.js';
import { gitPushTool } from './push.js';
import { createGitRepository, type GitRepository } from './repository.js';
import type { GitRunner } from './runner.js';
import { addWorkTree } from './work-tree.js';

const write = (path: string, content: string, id = path): ModelResponse =>
  response(call(id, 'write', { path, content }));
const bash = (command: string, id = command): ModelResponse => response(call(id, 'bash', { command }));

interface AgentOptions extends Omit<GitOptions, 'repository'> {
  readonly repository?: GitRepository;
  readonly sessions?: SessionStore;
  readonly tools?: readonly Tool[];
}

/** An agent with real tools in a work tree, and a model that reads from a script. */
const agentIn = (
  root: string,
  script: readonly ScriptStep[],
  {
    repository = createGitRepository({ root }),
    sessions = memorySessions(),
    tools = [],
    ...options
  }: AgentOptions = {},
): Agent => {
  const registry = createRegistry().register(writeTool(root), editTool(root), bashTool(root), ...tools);
  // Both cores may be busy with other tests: time is not what these are about.
  return harness({ model: scriptedModel(script), tools: toolDriver(registry), sessions, closeGraceMs: 60_000 }).pipe(
    git({ repository, commitTimeoutMs: 60_000, ...options }),
  );
};

const run = (agent: Agent, input = 'Fix the failing test', session = 'session'): Promise<readonly TurnEvent[]> =>
  lastValueFrom(agent.turn({ session, input }).pipe(toArray()));

const eventsOf = <Type extends TurnEventType>(events: readonly TurnEvent[], type: Type): readonly TurnEventOf<Type>[] =>
  events.filter((event): event is TurnEventOf<Type> => event.type === type);

/** A turn that runs through a script in a repository. */
const turn = async (
  bench: GitBench,
  script: readonly ScriptStep[],
  options: AgentOptions = {},
): Promise<readonly TurnEvent[]> => run(agentIn(bench.root, [...script, 'Done.'], options));

const outcomeOf = (events: readonly TurnEvent[]) => eventsOf(events, 'turn.end')[0];

describe('a turn', () => {
  it('commits on a separate branch and switches back', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'new\n'), bash('echo more >> a.txt')], { autoCommit: true });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    const [branch] = eventsOf(events, 'git.branch');
    expect(branch).toMatchObject({
      created: true,
      from: 'main',
      uncommitted: 0,
      branch: expect.stringMatching(/^agent\/fix-the-failing-test-\d{8}-\d{6}-[0-9a-f]{8}$/) as string,
    });
    const name = branch?.branch ?? '';
    expect(eventsOf(events, 'git.changes')[0]).toMatchObject({
      count: 2,
      files: [
        { path: 'a.txt', change: 'modified' },
        { path: 'b.txt', change: 'added' },
      ],
      mixed: [],
    });
    expect(eventsOf(events, 'git.commit')[0]).toMatchObject({
      branch: name,
      files: ['a.txt', 'b.txt'],
      message: 'Fix the failing test\n\n- a.txt\n- b.txt',
    });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ to: 'main', branchDeleted: false });
    expect(events.at(-1)?.type).toBe('turn.end');
    expect(bench.branch()).toBe('main');
    expect(bench.status()).toEqual([]);
    expect(existsSync(bench.at('b.txt'))).toBe(false);
    expect(bench.git('show', '--format=%B', '--name-only', name).split(/\n+/)).toEqual([
      'Fix the failing test',
      '- a.txt',
      '- b.txt',
      'a.txt',
      'b.txt',
    ]);
    expect(bench.git('log', '--format=%s', 'main')).toBe('first');
  });

  it('deletes the branch if nothing changed', async () => {
    const bench = gitBench();
    const events = await turn(bench, [bash('cat a.txt')], { autoCommit: true });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ to: 'main', branchDeleted: true });
    expect(eventsOf(events, 'git.changes')).toEqual([]);
    expect(bench.branches()).toEqual(['main']);
  });

  it('stays on its branch while changes are uncommitted', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'new\n')]);
    expect(eventsOf(events, 'git.commit')).toEqual([]);
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ kept: '1 changed file is not committed' });
    expect(bench.branch()).toMatch(/^agent\//);
    expect(bench.status()).toEqual(['?? b.txt']);
  });

  it('commits on the current branch without `autoBranch`', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'new\n')], { autoBranch: false, autoCommit: true });
    expect(eventsOf(events, 'git.branch')).toEqual([]);
    expect(bench.git('log', '--format=%s')).toBe('Fix the failing test\nfirst');
    expect(bench.branches()).toEqual(['main']);
  });

  it('commits changes that a killed session left behind with `adoptUncommitted`', async () => {
    const bench = gitBench();
    writeFileSync(bench.at('left.txt'), 'by a session whose process died\n');
    writeFileSync(bench.at('.env'), 'TOKEN=1\n');
    const events = await turn(bench, [write('b.txt', 'new\n')], {
      autoBranch: false,
      autoCommit: true,
      adoptUncommitted: true,
    });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt', 'left.txt']);
    expect(eventsOf(events, 'git.left-out')[0]?.files.map(({ path }) => path)).toEqual(['.env']);
    expect(bench.status()).toEqual(['?? .env']);
  });

  it('creates unique branch names from tasks in any script', async () => {
    const bench = gitBench();
    const { repository } = { repository: createGitRepository({ root: bench.root }) };
    const options = { repository, workflowBranchStrategy: 'per-agent', branchPrefix: 'bot-' } as const;
    const names: string[] = [];
    for (const [index, task] of ['修复失败的测试', '🎉', '--force ../x', '修复失败的测试'].entries()) {
      const agent = agentIn(bench.root, [bash('git commit --quiet --allow-empty -m work'), 'Done.'], options);
      names.push(eventsOf(await run(agent, task, `session ${index}`), 'git.branch')[0]?.branch ?? '');
    }
    expect(names[0]).toMatch(/^bot-修复失败的测试-\d/);
    expect(names[1]).toMatch(/^bot-task-\d/);
    expect(names[2]).toMatch(/^bot-force-x-\d/);
    expect(new Set(names).size).toBe(4);
    expect(bench.branches()).toEqual(expect.arrayContaining(names));
  });

  it('continues on the branch of its session', async () => {
    const bench = gitBench();
    const agent = agentIn(bench.root, [write('b.txt', 'one\n', '1'), 'Done.', write('c.txt', 'two\n', '2'), 'Done.'], {
      autoCommit: true,
    });
    const first = await run(agent, 'First task');
    expect(bench.branch()).toBe('main');
    const second = await run(agent, 'Second task');
    const [one, two] = [first, second].map((events) => eventsOf(events, 'git.branch')[0]);
    expect(two).toMatchObject({ branch: one?.branch, created: false, from: 'main' });
    expect(bench.branch()).toBe('main');
    expect(bench.git('log', '--format=%s', one?.branch ?? '')).toBe('Second task\nFirst task\nfirst');
  });

  it('finds the branch of its session in another process', async () => {
    const bench = gitBench();
    const sessions = memorySessions();
    const options = { sessions, autoCommit: true, workflowBranchStrategy: 'per-agent' } as const;
    const first = await run(agentIn(bench.root, [write('b.txt', 'one\n'), 'Done.'], options));
    const second = await run(agentIn(bench.root, [write('c.txt', 'two\n'), 'Done.'], options));
    expect(eventsOf(second, 'git.branch')[0]).toMatchObject({
      branch: eventsOf(first, 'git.branch')[0]?.branch,
      created: false,
    });
  });

  it('marks the commit of an incomplete turn as work in progress', async () => {
    const bench = gitBench();
    const agent = agentIn(bench.root, [write('b.txt', 'x\n'), { error: { name: 'Error', message: 'overloaded' } }], {
      autoCommit: true,
    });
    const events = await run(agent);
    expect(outcomeOf(events)).toMatchObject({ outcome: 'error' });
    expect(eventsOf(events, 'git.commit')[0]?.message).toMatch(/^WIP: Fix the failing test\n/);
    expect(bench.branch()).toBe('main');
  });
});

describe('uncommitted changes of the user', () => {
  it('are carried over, not committed, and restored', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' });
    bench.put('a.txt', 'mine\n');
    bench.put('b.txt', 'staged\n');
    bench.git('add', 'b.txt');
    bench.put('b.txt', 'staged and more\n');
    bench.put('new.txt', 'mine\n');
    const before = [bench.status(), bench.git('diff'), bench.git('diff', '--cached')];
    const events = await turn(bench, [write('c.txt', 'agent\n'), write('d.txt', 'agent\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.branch')[0]).toMatchObject({ uncommitted: 3 });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['c.txt', 'd.txt']);
    expect(bench.branch()).toBe('main');
    expect([bench.status(), bench.git('diff'), bench.git('diff', '--cached')]).toEqual(before);
    expect(bench.content('new.txt')).toBe('mine\n');
  });

  it('stay uncommitted if the agent writes to the same file', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    bench.put('a.txt', 'mine\n');
    const events = await turn(bench, [write('a.txt', 'agent\n'), write('b.txt', 'agent\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.changes')[0]).toMatchObject({
      mixed: ['a.txt'],
      files: [{ path: 'b.txt', change: 'modified' }],
    });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
    expect(bench.content('a.txt')).toBe('agent\n');
    expect(bench.branch()).toBe('main');
  });

  it('stay uncommitted in any number', async () => {
    const bench = gitBench();
    for (let index = 0; index <= 600; index += 1) bench.put(`new/${index}`, '');
    const events = await turn(bench, [write('b.txt', 'agent\n')], { autoCommit: true });
    expect(eventsOf(events, 'session.state')[0]?.value).toMatchObject({ dirty: null });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
    expect(bench.status()).toHaveLength(601);
  });
});

describe('a commit', () => {
  const secret = ['AKIA', 'ABCDEFGH12345678'].join('');

  it('includes deleted, renamed, executable and oddly named files', async () => {
    const bench = gitBench({ 'gone.txt': 'x\n', 'old.txt': 'content\n' });
    await turn(
      bench,
      [
        bash(
          'rm gone.txt; mv old.txt "new name.txt"; printf "#!/bin/sh\\n" > tool; chmod +x tool; printf x > ./-rf; printf x > "ünï\nline"; ln -s tool link; mkdir -p a/b; echo x > a/b/c',
        ),
      ],
      { autoCommit: true },
    );
    const branch = bench.branches().find((name) => name.startsWith('agent/')) ?? '';
    expect(
      bench
        .git('-c', 'core.quotePath=false', 'diff', '--no-renames', '--raw', 'main', branch)
        .split('\n')
        .map((line) => line.replace(/^:\d+ (\d+) \S+ \S+ /, '$1 ')),
    ).toEqual([
      '100644 A\t-rf',
      '100644 A\ta/b/c',
      '000000 D\tgone.txt',
      '120000 A\tlink',
      '100644 A\tnew name.txt',
      '000000 D\told.txt',
      '100755 A\ttool',
      '100644 A\t"ünï\\nline"',
    ]);
    expect(bench.status()).toEqual([]);
  });

  it('excludes secrets, artifacts, ignored and large files', async () => {
    const bench = gitBench({ '.gitignore': 'ignored/\n', 'config.ts': 'x\n' });
    const events = await turn(
      bench,
      [
        bash(
          'mkdir -p ignored .agent-output node_modules/x certs; echo x > ignored/x; echo x > .agent-output/x; echo x > node_modules/x/y; echo x > certs/server.pem; echo KEY=1 > .env; head -c 2000 /dev/zero > large.bin; echo private > notes.txt',
        ),
        write('config.ts', `export const key = '${secret}';\n`),
        write('good.ts', 'fine\n'),
      ],
      { autoCommit: true, maxFileBytes: 1_000, exclude: ['notes.*'] },
    );
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['good.ts']);
    const reasons = Object.fromEntries(
      (eventsOf(events, 'git.left-out')[0]?.files ?? []).map(({ path, reason }) => [path, reason]),
    );
    expect(reasons).toEqual({
      '.agent-output/x': 'files of this name contain secrets or are temporary',
      '.env': 'files of this name contain secrets or are temporary',
      'certs/server.pem': 'files of this name contain secrets or are temporary',
      'node_modules/x/y': 'files of this name contain secrets or are temporary',
      'config.ts': 'it contains what looks like a key',
      'large.bin': 'it is larger than 1000 bytes',
      'notes.txt': 'it is excluded',
    });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ kept: '7 changed files are not committed' });
    const branch = bench.branch();
    expect(bench.git('ls-tree', '-r', '--name-only', branch)).toBe('.gitignore\nconfig.ts\ngood.ts');
    expect(bench.git('log', '--all', '-p')).not.toContain(secret);
    expect(bench.content('config.ts')).toContain(secret);
  });

  it('excludes files that the redactor changes, and redacts message and branch', async () => {
    const bench = gitBench();
    const redact = (text: string): string => text.replaceAll('hunter2', '***');
    const agent = agentIn(bench.root, [write('a.txt', 'password: hunter2\n'), write('b.txt', 'fine\n'), 'Done.'], {
      autoCommit: true,
      redact,
    });
    const events = await run(agent, 'Use hunter2 to log in');
    expect(eventsOf(events, 'git.left-out')[0]?.files).toEqual([
      { path: 'a.txt', reason: 'it contains what looks like a secret' },
    ]);
    expect(eventsOf(events, 'git.commit')[0]?.message).toBe('Use *** to log in\n\n- b.txt');
    expect(bench.branch()).toMatch(/^agent\/use-to-log-in-/);
  });

  it('excludes files that need a filter unless the repository is trusted', async () => {
    const lfs = { '.gitattributes': '*.psd filter=lfs\n' };
    const bench = gitBench(lfs);
    const events = await turn(bench, [write('a.psd', 'large\n'), write('b.txt', 'x\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.left-out')[0]?.files).toMatchObject([
      { path: 'a.psd', reason: expect.stringContaining('"lfs"') as string },
    ]);
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
    const trusted = gitBench(lfs);
    trusted.git('config', 'filter.lfs.clean', 'tr a-z A-Z');
    const repository = createGitRepository({ root: trusted.root, trusted: true });
    const branch = eventsOf(
      await turn(trusted, [write('a.psd', 'large\n')], { autoCommit: true, repository }),
      'git.commit',
    )[0]?.branch;
    expect(trusted.git('show', `${branch}:a.psd`)).toBe('LARGE');
  });

  it('excludes files that git cannot stage', async () => {
    const bench = gitBench();
    bench.git('config', 'core.autocrlf', 'input');
    bench.git('config', 'core.safecrlf', 'true');
    const files = Array.from({ length: 9 }, (_, index) => write(`file-${index}.txt`, index === 4 ? 'x\r\n' : 'x\n'));
    const events = await turn(bench, files, { autoCommit: true });
    expect(eventsOf(events, 'git.left-out')[0]?.files).toEqual([
      { path: 'file-4.txt', reason: 'git cannot stage it: CRLF would be replaced by LF in file-4.txt' },
    ]);
    expect(eventsOf(events, 'git.commit')[0]?.files).toHaveLength(8);
    expect(bench.status()).toEqual(['?? file-4.txt']);
  });

  it('includes a link that replaced a folder', async () => {
    const bench = gitBench({ 'src/a.txt': 'a\n', 'src/b.txt': 'b\n' });
    const events = await turn(bench, [bash('mkdir lib && cp src/a.txt lib && rm -r src && ln -s lib src')], {
      autoCommit: true,
    });
    expect(eventsOf(events, 'git.left-out')).toEqual([]);
    const { branch } = eventsOf(events, 'git.commit')[0] ?? {};
    expect(bench.git('ls-tree', '-r', '--name-only', branch ?? '')).toBe('lib/a.txt\nsrc');
    expect(bench.status()).toEqual([]);
  });

  it('includes a folder that replaced a file, whatever the size of the folder', async () => {
    const bench = gitBench({ name: 'a\n' });
    const events = await turn(bench, [bash('rm name && mkdir name && printf x > name/x')], {
      autoCommit: true,
      maxFileBytes: 1,
    });
    expect(eventsOf(events, 'git.left-out')).toEqual([]);
    expect(bench.status()).toEqual([]);
  });

  it('does not store what is too large', async () => {
    const bench = gitBench();
    const events = await turn(bench, [bash('head -c 9000000 /dev/urandom > core')], { autoCommit: true });
    expect(eventsOf(events, 'git.left-out')[0]?.files).toEqual([
      { path: 'core', reason: 'it is larger than 5242880 bytes' },
    ]);
    expect(Number(/size: (\d+)/.exec(bench.git('count-objects', '--verbose'))?.[1])).toBeLessThan(1_000);
  });

  it('includes what a hook commits, and keeps what the user has staged', async () => {
    const bench = gitBench({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
    const repository = createGitRepository({ root: bench.root, trusted: true });
    bench.put('c.txt', 'staged\n');
    bench.git('add', 'c.txt');
    bench.put(
      '.git/hooks/pre-commit',
      '#!/bin/sh\nfor file in b.txt c.txt new.txt; do echo hook >$file; git add $file; done\n',
    );
    chmodSync(bench.at('.git/hooks/pre-commit'), 0o755);
    const events = await turn(bench, [write('a.txt', 'x\n')], { autoCommit: true, repository });
    const { branch } = eventsOf(events, 'git.commit')[0] ?? {};
    expect(bench.git('diff', '--name-only', 'main', branch ?? '').split('\n')).toEqual([
      'a.txt',
      'b.txt',
      'c.txt',
      'new.txt',
    ]);
    expect(bench.git('show', ':c.txt')).toBe('staged');
    expect(bench.git('diff', '--cached', '--name-only', branch ?? '')).toBe('c.txt');
  });

  it('excludes nested repositories', async () => {
    const bench = gitBench();
    const events = await turn(
      bench,
      [
        bash(
          'git init --quiet nested && cd nested && echo x > file && git add file && git -c user.name=a -c user.email=a@b commit --quiet -m x',
        ),
        write('b.txt', 'x'),
      ],
      { autoCommit: true },
    );
    expect(eventsOf(events, 'git.left-out')[0]?.files).toEqual([
      { path: 'nested/', reason: 'it is a separate repository' },
    ]);
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
  });

  it.each(['git rm --quiet lib', 'rm -r lib'])('commits the removal of a submodule, by %s', async (command) => {
    const bench = gitBench({ '.gitmodules': '[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n' });
    bench.git('init', '--quiet', 'lib');
    bench.git('-C', 'lib', 'commit', '--quiet', '--allow-empty', '--message=x');
    bench.git('add', 'lib');
    bench.git('commit', '--quiet', '--message=add lib');
    // As after `git submodule add`: the files of the repository are elsewhere.
    bench.git('submodule', '--quiet', 'absorbgitdirs', 'lib');
    const events = await turn(bench, [bash(`${command}; git rm --quiet --cached .gitmodules; rm -f .gitmodules`)], {
      autoCommit: true,
    });
    expect(eventsOf(events, 'git.commit')[0]?.files.toSorted()).toEqual(['.gitmodules', 'lib']);
    expect(eventsOf(events, 'git.left-out')).toEqual([]);
    expect([bench.branch(), bench.status()]).toEqual(['main', []]);
  });

  it.each([
    ['--amend', 'amend'],
    ['# comment\n\n# another', 'comment\n\n# another'],
    ['long '.repeat(40), `${'long '.repeat(14)}l…`],
    ['', 'Fix the failing test\n\n- b.txt'],
    ['\u0000\u001b[2J', '[2J'],
  ])('has the message that `message` writes, made into one: %j', async (written, expected) => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'x\n')], {
      autoCommit: true,
      message: ({ files }) => (files.length === 1 ? written : 'wrong'),
    });
    const [commit] = eventsOf(events, 'git.commit');
    expect(commit?.message).toBe(expected);
    expect(bench.git('log', '-1', '--format=%B', commit?.branch ?? '')).toBe(expected);
  });

  it('uses the default message when `message` fails', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'x\n')], {
      autoCommit: true,
      message: () => Promise.reject(new Error('no model')),
    });
    expect(eventsOf(events, 'git.commit')[0]?.message).toBe('Fix the failing test\n\n- b.txt');
  });

  it('uses the default message when `message` does not answer', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'x\n')], {
      autoCommit: true,
      commitTimeoutMs: 5_000,
      message: () => new Promise(() => undefined),
    });
    expect(eventsOf(events, 'git.commit')[0]?.message).toBe('Fix the failing test\n\n- b.txt');
  });

  it('uses the configured, the given or the default identity', async () => {
    const authorOf = async (bench: GitBench, repository?: GitRepository): Promise<string> => {
      const events = await turn(bench, [write('b.txt', 'x\n')], {
        autoCommit: true,
        ...(repository && { repository }),
      });
      return bench.git('log', '-1', '--format=%an <%ae> %cn', eventsOf(events, 'git.commit')[0]?.branch ?? '');
    };
    await withoutIdentity(async () => {
      const configured = gitBench();
      configured.git('config', 'user.name', 'Config');
      configured.git('config', 'user.email', 'config@example.org');
      expect(await authorOf(configured)).toBe('Config <config@example.org> Config');
      const given = gitBench();
      expect(
        await authorOf(
          given,
          createGitRepository({ root: given.root, identity: { name: 'Bot', email: 'bot@example.org' } }),
        ),
      ).toBe('Bot <bot@example.org> Bot');
      expect(await authorOf(gitBench())).toBe('agent <agent@localhost> agent');
    });
  });

  it('contains only files of the workspace if that is a folder of the repository', async () => {
    const bench = gitBench({ 'sub/a.txt': 'one\n', 'b.txt': 'one\n' });
    const events = await turn(
      { ...bench, root: bench.at('sub') },
      [write('a.txt', 'two\n'), bash('echo two > ../b.txt')],
      { autoCommit: true },
    );
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['sub/a.txt']);
    expect(bench.status()).toEqual([' M b.txt']);
  });

  it('reports a failure and keeps the changes', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root, trusted: true });
    bench.put('.git/hooks/pre-commit', '#!/bin/sh\necho "tests fail" >&2\nexit 1\n');
    execFileSync('chmod', ['+x', bench.at('.git/hooks/pre-commit')]);
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true, repository });
    expect(eventsOf(events, 'git.failed')[0]).toMatchObject({
      operation: 'commit',
      error: { code: 'git-failed', message: expect.stringContaining('tests fail') as string },
    });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    expect(bench.status()).toEqual(['?? b.txt']);
    expect(bench.branch()).toMatch(/^agent\//);
  });
});

describe('a commit that exceeds its time limit', () => {
  it('is aborted and reported while its files are staged', async () => {
    const bench = gitBench({ '.gitattributes': '*.txt filter=slow\n' });
    bench.git('config', 'filter.slow.clean', 'sleep 60');
    const repository = createGitRepository({ root: bench.root, trusted: true });
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true, repository, commitTimeoutMs: 300 });
    expect(eventsOf(events, 'git.failed')[0]).toMatchObject({
      operation: 'commit',
      error: { message: expect.stringContaining('not staged within 300 ms') as string },
    });
    expect(bench.branch()).toMatch(/^agent\//);
  });

  it.each([
    ['failure', 'exit 1', /tests fail/],
    ['success', 'exit 0', /^The commit [0-9a-f]{40} on the branch "agent\/.*" was created after the turn had ended/],
  ])('passes its %s to `onError` if the turn has ended', async (_, exit, reported) => {
    const bench = gitBench();
    bench.put('.git/hooks/pre-commit', `#!/bin/sh\necho "tests fail" >&2\n${exit}\n`);
    execFileSync('chmod', ['+x', bench.at('.git/hooks/pre-commit')]);
    const repository = createGitRepository({ root: bench.root, trusted: true });
    const errors: unknown[] = [];
    let onEnd: (message: string) => void = () => undefined;
    const message = new Promise<string>((resolve) => {
      onEnd = resolve;
    });
    const tools = toolDriver(createRegistry().register(writeTool(bench.root)));
    const agent = harness({ model: scriptedModel([write('b.txt', 'x\n'), 'Done.']), tools, closeGraceMs: 50 }).pipe(
      git({
        repository,
        autoCommit: true,
        commitTimeoutMs: 60_000,
        message: () => message,
        onError: (error) => errors.push(error),
      }),
    );
    const events = await run(agent);
    expect(events.map(({ type }) => type)).not.toContain('git.failed');
    onEnd('Message');
    await repository.settled();
    await expect.poll(() => errors).toMatchObject([{ message: expect.stringMatching(reported) as string }]);
  });

  it('is aborted and reported', async () => {
    const bench = gitBench();
    bench.put('.git/hooks/pre-commit', '#!/bin/sh\nsleep 60\n');
    execFileSync('chmod', ['+x', bench.at('.git/hooks/pre-commit')]);
    const repository = createGitRepository({ root: bench.root, trusted: true });
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true, repository, commitTimeoutMs: 300 });
    expect(eventsOf(events, 'git.failed')[0]).toMatchObject({
      operation: 'commit',
      error: { message: expect.stringContaining('300 ms') as string },
    });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    expect(bench.status()).toEqual(['?? b.txt']);
  });
});

/** Runs something where git knows no name. */
const withoutIdentity = async (work: () => Promise<void>): Promise<void> => {
  const names = ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM', 'GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL'];
  const before = names.map((name) => process.env[name]);
  process.env['GIT_CONFIG_GLOBAL'] = '/dev/null';
  process.env['GIT_CONFIG_NOSYSTEM'] = '1';
  delete process.env['GIT_AUTHOR_NAME'];
  delete process.env['GIT_AUTHOR_EMAIL'];
  try {
    await work();
  } finally {
    for (const [index, name] of names.entries()) {
      const value = before[index];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
};

describe('when git cannot work', () => {
  const blocked = async (root: string) => outcomeOf(await run(agentIn(root, ['Never asked.'])));

  it('blocks the turn with the reason', async () => {
    expect(await blocked(oddlyNamedFolder())).toMatchObject({
      outcome: 'blocked',
      error: { code: 'git-no-repository' },
    });
    const bare = oddlyNamedFolder();
    execFileSync('git', ['init', '--quiet', '--bare', bare]);
    expect(await blocked(bare)).toMatchObject({ outcome: 'blocked', error: { code: 'git-bare' } });
  });

  it('continues with a notice if git is not required', async () => {
    const events = await run(agentIn(oddlyNamedFolder(), ['Hello.'], { required: false, autoCommit: true }));
    expect(eventsOf(events, 'git.failed')[0]).toMatchObject({
      operation: 'branch',
      error: { code: 'git-no-repository' },
    });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
  });

  it('blocks the turn while a merge or rebase is in progress', async () => {
    const bench = gitBench();
    bench.git('switch', '--quiet', '--create', 'other');
    bench.put('a.txt', 'other\n');
    bench.git('commit', '--quiet', '--all', '--message=other');
    bench.git('switch', '--quiet', 'main');
    bench.put('a.txt', 'main\n');
    bench.git('commit', '--quiet', '--all', '--message=main');
    expect(() => bench.git('merge', 'other')).toThrow();
    expect(await blocked(bench.root)).toMatchObject({
      outcome: 'blocked',
      error: { code: 'git-in-progress', message: 'A merge is in progress; finish or abort it first.' },
    });
    bench.git('merge', '--abort');
    expect(() => bench.git('rebase', 'other')).toThrow();
    expect(await blocked(bench.root)).toMatchObject({ error: { code: 'git-in-progress' } });
  });

  it('blocks the turn if the branch name is invalid or in use', async () => {
    const bench = gitBench();
    expect(outcomeOf(await turn(bench, [], { branchPrefix: 'a..b/' }))).toMatchObject({
      outcome: 'blocked',
      error: { code: 'git-branch-name' },
    });
    bench.git('branch', 'agent');
    expect(outcomeOf(await turn(bench, []))).toMatchObject({ outcome: 'blocked', error: { code: 'git-branch-name' } });
    expect(bench.branch()).toBe('main');
  });

  it('switches back to a branch whose name looks like an option', async () => {
    const bench = gitBench();
    bench.git('update-ref', 'refs/heads/-x', 'HEAD');
    bench.git('symbolic-ref', 'HEAD', 'refs/heads/-x');
    const events = await turn(bench, [write('b.txt', 'new\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ to: '-x' });
    expect(bench.branch()).toBe('-x');
  });

  it('reports the commit of its branch although the hook `post-commit` switches branches', async () => {
    const bench = gitBench();
    bench.put('.git/hooks/post-commit', '#!/bin/sh\ngit switch --quiet main\n');
    chmodSync(bench.at('.git/hooks/post-commit'), 0o755);
    const repository = createGitRepository({ root: bench.root, trusted: true });
    const events = await turn(bench, [write('b.txt', 'new\n')], { autoCommit: true, repository });
    const [commit] = eventsOf(events, 'git.commit');
    expect(commit?.commit).toBe(bench.git('rev-parse', commit?.branch ?? '').trim());
    expect([bench.branch(), bench.status()]).toEqual(['main', []]);
  });

  it('works on its branch and switches back although the hook `post-checkout` fails', async () => {
    const bench = gitBench();
    bench.put('.git/hooks/post-checkout', '#!/bin/sh\necho "git-lfs was not found" >&2\nexit 2\n');
    execFileSync('chmod', ['+x', bench.at('.git/hooks/post-checkout')]);
    const repository = createGitRepository({ root: bench.root, trusted: true });
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true, repository });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ to: 'main' });
    expect([bench.branch(), bench.status()]).toEqual(['main', []]);
  });

  it('restores a detached head', async () => {
    const bench = gitBench();
    bench.git('switch', '--quiet', '--detach');
    const commit = bench.git('rev-parse', 'HEAD');
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ to: commit, branchDeleted: false });
    expect(() => bench.branch()).toThrow();
    expect(bench.git('rev-parse', 'HEAD')).toBe(commit);
  });

  it('does not commit to a detached head', async () => {
    const bench = gitBench();
    bench.git('switch', '--quiet', '--detach');
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoBranch: false, autoCommit: true });
    expect(eventsOf(events, 'git.failed')[0]?.error.message).toContain('detached head');
    expect(bench.status()).toEqual(['?? b.txt']);
  });

  it('creates the first commit of an empty repository on the branch of the agent', async () => {
    const bench = gitBench({});
    const events = await turn(bench, [write('b.txt', 'x\n')], { autoCommit: true });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
    expect(eventsOf(events, 'git.restored')[0]).toMatchObject({ kept: 'main has no commit yet' });
    expect(bench.status()).toEqual([]);
    const untouched = gitBench({});
    expect(eventsOf(await turn(untouched, []), 'git.restored')[0]).toMatchObject({ to: 'main' });
    expect(untouched.branch()).toBe('main');
  });

  it('does not touch a branch that the user switched to', async () => {
    const bench = gitBench();
    const events = await turn(bench, [write('b.txt', 'x\n'), bash('git switch --quiet --create mine')], {
      autoCommit: true,
    });
    expect(eventsOf(events, 'git.failed')[0]).toMatchObject({
      operation: 'finish',
      error: { code: 'git-branch-changed' },
    });
    expect(bench.branch()).toBe('mine');
    expect(bench.status()).toEqual(['?? b.txt']);
  });
});

describe('several turns', () => {
  it('share a branch within a workflow, and the last one switches back', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    let other: Promise<readonly TurnEvent[]> | undefined;
    const options = { repository, autoCommit: true, workflow: () => 'release' };
    const second = agentIn(bench.root, [write('second.txt', 'x\n'), 'Done.'], options);
    const first = agentIn(
      bench.root,
      [
        write('first.txt', 'x\n'),
        () => {
          other = run(second, 'Second task', 'two');
          return bash('while ! git log --format=%s -1 | grep -q Second; do sleep 0.05; done');
        },
        'Done.',
      ],
      options,
    );
    const one = await run(first, 'First task', 'one');
    const two = (await other) ?? [];
    expect(eventsOf(two, 'git.branch')[0]).toMatchObject({
      branch: eventsOf(one, 'git.branch')[0]?.branch,
      created: false,
    });
    expect(eventsOf(two, 'git.commit')[0]?.files).toEqual(['second.txt']);
    expect(eventsOf(two, 'git.restored')).toEqual([]);
    expect(eventsOf(one, 'git.commit')[0]?.files).toEqual(['first.txt']);
    expect(eventsOf(one, 'git.restored')[0]).toMatchObject({ to: 'main' });
  });

  it('share a branch within a workflow, one after the other', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const options = { repository, autoCommit: true, workflow: () => 'release' };
    const first = await run(agentIn(bench.root, [write('b.txt', 'x\n'), 'Done.'], options), 'Analyse', 'analyst');
    const second = await run(agentIn(bench.root, [write('c.txt', 'x\n'), 'Done.'], options), 'Report', 'reporter');
    expect(eventsOf(second, 'git.branch')[0]).toMatchObject({
      branch: eventsOf(first, 'git.branch')[0]?.branch,
      created: false,
    });
    expect(bench.branch()).toBe('main');
  });

  it('get separate branches in separate workflows, one after the other', async () => {
    const bench = gitBench();
    const options = { repository: createGitRepository({ root: bench.root }), autoCommit: true };
    const branchOf = async (session: string, file: string): Promise<string | undefined> => {
      const events = await run(agentIn(bench.root, [write(file, 'x\n'), 'Done.'], options), 'Task', session);
      return eventsOf(events, 'git.branch')[0]?.branch;
    };
    const [first, second, third] = [
      await branchOf('one', 'a.md'),
      await branchOf('two', 'b.md'),
      await branchOf('one', 'c.md'),
    ];
    expect(second).not.toBe(first);
    expect(third).toBe(first);
    expect(bench.git('ls-tree', '--name-only', second ?? '')).not.toContain('a.md');
  });

  it('of a sub-agent use the branch of the session at the root', async () => {
    const bench = gitBench();
    const options = { repository: createGitRepository({ root: bench.root }), autoCommit: true };
    const root = await run(agentIn(bench.root, [write('a.md', 'x\n'), 'Done.'], options), 'Task', 'root');
    const child = agentIn(bench.root, [write('b.md', 'x\n'), 'Done.'], options);
    const events = await lastValueFrom(
      child.turn({ session: 'child', input: 'Help', metadata: { subagent: { root: 'root' } } }).pipe(toArray()),
    );
    expect(eventsOf(events, 'git.branch')[0]?.branch).toBe(eventsOf(root, 'git.branch')[0]?.branch);
  });

  it('of a root and its sub-agent share a branch at the same time by default; another session is blocked', async () => {
    const bench = gitBench();
    const options = { repository: createGitRepository({ root: bench.root }), autoCommit: true };
    const helper = agentIn(bench.root, [write('helper.txt', 'x\n'), 'Done.'], options);
    const stranger = agentIn(bench.root, ['Never asked.'], options);
    let others: Promise<readonly (readonly TurnEvent[])[]> = Promise.resolve([]);
    const root = agentIn(
      bench.root,
      [
        write('root.txt', 'x\n'),
        () => {
          const help = { session: 'helper', input: 'Help', metadata: { subagent: { root: 'root' } } };
          others = Promise.all([
            lastValueFrom(helper.turn(help).pipe(toArray())),
            run(stranger, 'Another task', 'stranger'),
          ]);
          return bash('while ! git log --format=%s -1 | grep -q Help; do sleep 0.05; done');
        },
        'Done.',
      ],
      options,
    );
    const events = await run(root, 'Task', 'root');
    const [help = [], strange = []] = await others;
    const branch = eventsOf(events, 'git.branch')[0]?.branch;
    expect(eventsOf(help, 'git.branch')[0]).toMatchObject({ branch, created: false });
    expect(outcomeOf(strange)).toMatchObject({ outcome: 'blocked', error: { code: 'git-work-tree-in-use' } });
    expect([help, events].map((each) => eventsOf(each, 'git.commit')[0]?.files)).toEqual([
      ['helper.txt'],
      ['root.txt'],
    ]);
    expect(bench.branches()).toEqual([branch, 'main']);
    expect(bench.branch()).toBe('main');
  });

  it('cannot use two branches in one work tree', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const options = { repository, workflowBranchStrategy: 'per-agent' } as const;
    const second = agentIn(bench.root, ['Never asked.'], options);
    let other: readonly TurnEvent[] = [];
    const first = agentIn(
      bench.root,
      [
        () => {
          void run(second, 'Second', 'two').then((events) => (other = events));
          return bash('sleep 0.5');
        },
        'Done.',
      ],
      options,
    );
    expect(outcomeOf(await run(first, 'First', 'one'))).toMatchObject({ outcome: 'completed' });
    expect(outcomeOf(other)).toMatchObject({ outcome: 'blocked', error: { code: 'git-work-tree-in-use' } });
    expect(bench.branches()).toEqual(['main']);
  });

  it('are isolated in separate work trees', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'sub/x.txt': 'x\n' });
    bench.put('dirty.txt', 'mine\n');
    const repository = createGitRepository({ root: bench.root });
    const folder = join(oddlyNamedFolder(), 'trees');
    const trees = await Promise.all(
      ['First task', 'Second task', 'Second task'].map((task) => addWorkTree(repository, { folder, task })),
    );
    expect(new Set(trees.map(({ branch }) => branch)).size).toBe(3);
    const turns = await Promise.all(
      trees.map(async (tree, index) =>
        run(
          agentIn(tree.root, [write('a.txt', `${index}\n`), bash('test ! -e dirty.txt'), 'Done.'], {
            repository: tree.repository,
            autoCommit: true,
            workflowBranchStrategy: 'per-agent',
          }),
          'Task',
          `session ${index}`,
        ),
      ),
    );
    for (const [index, events] of turns.entries()) {
      expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
      expect(eventsOf(events, 'git.commit')[0]).toMatchObject({ branch: trees[index]?.branch, files: ['a.txt'] });
      expect(bench.git('show', `${trees[index]?.branch}:a.txt`)).toBe(String(index));
    }
    expect(bench.status()).toEqual(['?? dirty.txt']);
    for (const tree of trees) await tree.remove();
    expect(bench.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(bench.branches()).toEqual(expect.arrayContaining(trees.map(({ branch }) => branch)));
  });

  it('keep a work tree with changes unless it is removed by force', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const tree = await addWorkTree(repository, { folder: oddlyNamedFolder(), task: 'x' });
    writeFileSync(join(tree.root, 'new.txt'), 'x');
    await expect(tree.remove()).rejects.toMatchObject({ code: 'git-worktree-dirty' });
    await tree.remove({ force: true });
    expect(existsSync(tree.root)).toBe(false);
    expect(bench.branches()).toEqual(['main']);
  });

  it('create a work tree of the same folder at a given commit', async () => {
    const bench = gitBench({ 'sub/x.txt': 'x\n' });
    const first = bench.git('rev-parse', 'HEAD');
    bench.git('commit', '--quiet', '--allow-empty', '--message=second');
    const tree = await addWorkTree(createGitRepository({ root: bench.at('sub') }), {
      folder: oddlyNamedFolder(),
      task: 'x',
      base: first,
      branchPrefix: 'w/',
    });
    expect(tree.root).toMatch(/\/sub$/);
    expect(tree.branch).toMatch(/^w\/x-/);
    expect(gitBenchAt(tree.root).git('rev-parse', 'HEAD')).toBe(first);
  });

  it('cannot create a work tree of an empty repository', async () => {
    await expect(
      addWorkTree(createGitRepository({ root: gitBench({}).root }), { folder: oddlyNamedFolder(), task: 'x' }),
    ).rejects.toMatchObject({ code: 'git-empty' });
    await expect(
      addWorkTree(createGitRepository({ root: gitBench().root }), {
        folder: oddlyNamedFolder(),
        task: 'x',
        base: '--evil',
      }),
    ).rejects.toMatchObject({ code: 'git-failed' });
  });
});

describe('git_push', () => {
  const withRemote = (): {
    readonly bench: GitBench;
    readonly remote: GitBench;
    readonly repository: GitRepository;
  } => {
    const remote = gitBenchAt(oddlyNamedFolder());
    remote.git('init', '--quiet', '--bare', '--initial-branch=main');
    const bench = gitBench();
    bench.git('remote', 'add', 'origin', remote.root);
    // A remote in a folder needs a repository that is trusted.
    return { bench, remote, repository: createGitRepository({ root: bench.root, trusted: true }) };
  };
  const push = response(call('push', 'git_push'));
  const commit = bash('echo x > b.txt && git add b.txt && git -c user.name=a -c user.email=a@b commit --quiet -m work');

  const answering = (agent: Agent, answer: 'once' | 'session' | 'deny' | undefined): Promise<readonly TurnEvent[]> =>
    new Promise((resolve) => {
      const events: TurnEvent[] = [];
      agent.turn({ session: 'session', input: 'Push it' }).subscribe({
        next: (event) => {
          events.push(event);
          if (event.type === 'approval.request' && answer !== undefined) {
            queueMicrotask(() => agent.answer(event.id, answer));
          }
        },
        complete: () => resolve(events),
      });
    });

  it('waits for the approval, then pushes the branch of the agent', async () => {
    const { bench, remote, repository } = withRemote();
    const events = await answering(
      agentIn(bench.root, [commit, push, 'Done.'], { repository, tools: [gitPushTool(repository)] }),
      'once',
    );
    const branch = eventsOf(events, 'git.branch')[0]?.branch ?? '';
    expect(eventsOf(events, 'approval.request')[0]).toMatchObject({
      id: expect.stringMatching(/^git-push:/) as string,
      call: { name: 'git_push' },
      expiresAt: expect.any(Number) as number,
    });
    expect(eventsOf(events, 'tool.result').at(-1)).toMatchObject({
      status: 'ok',
      output: { value: `Pushed ${branch} to origin.` },
      details: { kind: 'git-push', branch },
    });
    expect(remote.branches()).toEqual([branch]);
  });

  it('is denied if a person denies it', async () => {
    const { bench, remote, repository } = withRemote();
    const events = await answering(
      agentIn(bench.root, [commit, push, 'Done.'], { repository, tools: [gitPushTool(repository)] }),
      'deny',
    );
    expect(eventsOf(events, 'tool.result').at(-1)).toMatchObject({ status: 'denied', by: 'git' });
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    expect(remote.branches()).toEqual([]);
  });

  it('is denied after the time limit', async () => {
    const { bench, remote, repository } = withRemote();
    const events = await answering(
      agentIn(bench.root, [commit, push, 'Done.'], {
        repository,
        tools: [gitPushTool(repository)],
        approvalTimeoutMs: 50,
      }),
      undefined,
    );
    expect(eventsOf(events, 'tool.result').at(-1)).toMatchObject({
      status: 'denied',
      reason: 'The push was not approved within the time limit.',
    });
    expect(remote.branches()).toEqual([]);
  });

  it('asks once per session if the answer covers the session', async () => {
    const { bench, repository } = withRemote();
    const again = response(call('again', 'git_push'));
    const events = await answering(
      agentIn(bench.root, [commit, push, again, 'Done.'], { repository, tools: [gitPushTool(repository)] }),
      'session',
    );
    expect(eventsOf(events, 'approval.request')).toHaveLength(1);
    expect(eventsOf(events, 'tool.result').map(({ status }) => status)).toEqual(['ok', 'ok', 'ok']);
  });

  it('needs no approval without `requireApproval`', async () => {
    const { bench, remote, repository } = withRemote();
    const tools = [gitPushTool(repository, { requireApproval: false })];
    const events = await answering(
      agentIn(bench.root, [commit, push, 'Done.'], { repository, tools, requireApproval: false }),
      undefined,
    );
    expect(eventsOf(events, 'approval.request')).toEqual([]);
    expect(remote.branches()).toHaveLength(1);
  });

  it('is refused without the operator that requests approvals', async () => {
    const { bench, remote, repository } = withRemote();
    const model = scriptedModel([push, 'Done.']);
    const agent = harness({
      model,
      tools: toolDriver(createRegistry().register(gitPushTool(repository), writeTool(bench.root))),
    }).pipe();
    expect(eventsOf(await run(agent), 'tool.result')[0]).toMatchObject({
      status: 'failed',
      error: { code: 'git-push-not-approved' },
    });
    expect(remote.branches()).toEqual([]);
  });

  it('refuses other branches and reports the reason', async () => {
    const { bench, repository } = withRemote();
    const failing = async (options: Parameters<typeof gitPushTool>[1], more: Omit<GitOptions, 'repository'> = {}) => {
      const agent = agentIn(bench.root, [push, 'Done.'], {
        repository,
        tools: [gitPushTool(repository, options)],
        requireApproval: false,
        ...more,
      });
      return eventsOf(await run(agent), 'tool.result')[0];
    };
    expect(await failing({ requireApproval: false }, { autoBranch: false })).toMatchObject({
      status: 'failed',
      error: { code: 'git-nothing-to-push' },
    });
    expect(await failing({ requireApproval: false, remote: 'upstream' })).toMatchObject({
      status: 'failed',
      error: { code: 'git-no-remote' },
    });
    expect(() => gitPushTool(repository, { remote: '--upload-pack=evil' })).toThrow(/"remote"/);
  });
});

describe('an aborted turn', () => {
  it('commits nothing and restores the branch', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const agent = agentIn(bench.root, [bash('sleep 60')], { repository, autoCommit: true });
    await new Promise<void>((resolve) => {
      const subscription = agent.turn({ session: 'session', input: 'Wait' }).subscribe((event) => {
        if (event.type !== 'tool.call') return;
        subscription.unsubscribe();
        resolve();
      });
    });
    await repository.settled();
    expect(bench.branch()).toBe('main');
    expect(bench.branches()).toEqual(['main']);
    expect(repository.claims.count).toBe(0);
  });

  it('keeps its changes on its branch', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const agent = agentIn(bench.root, [write('b.txt', 'x\n'), bash('sleep 60')], {
      repository,
      autoCommit: true,
    });
    await new Promise<void>((resolve) => {
      const subscription = agent.turn({ session: 'session', input: 'Wait' }).subscribe((event) => {
        if (event.type !== 'tool.call' || event.call.name !== 'bash') return;
        subscription.unsubscribe();
        resolve();
      });
    });
    await repository.settled();
    expect(bench.branch()).toMatch(/^agent\/wait-/);
    expect(bench.status()).toEqual(['?? b.txt']);
  });
});

/** A store of one turn that is as good as a disk: its records outlive the process. */
const storeOn = (journal: string[]): SessionStore => ({
  open: () => ({
    snapshot: { messages: [], state: {} },
    journal: journal.map(decodeRecord),
    append: (record) => void journal.push(encodeRecord(record)),
    close: () => undefined,
  }),
  locate: () => 'session',
  unfinished: () => [],
});

describe('an aborted turn that cannot be cleaned up', () => {
  it('calls `onError`', async () => {
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    const errors: unknown[] = [];
    const agent = agentIn(bench.root, [bash('git switch --quiet --create mine; sleep 60')], {
      repository,
      onError: (error) => errors.push(error),
    });
    await new Promise<void>((resolve) => {
      const subscription = agent.turn({ session: 'session', input: 'Wait' }).subscribe((event) => {
        if (event.type !== 'tool.call') return;
        void vi
          .waitFor(() => expect(bench.branch()).toBe('mine'), { timeout: 20_000 })
          .then(() => {
            subscription.unsubscribe();
            resolve();
          });
      });
    });
    await repository.settled();
    expect(errors).toMatchObject([{ code: 'git-branch-changed' }]);
  });
});

describe('a resumed turn', () => {
  it('continues on its branch and knows the files of the user', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'mine.txt': 'one\n' });
    bench.put('mine.txt', 'mine\n');
    const journal: string[] = [];
    const crashed = agentIn(bench.root, [write('b.txt', 'x\n'), { never: [] }], {
      sessions: storeOn(journal),
      autoCommit: true,
    });
    const id = await new Promise<string>((resolve) => {
      crashed.turn({ session: 'session', input: 'Fix it' }).subscribe((event) => {
        if (event.type === 'model.request' && event.step === 2) resolve(event.turn);
      });
    });
    const resumed = agentIn(bench.root, ['Done.'], { sessions: storeOn([...journal]), autoCommit: true });
    const events = await lastValueFrom(resumed.resume(id).pipe(toArray()));
    expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
    expect(eventsOf(events, 'git.commit')[0]?.files).toEqual(['b.txt']);
    expect(bench.branch()).toBe('main');
    expect(bench.status()).toEqual([' M mine.txt']);
  });

  it.each([
    ['on a branch', [], 'main'],
    ['on a detached head', ['--detach'], 'HEAD'],
  ])(
    'returns the user %s although its process was killed before it had stored the switch',
    async (_, options, head) => {
      const bench = gitBench();
      bench.git('switch', '--quiet', ...(options.length > 0 ? options : ['main']));
      const journal: string[] = [];
      const crashed = agentIn(bench.root, [{ never: [] }], { sessions: storeOn(journal) });
      const id = await new Promise<string>((resolve) => {
        crashed.turn({ session: 'session', input: 'Fix it' }).subscribe((event) => {
          if (event.type === 'model.request') resolve(event.turn);
        });
      });
      const branch = bench.branch();
      expect(branch).toMatch(/^agent\//);
      const stored = journal.slice(
        0,
        journal.findIndex((line) => line.includes('"session.state"')),
      );
      const resumed = agentIn(bench.root, [write('b.txt', 'x\n'), 'Done.'], {
        sessions: storeOn(stored),
        autoCommit: true,
      });
      const events = await lastValueFrom(resumed.resume(id).pipe(toArray()));
      expect(outcomeOf(events)).toMatchObject({ outcome: 'completed' });
      expect(bench.git('rev-parse', '--abbrev-ref', 'HEAD').trim()).toBe(head);
      expect(bench.git('branch', '--list', 'agent/*', '--format=%(refname:short)').trim().split('\n')).toEqual([
        branch,
      ]);
    },
  );
});

describe('the options', () => {
  it('are refused if they are unknown or wrong', () => {
    const repository = createGitRepository({ root: gitBench().root });
    expect(() => git({ repository, auto_branch: true } as never)).toThrow(/"auto_branch"/);
    expect(() => git({ repository, branchPrefix: '' })).toThrow(/"branchPrefix"/);
    expect(() => git({ repository: {} as never })).toThrow(/"repository"/);
    expect(() => git({ repository, workflowBranchStrategy: 'none' as never })).toThrow(/"workflowBranchStrategy"/);
    expect(() => createGitRepository({ root: '.', safe: true } as never)).toThrow(/"safe"/);
  });

  it('can be written in the notation of configuration files', () => {
    expect(
      gitConfig({
        auto_branch: true,
        branch_prefix: 'bot/',
        auto_commit: true,
        require_approval: false,
        workflow_branch_strategy: 'per-agent',
      }),
    ).toEqual({
      autoBranch: true,
      branchPrefix: 'bot/',
      autoCommit: true,
      requireApproval: false,
      workflowBranchStrategy: 'per-agent',
    });
    expect(() => gitConfig({ autoBranch: true })).toThrow(/"autoBranch"/);
    expect(() => git({ repository: createGitRepository({ root: '.' }), ...gitConfig({}) })).not.toThrow();
  });
});

/** A git that answers at once, for a repository in which nothing ever changes. */
const stillGit: GitRunner = async (args) => {
  const answers: Readonly<Record<string, string>> = {
    'rev-parse': `false\n${process.cwd()}\n`,
    status: '# branch.oid (initial)\0# branch.head main\0',
  };
  return { exitCode: 0, stderr: '', stdout: Buffer.from(answers[args[0] ?? ''] ?? '') };
};

describeOperator(
  () => git({ repository: createGitRepository({ root: process.cwd(), run: stillGit }), autoBranch: false }),
  {
    changes: ['model.request', 'turn.end', 'session.state'],
  },
);
