/**
 * What a safe write of the progress file costs, beside what is written quickly: read, change, write. Then what the operator costs a step.
 *
 *   node bench/claims.mjs        (after a build)
 */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beginWork, claimNext, continuity, emptyProgress, openProject, planTasks, renewClaims } from '@h/continuity';
import { harness, reply } from '@h/turn';
import { call, response, scriptedModel, scriptedTools } from '@h/turn/testing';

const folder = await mkdtemp(join(tmpdir(), 'h-bench-'));
const tasks = Array.from({ length: 100 }, (_, index) => ({
  id: `t${index}`,
  title: `Task ${index}`,
  acceptance: ['It works.'],
}));
const project = openProject({ folder });
await project.progress.initialize(emptyProgress('Bench'), (progress) => beginWork(planTasks(progress, tasks)));
await project.progress.update((progress) => claimNext(progress, { owner: 'one', at: Date.now(), leaseMs: 60_000 }));

const timed = async (name, rounds, work) => {
  const start = performance.now();
  for (let round = 0; round < rounds; round += 1) await work(round);
  const each = (performance.now() - start) / rounds;
  console.log(`${name.padEnd(62)} ${each >= 1 ? `${each.toFixed(2)} ms` : `${(each * 1000).toFixed(1)} µs`}`);
};

const renew = (progress) => renewClaims(progress, { owner: 'one', at: Date.now(), leaseMs: 60_000 });
await timed('update: lock, check, fsync, replace, copy (100 tasks)', 200, () => project.progress.update(renew));
await timed('read and check', 200, () => project.progress.read());

const quick = join(folder, 'quick.json');
await writeFile(quick, await readFile(project.progress.path));
await timed('write-and-rename without lock, check or fsync', 200, async () => {
  const progress = JSON.parse(await readFile(quick, 'utf8'));
  progress.tasks[0].heartbeatAt = Date.now();
  await writeFile(`${quick}.tmp`, JSON.stringify(progress, undefined, 2));
  await rename(`${quick}.tmp`, quick);
});

const lost = async (update) => {
  await Promise.all(Array.from({ length: 50 }, update));
  return JSON.parse(await readFile(quick, 'utf8')).count;
};
await writeFile(quick, '{"count":0}');
const kept = await lost(async () => {
  const value = JSON.parse(await readFile(quick, 'utf8'));
  await writeFile(quick, JSON.stringify({ count: value.count + 1 }));
}).catch(() => 'a torn file');
const before = (await project.progress.read()).progress.revision;
await Promise.all(
  Array.from({ length: 50 }, (_, index) => project.progress.update((progress) => ({ ...progress, goal: `${index}` }))),
);
console.log(
  `of 50 changes at once: quickly ${kept}, update ${(await project.progress.read()).progress.revision - before}`,
);

const steps = 500;
const turn = async (...operators) => {
  const model = scriptedModel([
    ...Array.from({ length: steps }, (_, index) => response(call(`c${index}`, 'ls'))),
    'Done.',
  ]);
  await reply(
    harness({ model, tools: scriptedTools({ ls: 'a.txt' }) })
      .pipe(...operators)
      .turn({ session: crypto.randomUUID(), input: 'Go.' }),
  );
};
await turn();
await timed(`a turn of ${steps} steps without continuity()`, 5, () => turn());
await timed(`a turn of ${steps} steps with continuity()`, 5, () => turn(continuity({ project })));
await rm(folder, { recursive: true });
