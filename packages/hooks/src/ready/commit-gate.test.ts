import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { harness } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeRepository, type Repository } from '../../test/repository.js';
import { runTurn } from '../../test/turns.js';
import { commitsIn } from '@h/shell';
import { hooks } from '../hooks.js';
import { destructiveCommands } from './destructive-commands.js';
import { commitGate, type CommitGateOptions } from './commit-gate.js';
import type { CheckRunner } from '@h/process';

const where = { cwd: '/work/app', home: '/home/me' };
const repositories: Repository[] = [];

const repository = (branch?: string): Repository => {
  const made = makeRepository(branch);
  repositories.push(made);
  return made;
};

afterEach(() => {
  for (const { remove } of repositories.splice(0)) remove();
});

/** Returns whether a process is running. A zombie process has ended, but was not reaped. */
const isRunning = (pid: string): boolean => {
  const status = spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout.trim();
  return status !== '' && !status.startsWith('Z');
};

/** A tool that performs the commit. */
const commit = async (own: Repository, command: string, options: Partial<CommitGateOptions> = {}) => {
  const tools = scriptedTools({
    bash: (input) => {
      const { command: line } = input as { readonly command: string };
      return execFileSync('bash', ['-c', line], {
        cwd: own.folder,
        env: {
          PATH: process.env['PATH'],
          HOME: own.folder,
          GIT_AUTHOR_NAME: 'a',
          GIT_AUTHOR_EMAIL: 'a@b',
          GIT_COMMITTER_NAME: 'a',
          GIT_COMMITTER_EMAIL: 'a@b',
        },
        encoding: 'utf8',
      });
    },
  });
  const gate = commitGate({ command: 'sh test.sh', cwd: own.folder, ...options });
  const ran = await runTurn([hooks([gate])], { tools, script: [response(call('c1', 'bash', { command })), 'Done.'] });
  const result = ran.of('tool.result')[0];
  return {
    status: result?.status,
    reason: result?.status === 'denied' ? result.reason : '',
    commits: own.git('log', '--format=%s').split('\n').length - 1,
  };
};

describe('commitsIn', () => {
  it.each([
    'git commit -m x',
    'git commit',
    'git commit -am "x y"',
    'git -C sub commit -m x',
    'git -c user.name=a -c x=y commit -am x',
    'git --no-pager commit',
    'git --git-dir=.git --work-tree=. commit -m x',
    'git add -A && git commit -m x',
    'cd sub; git commit',
    '(git commit -m x)',
    'bash -c "git commit -m x"',
    "sh -c 'cd x && git -C y commit'",
    'sudo git commit -m x',
    'env GIT_AUTHOR_NAME=a git commit -m x',
    'git -c alias.ci=commit ci -m x',
    'g() { git commit "$@"; }; g -m x',
    'if true; then git commit -m x; fi',
    'git commit -F message.txt',
    'git commit -m "$(cat <<EOF\nx\nEOF\n)"',
    '/usr/bin/git commit -m x',
    'git commit --no-verify -m x',
    'git commit --amend --no-edit',
    'timeout 60 git commit -m x',
    'GIT=git; $GIT commit -m x',
    'echo y | git commit -F -',
    'true && { git commit -m x; }',
    'git commit-x; git commit',
  ])('finds the commit in %s', (line) => {
    expect(commitsIn(line, where).commits).toHaveLength(1);
  });

  it.each([
    'git status',
    'git log --grep commit',
    'git commit-graph write',
    'git commit-tree x',
    'git show commit',
    'echo "git commit -m x"',
    'grep -rn "git commit" .',
    'git commit --dry-run',
    'git commit -h',
    'git commit --help',
    'git config alias.ci commit',
    'git help commit',
    'git stash push -m commit',
  ])('finds no commit in %s', (line) => {
    expect(commitsIn(line, where)).toEqual({ commits: [], isUnclear: false });
  });

  it('returns the repository, the message and the preceding commands', () => {
    expect(commitsIn('cd a && npm run fix > log && git -C b -C ../c commit -am "wip: x"', where).commits).toEqual([
      {
        folder: '/work/app/a/c',
        message: 'wip: x',
        isFixup: false,
        before: [
          { argv: ['cd', 'a'], isRedirected: false },
          { argv: ['npm', 'run', 'fix'], isRedirected: true },
        ],
      },
    ]);
    expect(commitsIn('git -C "$X" commit -m "$M"', where).commits).toMatchObject([
      { folder: undefined, message: undefined },
    ]);
    expect(commitsIn('git commit --fixup=HEAD', where).commits).toMatchObject([{ isFixup: true }]);
    expect(commitsIn('git commit --message="wip" ; git commit -mwip', where).commits).toMatchObject([
      { message: 'wip' },
      { message: 'wip' },
    ]);
  });

  it('reports a possible commit that cannot be parsed', () => {
    expect(commitsIn('git commit -m "x', where)).toMatchObject({ isUnclear: true });
    expect(commitsIn('eval "$X"; # commit', where)).toMatchObject({ isUnclear: true });
    expect(commitsIn('echo "x', where)).toMatchObject({ isUnclear: false });
  });
});

