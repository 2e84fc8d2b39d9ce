import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openProject } from '@h/continuity';
import { expect, it, vi } from 'vitest';
import { gitIn, ownFolder, ownRepository } from '../continuity-folder.js';
import { contentOf, shopTasks } from './shop.js';
import { bundleWorker, startWorker } from './worker-process.js';

/** Passes when the file of a task is complete. Pauses if the test wants to kill the worker during the check. */
const checkScript = `
touch .git/checking-$1
while [ -e .git/hold-check-$1 ]; do sleep 0.02; done
[ "$(cat $1.txt)" = "The whole of $1." ]
`;

const tasksOf = (lines: readonly string[]): readonly string[] =>
  lines.flatMap((line) => (line.startsWith('build ') ? [line.slice('build '.length)] : []));

it('completes a project despite crashes, manual edits and two workers at once', async () => {
  const folder = await ownRepository();
  const script = join(await ownFolder(), 'worker.mjs');
  await bundleWorker(script);
  const work = (...args: readonly string[]) => startWorker(script, folder, ...args);
  const inGit = (name: string): string => join(folder, '.git', name);
  await writeFile(inGit('check.sh'), checkScript);
  const project = openProject({ folder });
  const next = async () => (await project.status()).next;

  // The initializer only plans.
  expect(await work('planner', '1').ended()).toEqual(['session initializer planner-1', 'end max-sessions 1']);
  expect(await project.status()).toMatchObject({
    counts: { todo: 8, total: 8 },
    next: { kind: 'work', task: { id: 'login' }, isResumed: false },
  });
  expect(gitIn(folder, 'log', '-1', '--format=%s')).toBe('Plan the project');

  // A worker is killed in the middle of an edit.
  await writeFile(inGit('hold-edit-login'), '');
  const first = work('first');
  await first.said('build login');
  expect(await next()).toMatchObject({ kind: 'work', task: { id: 'cart' } });
  await first.kill();
  expect(await readFile(join(folder, 'login.txt'), 'utf8')).toBe('The');
  expect(await next()).toMatchObject({ kind: 'work', task: { id: 'login' }, isResumed: true });
  await rm(inGit('hold-edit-login'));

  // The next worker continues the same task and is killed during a check.
  await writeFile(inGit('hold-check-catalog'), '');
  const second = work('second');
  await vi.waitUntil(() => existsSync(inGit('checking-catalog')), { timeout: 60_000 });
  await second.kill();
  await rm(inGit('hold-check-catalog'));
  expect(tasksOf(second.lines())).toEqual(['login', 'catalog']);
  expect(await project.status()).toMatchObject({
    counts: { done: 1 },
    next: { kind: 'work', task: { id: 'catalog' }, isResumed: true },
  });
  expect(await work('third', '1').ended()).toEqual(['session worker third-1', 'build catalog', 'end max-sessions 1']);

  // A person adds a task and damages the progress file. No worker overwrites the damaged file.
  const text = await readFile(project.progress.path, 'utf8');
  const edited = JSON.parse(text) as { tasks: object[] };
  edited.tasks.push({
    id: 'by-hand',
    title: 'Build by-hand',
    acceptance: ['by-hand works end to end'],
    status: 'todo',
    generation: 0,
  });
  await writeFile(project.progress.path, `${JSON.stringify(edited).slice(0, -2)},]}`);
  expect(await work('fourth').ended()).toEqual(['end damaged 0']);
  expect(await readFile(project.progress.path, 'utf8')).toMatch(/,\]\}$/);
  await writeFile(project.progress.path, JSON.stringify(edited));
  expect(await work('fifth', '1').ended()).toEqual(['session worker fifth-1', 'build cart', 'end max-sessions 1']);

  // The end of a write is lost. The last valid version is restored.
  await writeFile(project.progress.path, text.slice(0, 500));
  expect(await next()).toEqual({ kind: 'stop', reason: 'damaged' });
  expect((await project.progress.restore()).tasks.filter(({ status }) => status === 'done')).toHaveLength(3);

  // Two concurrent workers never work on the same task, and end when all tasks are done.
  await writeFile(inGit('hold-edit-search'), '');
  const both = ['sixth', 'seventh'].map((name) => work(name));
  await vi.waitUntil(() => both.every((worker) => tasksOf(worker.lines()).length > 0), { timeout: 60_000 });
  await rm(inGit('hold-edit-search'));
  const pair = await Promise.all(both.map((worker) => worker.ended()));
  expect(pair.map((lines) => lines.at(-1)?.split(' ').slice(0, 2))).toEqual([
    ['end', 'all-done'],
    ['end', 'all-done'],
  ]);
  expect(pair.flatMap(tasksOf).toSorted()).toEqual(['by-hand', 'checkout', 'orders', 'reports', 'returns', 'search']);

  const { tasks, next: after } = await project.status();
  expect(after).toEqual({ kind: 'stop', reason: 'all-done' });
  expect(tasks.map(({ id, status }) => `${id} ${status}`)).toEqual([...shopTasks, 'by-hand'].map((id) => `${id} done`));
  for (const { id, evidence } of tasks) {
    expect(evidence?.check).toMatchObject({ command: `sh .git/check.sh ${id}`, exitCode: 0 });
    expect(await readFile(join(folder, `${id}.txt`), 'utf8')).toBe(contentOf(id));
  }
  const notes = await readFile(project.notes.path, 'utf8');
  for (const { id } of tasks) expect(notes).toContain(` has built ${id}.`);
  expect(notes.match(/^## Session second-1 .*/gm)).toHaveLength(1);
  // The two workers may commit each other's files; all work is committed in the end.
  gitIn(folder, 'add', '--all');
  expect(
    gitIn(folder, 'status', '--short')
      .split('\n')
      .filter((line) => !/agent-(?:notes|progress)/.test(line)),
  ).toEqual(['']);
  expect(gitIn(folder, 'log', '--format=%s').split('\n')).toEqual(
    expect.arrayContaining([
      'Plan the project',
      'Build login (login)',
      'Build catalog (catalog)',
      'Build cart (cart)',
      'Build by-hand (by-hand)',
    ]),
  );
}, 180_000);
