/**
 * Works on a project from another process: `node child.mjs <claim|write|hold|mark> <folder> <owner>`. Starts when it
 * reads a line.
 */
import { once } from 'node:events';
import { claimNext, completeTask, openProject, renewClaims } from '../src/index.js';

const [mode = '', folder = '', owner = ''] = process.argv.slice(2);
const { progress, clock, leaseMs, state, process: mark } = openProject({ folder, lockTimeoutMs: 30_000 });
if (mode === 'mark') {
  process.stdout.write(`${JSON.stringify(mark)}\n`);
  process.exit(0);
}
process.stdout.write('ready\n');
await once(process.stdin, 'data');

if (mode === 'claim') {
  for (;;) {
    const after = await progress.update((current) => claimNext(current, { owner, at: clock(), leaseMs }));
    const mine = after.tasks.find(({ claim }) => claim?.owner === owner);
    if (mine === undefined) break;
    process.stdout.write(`${mine.id}\n`);
    // The child works on the task without holding the lock.
    await new Promise((resolve) => setTimeout(resolve, 10));
    await progress.update((current) =>
      completeTask(current, mine.id, { summary: 'Done.', acceptedBy: owner }, { owner, at: clock() }),
    );
  }
  process.exit(0);
}

if (mode === 'write') {
  await progress.update((current) => claimNext(current, { owner, at: clock(), leaseMs }));
  process.stdout.write('writing\n');
  for (;;) await progress.update((current) => renewClaims(current, { owner, at: clock(), leaseMs }));
}

if (mode === 'hold') {
  await state.exclusive(async () => {
    process.stdout.write('held\n');
    await new Promise(() => setInterval(() => undefined, 1_000));
  });
}
