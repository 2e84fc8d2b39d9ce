import { execFileSync, spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
  type FileHandle,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../../tooling/vitest/temporary-folder.js';
import { bundle } from '../../test/bundle.js';
import { planned, projectWith } from '../../test/projects.js';
import { isGone, thisProcess, type AnonymousMark } from '../files/process.js';
import { openProject } from '../project.js';
import { claimNext, releaseClaims } from './changes.js';
import { beginWork, emptyProgress, planTasks } from './planning.js';
import { parseProgress } from './parse.js';

const start = async (
  script: string,
  ...args: readonly string[]
): Promise<ChildProcessByStdio<Writable, Readable, null>> => {
  const child = spawn(process.execPath, [script, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
};

/** Whether this process may create namespaces. */
const canUnshare = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0;

describe('the progress file', () => {
  it('distinguishes a missing file from a corrupt one, which it backs up', async () => {
    const folder = temporaryFolder();
    const { progress } = openProject({ folder });
    expect(await progress.read()).toEqual({ state: 'missing' });
    await expect(progress.update((current) => current)).rejects.toMatchObject({ code: 'progress-missing' });

    for (const text of [
      '',
      '{"format":"agent-progress","version":1,"revi',
      '[]',
      '{"format":"agent-progress","version":1,"revision":1,"phase":"working","goal":"","tasks":[{"id":"a"}]}',
    ]) {
      await writeFile(progress.path, text);
      const found = await progress.read();
      if (found.state !== 'corrupt') throw new Error(`It is ${found.state}.`);
      expect(await readFile(found.backup ?? '', 'utf8')).toBe(text);
      await expect(progress.update((current) => ({ ...current, goal: 'x' }))).rejects.toMatchObject({
        code: 'progress-corrupt',
      });
      await expect(
        progress.initialize(emptyProgress('x'), (current) => planTasks(current, planned('a'))),
      ).rejects.toMatchObject({ code: 'progress-corrupt' });
      expect(await readFile(progress.path, 'utf8')).toBe(text);
    }
  });

  it('reports a corrupt file if no backup can be made', async () => {
    const { progress, folder } = await projectWith(planned('a'));
    await writeFile(join(folder, '.agent-output/corrupt'), 'In the way.');
    await writeFile(progress.path, '{"form');
    expect(await progress.read()).toMatchObject({ state: 'corrupt', backup: undefined });
    await writeFile(progress.path, Buffer.alloc(33 * 1024 * 1024, 32));
    expect(await progress.read()).toEqual({ state: 'corrupt', problem: 'it has 34603008 bytes', backup: undefined });
    await rm(join(folder, '.agent-output/corrupt'));
    const copies = join(folder, '.agent-output/corrupt');
    await mkdir(copies);
    for (let index = 0; index < 48; index += 1) await writeFile(join(copies, `agent-progress.${index}.json`), '{');
    for (let index = 0; index < 5; index += 1) {
      await writeFile(progress.path, `{"form${index}`);
      await progress.read();
    }
    expect(await readdir(join(folder, '.agent-output/corrupt'))).toHaveLength(50);
  });

  it('keeps no partial copy of a corrupt file on a full disk', async () => {
    const { progress, folder } = await projectWith(planned('a'));
    await writeFile(progress.path, '{"form');
    const handle = await open(progress.path);
    await handle.close();
    const full = new Error('No space left on device');
    const append = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'appendFile').mockRejectedValue(full);
    onTestFinished(() => append.mockRestore());
    expect(await progress.read()).toMatchObject({ backup: undefined });
    append.mockRestore();
    const { backup } = (await progress.read()) as { readonly backup: string };
    expect(await readFile(backup, 'utf8')).toBe('{"form');
    expect(await readdir(join(folder, '.agent-output/corrupt'))).toHaveLength(1);
  });

  it('waits for an editor that is saving the file', async () => {
    const { progress, status } = await projectWith(planned('a'));
    const text = await readFile(progress.path, 'utf8');
    await writeFile(progress.path, text.slice(0, 100));
    const half = progress.read();
    // Synchronous, so that the file is whole before a later timer looks at it, however busy the machine is.
    setTimeout(() => writeFileSync(progress.path, text), 20);
    expect(await half).toMatchObject({ state: 'ready' });

    // As editors do that rename the old file.
    await rename(progress.path, `${progress.path}~`);
    const between = status();
    const changed = progress.update((current) => ({ ...current, goal: 'Changed.' }));
    setTimeout(() => writeFileSync(progress.path, text), 60);
    expect(await between).toMatchObject({ file: 'ready', next: { kind: 'work' } });
    expect(await changed).toMatchObject({ goal: 'Changed.', tasks: [{ id: 'a' }] });

    await rm(progress.path);
    expect(await progress.read()).toEqual({ state: 'missing' });
  });

  it('holds thousands of tasks', async () => {
    const { progress } = await projectWith(planned(...Array.from({ length: 5_000 }, (_, index) => `t${index}`)));
    const after = await progress.update((current) =>
      claimNext(current, { owner: 'me', at: Date.now(), leaseMs: 1_000 }),
    );
    expect(after.tasks[0]?.claim?.owner).toBe('me');
    expect(await progress.read()).toMatchObject({ state: 'ready', progress: { tasks: { length: 5_000 } } });
  });

  it('does not change a file of a later version', async () => {
    const { progress } = openProject({ folder: temporaryFolder() });
    await writeFile(progress.path, '{"format":"agent-progress","version":2}');
    expect(await progress.read()).toEqual({ state: 'newer', version: 2 });
    await expect(progress.update((current) => ({ ...current, goal: 'x' }))).rejects.toMatchObject({
      code: 'progress-newer',
    });
  });

  it('restores the last valid content, only over a corrupt file', async () => {
    const { progress } = await projectWith(planned('a'));
    await expect(progress.restore()).rejects.toMatchObject({ code: 'progress-conflict' });
    await writeFile(progress.path, '{');
    expect((await progress.restore()).tasks.map(({ id }) => id)).toEqual(['a']);
    expect(await progress.read()).toMatchObject({ state: 'ready' });
  });

  it('rejects a change for another revision', async () => {
    const { progress } = await projectWith(planned('a'));
    const { revision } = await progress.update((current) => ({ ...current, goal: 'one' }));
    await progress.update((current) => ({ ...current, goal: 'two' }), revision);
    await expect(progress.update((current) => ({ ...current, goal: 'three' }), revision)).rejects.toMatchObject({
      code: 'progress-conflict',
    });
    expect(await progress.read()).toMatchObject({ progress: { goal: 'two', revision: revision + 1 } });
  });

  it('writes neither an empty nor an invalid change', async () => {
    const { progress } = await projectWith(planned('a', 'b'));
    const before = await readFile(progress.path, 'utf8');
    await progress.update((current) => releaseClaims(current, 'unknown'));
    await expect(
      progress.update((current) => ({
        ...current,
        tasks: [...current.tasks.slice(0, 1), ...current.tasks.slice(0, 1)],
      })),
    ).rejects.toMatchObject({
      code: 'progress-invalid',
      message: expect.stringContaining('"a" appears twice') as unknown,
    });
    const circle = (id: string) => (current: Parameters<Parameters<typeof progress.update>[0]>[0]) => ({
      ...current,
      tasks: current.tasks.map((task) => ({ ...task, dependsOn: [id === '' ? (task.id === 'a' ? 'b' : 'a') : id] })),
    });
    await expect(progress.update(circle(''))).rejects.toMatchObject({
      message: expect.stringContaining('depend on each other') as unknown,
    });
    await expect(progress.update(circle('x'))).rejects.toMatchObject({
      message: expect.stringContaining('which does not exist') as unknown,
    });
    expect(await readFile(progress.path, 'utf8')).toBe(before);
  });

  it('retains tasks that a person adds', async () => {
    const { progress } = await projectWith(planned('a'));
    const value = JSON.parse(await readFile(progress.path, 'utf8')) as { tasks: unknown[] };
    value.tasks.push({ id: 'by-hand', title: 'Mine', acceptance: ['yes'], status: 'todo', generation: 0 });
    await writeFile(progress.path, JSON.stringify(value));
    const after = await progress.update((current) => ({ ...current, goal: 'changed' }));
    expect(after.tasks.map(({ id }) => id)).toEqual(['a', 'by-hand']);
  });

  it('does not overwrite what a person saves at the same moment', async () => {
    const { progress } = await projectWith(planned('a'));
    const text = await readFile(progress.path, 'utf8');
    const save = (goal: string): void =>
      writeFileSync(progress.path, `\u{FEFF}${JSON.stringify({ ...(JSON.parse(text) as object), goal })}`);
    let times = 0;
    const after = await progress.update((current) => {
      times += 1;
      if (times === 1) save('By hand.');
      return { ...current, tasks: current.tasks.map((task) => ({ ...task, title: 'Changed' })) };
    });
    expect([times, after.goal, after.tasks[0]?.title]).toEqual([2, 'By hand.', 'Changed']);
    const everyTime = progress.update((current) => {
      times += 1;
      save(`By hand ${times}.`);
      return { ...current, goal: 'Never.' };
    });
    await expect(everyTime).rejects.toMatchObject({ code: 'progress-conflict' });
    expect(await progress.read()).toMatchObject({ progress: { goal: `By hand ${times}.` } });
    expect(times).toBe(7);
  });

  it('changes the file if its copy cannot be written', async () => {
    const { progress, folder } = await projectWith(planned('a'));
    await rm(join(folder, '.agent-output/last-good-progress.json'));
    await mkdir(join(folder, '.agent-output/last-good-progress.json'));
    expect(await progress.update((current) => ({ ...current, goal: 'New.' }))).toMatchObject({ goal: 'New.' });
    expect(await progress.read()).toMatchObject({ progress: { goal: 'New.' } });
  });

  it('rejects a link in its place', async () => {
    const folder = temporaryFolder();
    const elsewhere = join(temporaryFolder(), 'x.json');
    await writeFile(elsewhere, '{}');
    await symlink(elsewhere, join(folder, 'agent-progress.json'));
    await expect(openProject({ folder }).progress.read()).rejects.toMatchObject({ code: 'unsafe-path' });
    await rm(join(folder, 'agent-progress.json'));
    await symlink(temporaryFolder(), join(folder, '.agent-output'));
    await expect(openProject({ folder }).progress.initialize(emptyProgress(''), beginWork)).rejects.toMatchObject({
      code: 'unsafe-path',
    });
  });

  it('loses none of many concurrent changes', async () => {
    const { progress, folder } = await projectWith(planned('a'));
    const other = openProject({ folder }).progress;
    const before = await progress.update((current) => ({ ...current, goal: '' }));
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? progress : other).update((current) => ({ ...current, goal: `${current.goal}${index} ` })),
      ),
    );
    const found = await progress.read();
    if (found.state !== 'ready') throw new Error(found.state);
    expect(found.progress.revision).toBe(before.revision + 20);
    expect(
      found.progress.goal
        .trim()
        .split(' ')
        .map(Number)
        .toSorted((a, b) => a - b),
    ).toEqual(Array.from({ length: 20 }, (_, index) => index));
  });
});

