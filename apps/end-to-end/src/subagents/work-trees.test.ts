import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  confinement,
  unrestricted,
  type ChildContext,
  type Isolation,
  type ChildInfo,
  type Spawned,
  type SubagentsOptions,
} from '@h/subagents';
import { defineTool } from '@h/tools';
import { reply } from '@h/turn';
import { call, type ScriptStep } from '@h/turn/testing';
import { addWorkTree, createGitRepository, GitError, type GitRepository } from '@h/git';
import { workspaceTools } from '@h/workspace';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { family, lastRead, resultsOf, says, spawn, wait, type ChildParts, type Family } from './family.js';

const execute = promisify(execFile);

let home = '';
let repo = '';
let repository: GitRepository;
const git = async (...args: readonly string[]): Promise<string> =>
  (await execute('git', args, { cwd: repo })).stdout.trim();

beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'trees-')));
  repo = join(home, 'repo');
  await execute('git', ['init', '--quiet', '-b', 'main', repo]);
  await git('config', 'user.name', 'Somebody');
  await git('config', 'user.email', 'somebody@example.org');
  await writeFile(join(repo, 'a.txt'), 'original\n');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'Begin');
  await writeFile(join(repo, 'mine.txt'), 'not committed\n');
  repository = createGitRepository({ root: repo });
});
afterEach(() => rm(home, { recursive: true, force: true }));

/**
 * Creates a work tree for each sub-agent. A completed sub-agent commits its changes on its branch. Changes of any other
 * sub-agent stay uncommitted in the work tree. A work tree without changes is removed.
 */
const isolate = async ({ task }: ChildInfo): Promise<Isolation> => {
  const tree = await addWorkTree(repository, { folder: join(home, 'trees'), task });
  return {
    folder: tree.root,
    original: repo,
    finish: async (status) => {
      const isChanged = (await tree.repository.state()).entries.length > 0;
      if (isChanged && status === 'ok') {
        await tree.repository.git(['add', '--all']);
        await tree.repository.git(['commit', '--quiet', '-m', task]);
      }
      try {
        await tree.remove();
        return isChanged ? `Its work is on the branch ${tree.branch}.` : 'It changed no files.';
      } catch (error) {
        if (error instanceof GitError && error.code === 'git-worktree-dirty') {
          return `Its uncommitted changes are in ${tree.root}, on the branch ${tree.branch}.`;
        }
        throw error;
      }
    },
  };
};

const edit = (to: string) => says(call('e', 'edit', { path: 'a.txt', old: 'original', new: to }));
const nap = defineTool({
  name: 'nap',
  description: 'Waits.',
  input: { type: 'object' } as const,
  effect: 'read-only',
  paths: {},
  run: (_, { signal }) =>
    new Promise<string>((__, reject) => {
      signal.addEventListener('abort', () => reject(new Error('Woken.')), { once: true });
    }),
});

const editors = (
  tasks: Readonly<Record<string, readonly ScriptStep[]>>,
  parent: readonly ScriptStep[] = [],
  more: Pick<SubagentsOptions, 'scheduler' | 'limits'> = {},
): Family =>
  family({
    parent,
    tasks,
    policy: { ...unrestricted, read: [repo], write: [repo] },
    kind: { isolate: true },
    ...more,
    isolate,
    build: ({ policy, folder = '' }: ChildContext): ChildParts => ({
      tools: [...workspaceTools(confinement(policy, folder).workspace).tools, nap],
    }),
  });

const expectUntouched = async (): Promise<void> => {
  expect(await readFile(join(repo, 'a.txt'), 'utf8')).toBe('original\n');
  expect(await git('status', '--porcelain')).toBe('?? mine.txt');
  expect(await git('rev-parse', '--abbrev-ref', 'HEAD')).toBe('main');
  expect(await git('log', '--format=%s', 'main')).toBe('Begin');
};

const trees = async (): Promise<readonly string[]> =>
  existsSync(join(home, 'trees')) ? readdir(join(home, 'trees')) : [];

/** Of the virtual clock. Tools measure their share of it with the real one, so it is long. */
const timeoutMs = 600_000;

describe('sub-agents in work trees', () => {
  it('edit the same file at once, and leave only their two branches', async () => {
    const { agent, parent, models } = editors(
      {
        one: [
          edit('by one'),
          says(call('out', 'write', { path: join(repo, 'a.txt'), content: 'escaped' })),
          'One is done.',
        ],
        two: [edit('by two'), 'Two is done.'],
      },
      [says(spawn('s1', 'one'), spawn('s2', 'two')), says(wait('w')), 'Done.'],
    );
    expect(await reply(agent.turn({ session: 'boss', input: 'Go' }))).toMatchObject({ outcome: 'completed' });
    await expectUntouched();
    expect(await trees()).toEqual([]);
    expect((await git('worktree', 'list')).split('\n')).toHaveLength(1);
    const branches = [...lastRead(parent).matchAll(/Its work is on the branch ([^ ]+)\./g)].map(
      ([, branch = '']) => branch,
    );
    expect(await Promise.all(branches.map((branch) => git('show', `${branch}:a.txt`)))).toEqual(['by one', 'by two']);
    expect(resultsOf(models.get('one'))['out']).toMatch(/This agent may not read/);
  }, 60_000);

  it('remove the work tree and the branch if nothing was changed', async () => {
    const { team } = editors({ look: [says(call('r', 'read', { path: 'a.txt' })), 'Looked.'] });
    const spawned = (await team.spawn({ parent: 'boss', agent: 'worker', task: 'look' })) as Spawned;
    expect(await spawned.ended).toMatchObject({ status: 'ok', note: 'It changed no files.' });
    expect([await trees(), await git('branch', '--format=%(refname:short)')]).toEqual([[], 'main']);
    await expectUntouched();
  }, 60_000);

  it.each([
    ['cancelled', (team: Family['team']) => void team.cancel('boss', { reason: 'Enough.' })],
    [
      'timed-out',
      (_: unknown, clock: VirtualTimeScheduler) => {
        clock.maxFrames = timeoutMs;
        clock.flush();
      },
    ],
  ])(
    'that are %s keep and report their changes, and remove unchanged work trees',
    async (status, stop) => {
      const clock = new VirtualTimeScheduler();
      const { team, models } = editors(
        {
          changed: [edit('half done'), says(call('n', 'nap', {})), 'Never.'],
          idle: [says(call('n', 'nap', {})), 'Never.'],
        },
        [],
        { scheduler: clock, limits: { timeoutMs } },
      );
      const spawned = (await Promise.all(
        ['changed', 'idle'].map((task) => team.spawn({ parent: 'boss', agent: 'worker', task })),
      )) as Spawned[];
      await expect
        .poll(() => [models.get('changed')?.requests.length, models.get('idle')?.requests.length], { timeout: 20_000 })
        .toEqual([2, 1]);
      stop(team, clock);
      const [changed, idle] = await Promise.all(spawned.map(({ ended }) => ended));
      expect([changed?.status, idle?.status]).toEqual([status, status]);
      const [, folder = '', branch = ''] =
        /^Its uncommitted changes are in (.+), on the branch (.+)\.$/.exec(changed?.note ?? '') ?? [];
      expect(await readFile(join(folder, 'a.txt'), 'utf8')).toBe('half done\n');
      expect((await git('branch', '--format=%(refname:short)')).split('\n').toSorted()).toEqual(
        [branch, 'main'].toSorted(),
      );
      expect(idle?.note).toBe('It changed no files.');
      expect(await trees()).toHaveLength(1);
      await expectUntouched();
    },
    60_000,
  );
});
