import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { harness } from '@h/turn';
import { call, response, scriptedModel } from '@h/turn/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { driverOf } from '../test/tool-driver.js';
import {
  allowsPath,
  subagents,
  unrestricted,
  type ChildContext,
  type ChildInfo,
  type Isolation,
  type Spawned,
} from './index.js';

const run = promisify(execFile);
const git = async (cwd: string, ...args: readonly string[]): Promise<string> =>
  (
    await run(
      'git',
      ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.org', '-c', 'core.hooksPath=/dev/null', ...args],
      { cwd },
    )
  ).stdout.trim();

let home = '';
let repository = '';
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'subagents-')));
  repository = join(home, 'repository');
  await git(home, 'init', '--quiet', '-b', 'main', repository);
  await writeFile(join(repository, 'a.txt'), 'original\n');
  await git(repository, 'add', 'a.txt');
  await git(repository, 'commit', '--quiet', '-m', 'Begin');
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Runs one task at a time: `git worktree` reads the entries of all work trees, including incomplete ones. */
const inTurn = () => {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(task: () => Promise<T>): Promise<T> => {
    const result = last.then(task);
    last = result.catch(() => undefined);
    return result;
  };
};

/** Creates a work tree on a separate branch for each sub-agent, commits its work and removes the folder. */
const workTrees = () => {
  const alone = inTurn();
  return async ({ id }: ChildInfo): Promise<Isolation> => {
    const folder = join(home, 'trees', id);
    const branch = `agent/${id}`;
    await alone(() => git(repository, 'worktree', 'add', '--quiet', '-b', branch, '--', folder, 'HEAD'));
    return {
      folder,
      original: repository,
      finish: (status) =>
        alone(async () => {
          await git(folder, 'add', '--all');
          const changed = await git(folder, 'status', '--porcelain');
          if (changed !== '') await git(folder, 'commit', '--quiet', '-m', `Work of ${id}, ${status}`);
          await git(repository, 'worktree', 'remove', '--force', '--', folder);
          if (changed === '') await git(repository, 'branch', '--quiet', '-D', '--', branch);
          return changed === '' ? undefined : `branch ${branch}`;
        }),
    };
  };
};

const editors = (contexts: ChildContext[]) =>
  subagents({
    policy: { ...unrestricted, write: [repository] },
    isolate: workTrees(),
    agents: {
      editor: {
        description: 'Edits.',
        isolate: true,
        create: (context) => {
          contexts.push(context);
          const edit = {
            name: 'edit',
            paths: { root: context.folder, write: ['path'] },
            run: () => writeFile(join(context.folder ?? '', 'a.txt'), `by ${context.task}\n`).then(() => 'edited'),
          };
          const script = context.task === 'nothing' ? ['Nothing to do.'] : [response(call('1', 'edit')), 'Edited.'];
          return harness({ model: scriptedModel(script), tools: driverOf(edit) }).pipe(context.guard);
        },
      },
    },
  });

describe('isolation', () => {
  it('creates a separate work tree for each sub-agent and keeps the branches', async () => {
    const contexts: ChildContext[] = [];
    const team = editors(contexts);
    const spawned = (await Promise.all(
      ['one', 'two'].map((task) => team.spawn({ parent: 'boss', agent: 'editor', task })),
    )) as Spawned[];
    const ends = await Promise.all(spawned.map(({ ended }) => ended));
    expect(ends.map(({ status, note }) => [status, note])).toEqual(
      spawned.map(({ child }) => ['ok', `branch agent/${child}`]),
    );
    expect(await git(repository, 'show', 'main:a.txt')).toBe('original');
    expect(await Promise.all(spawned.map(({ child }) => git(repository, 'show', `agent/${child}:a.txt`)))).toEqual([
      'by one',
      'by two',
    ]);
    expect(contexts.map(({ folder }) => existsSync(folder ?? ''))).toEqual([false, false]);
    for (const { policy, folder = '' } of contexts) {
      expect([
        allowsPath(policy, join(folder, 'a.txt'), 'write'),
        allowsPath(policy, join(repository, 'a.txt'), 'write'),
      ]).toEqual([true, false]);
    }
  });

  it('removes the branch of a sub-agent that changed nothing', async () => {
    const spawned = (await editors([]).spawn({ parent: 'boss', agent: 'editor', task: 'nothing' })) as Spawned;
    expect((await spawned.ended).note).toBeUndefined();
    expect(await git(repository, 'branch', '--list', 'agent/*')).toBe('');
  });
});