describe('commitGate', () => {
  it('allows a commit if the tests pass', async () => {
    const own = repository();
    own.write('test.sh', 'exit 0');
    expect(await commit(own, 'git add -A && git commit -qm "add a test"')).toMatchObject({ status: 'ok', commits: 1 });
  });

  it('denies a commit if the tests fail, with the end of their output', async () => {
    const own = repository();
    own.write('test.sh', 'seq -f "line %g" 5000; echo "1 test failed" >&2; exit 3');
    const { status, reason, commits } = await commit(own, 'git add -A && git commit -qm "add a test"', {
      maxChars: 200,
    });
    expect({ status, commits }).toEqual({ status: 'denied', commits: 0 });
    expect(reason).toMatch(/^The commit was denied: sh test\.sh failed with exit code 3\./);
    expect(reason).toMatch(/1 test failed$/);
    expect(reason).not.toContain('line 100\n');
    expect(reason.length).toBeLessThan(450);
  });

  it.each([
    'git -C . commit --allow-empty -qm x',
    'git -c a.b=c commit --allow-empty -qam x',
    'bash -c "git commit --allow-empty -qm x"',
    'git commit --no-verify --allow-empty -qm x',
  ])('denies the commit in %s', async (command) => {
    const own = repository();
    own.write('test.sh', 'exit 1');
    expect(await commit(own, command)).toMatchObject({ status: 'denied', commits: 0 });
  });

  it('runs no tests without a commit', async () => {
    const own = repository();
    own.write('test.sh', 'touch ran');
    expect(await commit(own, 'git status && echo "git commit"')).toMatchObject({ status: 'ok' });
    expect(existsSync(join(own.folder, 'ran'))).toBe(false);
  });

  it('allows WIP commits on agent branches only', async () => {
    const broken = 'exit 1';
    const wip = 'git add -A && git commit -qm "wip: half of it"';
    const agent = repository('agent/fix-1');
    agent.write('test.sh', broken);
    expect(await commit(agent, wip)).toMatchObject({ status: 'ok', commits: 1 });
    expect(await commit(agent, 'git commit --allow-empty -qm "done"')).toMatchObject({ status: 'denied', commits: 1 });
    expect(await commit(agent, 'git switch -qc main2; git commit --allow-empty -qm "wip"')).toMatchObject({
      status: 'denied',
    });
    const main = repository('main');
    main.write('test.sh', broken);
    expect(await commit(main, wip)).toMatchObject({ status: 'denied', commits: 0 });
    expect(await commit(main, wip, { wipBranches: ['main'] })).toMatchObject({ status: 'ok', commits: 1 });
  });

  it('reads the branch of the repository of the commit', async () => {
    const agent = repository('agent/x');
    const main = repository('main');
    main.write('test.sh', 'exit 1');
    expect(await commit(main, `git -C ${agent.folder} commit --allow-empty -qm wip`)).toMatchObject({ status: 'ok' });
    agent.write('test.sh', 'exit 1');
    expect(await commit(agent, `git -C ${main.folder} commit --allow-empty -qm wip`)).toMatchObject({
      status: 'denied',
    });
  });

  it('denies a commit after commands that may change the tested files', async () => {
    const own = repository();
    own.write('test.sh', 'exit 0');
    const { status, reason } = await commit(own, 'node -e "0" && git add -A && git commit -qm x');
    expect(status).toBe('denied');
    expect(reason).toContain('"node -e 0" in the same line may change files');
    expect(await commit(own, 'echo x > a.js && git add -A && git commit -qm x')).toMatchObject({ status: 'denied' });
    expect(await commit(own, 'git checkout -q . && git commit --allow-empty -qm x')).toMatchObject({
      status: 'denied',
    });
    expect(await commit(own, 'bash x.sh; git commit --allow-empty -qm x')).toMatchObject({ status: 'denied' });
    expect(await commit(own, 'sh test.sh && git switch -qc y && git commit --allow-empty -qm x')).toMatchObject({
      status: 'ok',
      commits: 1,
    });
    expect(await commit(own, 'node -e "0"; git commit --allow-empty -qm x', { allowMixed: true })).toMatchObject({
      status: 'ok',
      commits: 2,
    });
  });

  it('denies a commit if the tests time out, and kills their processes', async () => {
    const own = repository();
    own.write('test.sh', 'trap "" TERM; sleep 600 & echo $! > pid; wait; sleep 600');
    const { status, reason } = await commit(own, 'git commit --allow-empty -qm x', { timeoutMs: 1_000 });
    expect(status).toBe('denied');
    expect(reason).toContain('did not end within 1000 ms');
    const pid = readFileSync(join(own.folder, 'pid'), 'utf8').trim();
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 });
  });

  it('kills the tests when the turn ends', async () => {
    const own = repository();
    own.write('test.sh', 'sleep 600 & echo $! > pid; wait');
    const model = scriptedModel([response(call('c1', 'bash', { command: 'git commit -m x' })), 'Done.']);
    const agent = harness({ model, tools: scriptedTools({ bash: 'done' }) }).pipe(
      hooks([commitGate({ command: 'sh test.sh', cwd: own.folder })]),
    );
    const running = agent.turn({ session: 's', input: 'Commit it' }).subscribe();
    const file = join(own.folder, 'pid');
    await vi.waitFor(() => expect(existsSync(file) && readFileSync(file, 'utf8').endsWith('\n')).toBe(true), {
      timeout: 10_000,
    });
    running.unsubscribe();
    await vi.waitFor(() => expect(isRunning(readFileSync(file, 'utf8').trim())).toBe(false), { timeout: 10_000 });
  });

  it('denies a commit if the tests cannot be started', async () => {
    const own = repository();
    expect(await commit(own, 'git commit --allow-empty -qm x', { command: 'no-such-program-anywhere' })).toMatchObject({
      status: 'denied',
      commits: 0,
    });
    const failing: CheckRunner = async () => ({
      exitCode: undefined,
      output: '',
      isTruncated: false,
      failure: 'not-started',
    });
    expect((await commit(own, 'git commit --allow-empty -qm x', { run: failing })).reason).toContain(
      'sh test.sh could not be started',
    );
    const throwing: CheckRunner = () => Promise.reject(new Error('No sandbox.'));
    expect(await commit(own, 'git commit --allow-empty -qm x', { run: throwing })).toMatchObject({
      status: 'denied',
      commits: 0,
    });
  });

  it('hides secrets from the tests', async () => {
    const own = repository();
    own.write('test.sh', 'test -z "$H_TEST_API_KEY"');
    process.env['H_TEST_API_KEY'] = 'secret';
    try {
      expect(await commit(own, 'git commit --allow-empty -qm x')).toMatchObject({ status: 'ok' });
    } finally {
      delete process.env['H_TEST_API_KEY'];
    }
  });

  it.each([
    ['ci', 'commit', 'git ci --allow-empty -qm x'],
    ['ci', '!git commit', 'git -c color.ui=never ci --allow-empty -qm x'],
    ['save', '!f() { git add -A && git commit -qm "$1"; }; f', 'git save x'],
  ])('runs the tests for the alias %s = %s', async (name, value, command) => {
    const own = repository();
    own.write('test.sh', 'exit 1');
    own.git('config', `alias.${name}`, value);
    expect(await commit(own, command)).toMatchObject({ status: 'denied', commits: 0 });
  });

  it('runs no tests for an alias that does not commit', async () => {
    const own = repository();
    own.write('test.sh', 'exit 1');
    own.git('config', 'alias.st', 'status');
    expect(await commit(own, 'git st')).toMatchObject({ status: 'ok' });
  });

  it('runs no tests for a call that another gate denies', async () => {
    const own = repository();
    own.write('test.sh', 'touch ran');
    const tools = scriptedTools({ bash: 'done' });
    const rules = [commitGate({ command: 'sh test.sh', cwd: own.folder }), destructiveCommands({ cwd: own.folder })];
    const ran = await runTurn([hooks(rules)], {
      tools,
      script: [response(call('c1', 'bash', { command: 'git commit -qm x && git push -f' })), 'Done.'],
    });
    expect(ran.of('tool.result')).toMatchObject([{ status: 'denied', by: 'destructive-commands' }]);
    expect(existsSync(join(own.folder, 'ran'))).toBe(false);
  });

  it('uses the time limit of the tests, independent of other gates', async () => {
    const own = repository();
    own.write('test.sh', 'sleep 0.3');
    const gate = commitGate({ command: 'sh test.sh', cwd: own.folder });
    const ran = await runTurn([hooks([gate], { gateTimeoutMs: 20 })], {
      script: [response(call('c1', 'bash', { command: 'git commit -m x' })), 'Done.'],
    });
    expect(ran.of('tool.result')).toMatchObject([{ status: 'ok' }]);
  });

  it('runs the tests for a command that it cannot parse', async () => {
    const own = repository();
    own.write('test.sh', 'exit 1');
    expect(await commit(own, 'git commit -m "x')).toMatchObject({ status: 'denied' });
  });

  it('uses the given function to read the command', async () => {
    const own = repository();
    own.write('test.sh', 'exit 1');
    expect(await commit(own, 'git commit --allow-empty -qm x', { commandOf: () => undefined })).toMatchObject({
      status: 'ok',
    });
  });

  it.each([
    {},
    { command: '' },
    { command: 'x', timeout: 1 },
    { command: 'x', timeoutMs: 0 },
    { command: 'x', maxChars: 0 },
    { command: 'x', run: 'npm' },
    { command: 'x', wipBranches: 'main' },
    { command: 'x', allowMixed: 1 },
  ])('rejects %j', (options) => {
    expect(() => commitGate(options as never)).toThrow(expect.objectContaining({ code: 'invalid-option' }) as Error);
  });
});