describe('two processes', () => {
  let scripts = '';
  let script = '';
  beforeAll(async () => {
    scripts = await mkdtemp(join(tmpdir(), 'h-continuity-'));
    script = join(scripts, 'child.mjs');
    await bundle('./child.ts', script);
  });
  afterAll(() => rm(scripts, { recursive: true, force: true }));

  it.runIf(canUnshare)(
    'say nothing of each other across namespaces, nor take another process for one of theirs',
    async () => {
      const marks = (['--mount-proc', '--kill-child'] as const).map(
        (option) =>
          JSON.parse(
            execFileSync('unshare', ['--pid', '--fork', option, process.execPath, script, 'mark', '/tmp', 'x'], {
              encoding: 'utf8',
            }),
          ) as AnonymousMark,
      );
      // Both were the first process of their namespace and have ended.
      expect(marks.map(({ pid }) => pid)).toEqual([1, 1]);
      expect(marks.map((mark) => isGone(mark))).toEqual([false, false]);
      expect(new Set([...marks, thisProcess()].map(({ machine }) => machine)).size).toBeGreaterThan(1);
      // In the second one /proc shows the processes outside, whose first process differs.
      expect(marks.map(({ start: begun }) => begun !== '')).toEqual([true, false]);
    },
  );

  it('never claim the same task', async () => {
    const ids = Array.from({ length: 24 }, (_, index) => `t${index}`);
    const { folder, progress } = await projectWith(planned(...ids));
    const children = await Promise.all(['one', 'two'].map((owner) => start(script, 'claim', folder, owner)));
    const outputs = children.map((child) => {
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString();
      });
      child.stdin.write('go\n');
      return once(child, 'exit').then(() =>
        said
          .trim()
          .split('\n')
          .filter((line) => line !== ''),
      );
    });
    const [one = [], two = []] = await Promise.all(outputs);
    expect([...one, ...two].toSorted()).toEqual(ids.toSorted());
    expect(one.length, 'one of them did everything').toBeGreaterThan(0);
    expect(two.length, 'one of them did everything').toBeGreaterThan(0);
    expect(await progress.read()).toMatchObject({
      state: 'ready',
      progress: { tasks: ids.map((id) => ({ id, status: 'done' })) },
    });
  });

  it('leave a complete file when one is killed while it writes; the other continues at once', async () => {
    const { folder, progress } = await projectWith(planned('a'));
    for (const delayMs of [0, 5, 12]) {
      const child = await start(script, 'write', folder, 'killed');
      const begun = once(child.stdout, 'data');
      child.stdin.write('go\n');
      await begun;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(parseProgress(await readFile(progress.path, 'utf8')).state).toBe('ready');
      await progress.update((current) => ({ ...current, goal: `after ${delayMs}` }));
    }
    expect(await readdir(join(folder, '.agent-output/lock'))).toEqual([expect.stringMatching(/^lock\.\d+$/)]);
  });

  it('take over the task of a killed one at once, and of a stopped one after its lease', async () => {
    const { folder, progress } = await projectWith(planned('a'));
    const status = (later = 0) => openProject({ folder, clock: () => Date.now() + later }).status();
    const child = await start(script, 'write', folder, 'child');
    const begun = once(child.stdout, 'data');
    child.stdin.write('go\n');
    await begun;
    // Stopped while it does not hold the lock.
    await openProject({ folder }).state.exclusive(() => Promise.resolve(child.kill('SIGSTOP')));
    expect((await status()).next.kind).toBe('wait');
    expect((await status(301_000)).next).toMatchObject({ kind: 'work', isResumed: true });
    const later = Date.now() + 301_000;
    await progress.update((current) => claimNext(current, { owner: 'me', at: later, leaseMs: 300_000 }));
    // Its changes after it continues are rejected.
    child.kill('SIGCONT');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await progress.read()).toMatchObject({ progress: { tasks: [{ claim: { owner: 'me', generation: 2 } }] } });
    await progress.update((current) => releaseClaims(current, 'me'));
    await progress.update((current) =>
      claimNext(current, {
        owner: 'child',
        at: Date.now(),
        leaseMs: 300_000,
        process: { ...thisProcess(), pid: child.pid ?? 0, start: '' },
      }),
    );
    expect((await status()).next.kind).toBe('wait');
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await status()).next).toMatchObject({ kind: 'work', isResumed: true });
  });

  it('break the lock of a dead process, and wait for a running one', async () => {
    const { folder } = await projectWith(planned('a'));
    const child = await start(script, 'hold', folder, 'holder');
    const held = once(child.stdout, 'data');
    child.stdin.write('go\n');
    await held;
    const { progress, clock, leaseMs } = openProject({ folder, lockTimeoutMs: 60 });
    const claim = () => progress.update((current) => claimNext(current, { owner: 'me', at: clock(), leaseMs }));
    await expect(claim()).rejects.toMatchObject({ code: 'locked' });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await claim()).tasks[0]?.claim?.owner).toBe('me');
  });
});
