import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { SessionBusyError } from '@h/turn';
import { markOf, processState, thisProcess, type ProcessMark } from '@h/process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../test/folders.js';
import { isLocked, lockSession, type SessionLock } from './session-lock.js';

const lock = (folder: string, leaseMs = 30_000): Promise<SessionLock> =>
  lockSession({ folder, session: 'alice', leaseMs });

/** Puts a lock of somebody else into place, renewed so long ago. */
const lockOf = async (
  folder: string,
  generation: number,
  owner: Partial<ProcessMark>,
  ageMs = 0,
  leaseMs = 1000,
): Promise<string> => {
  const path = join(folder, `lock.${generation}`, 'owner');
  await mkdir(join(folder, `lock.${generation}`));
  await writeFile(path, JSON.stringify({ ...thisProcess(), ...owner, leaseMs }));
  const seconds = (Date.now() - ageMs) / 1000;
  await utimes(path, seconds, seconds);
  return path;
};

/** A process that ends soon and that its parent never asks about; the parent lives until the test is over. */
const neglected = async (): Promise<number> => {
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  return Number(pid.toString());
};

const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
};

describe('the lock of a session', () => {
  it('is held by one at a time, and counts its holders', async () => {
    const folder = await temporaryFolder();
    const first = await lock(folder);
    await expect(lock(folder)).rejects.toBeInstanceOf(SessionBusyError);
    await expect(lock(folder)).rejects.toMatchObject({
      code: 'session-busy',
      session: 'alice',
      pid: process.pid,
      host: hostname(),
      message: expect.stringContaining(`process ${process.pid} (this one) on `) as string,
    });
    expect(await isLocked(folder)).toBe(true);
    await first.release();
    expect(await isLocked(folder)).toBe(false);
    const second = await lock(folder);
    expect([first.generation, second.generation]).toEqual([1, 2]);
    await second.release();
    expect(await readdir(folder)).toEqual(['lock.2']);
  });

  it('is given to one of many that ask at once, again and again', async () => {
    const folder = await temporaryFolder();
    for (let round = 1; round <= 10; round += 1) {
      const asked = await Promise.allSettled(Array.from({ length: 6 }, () => lock(folder)));
      const got = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(got).toHaveLength(1);
      await got[0]?.release();
    }
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('is held by another process until that dies', async () => {
    const folder = await temporaryFolder();
    const child = spawn(process.execPath, ['-e', 'setTimeout(() => undefined, 60_000)'], { stdio: 'ignore' });
    await once(child, 'spawn');
    await lockOf(folder, 1, markOf(child.pid ?? 0), 3_600_000);
    await expect(lock(folder)).rejects.toMatchObject({
      code: 'session-busy',
      pid: child.pid,
      message: expect.stringContaining(`process ${child.pid} on ${hostname()} since 20`) as string,
    });
    expect(await isLocked(folder)).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(await isLocked(folder)).toBe(false);
    await (await lock(folder)).release();
  });

  it('is broken when its owner is dead, whatever its lease says', async () => {
    const folder = await temporaryFolder();
    await lockOf(folder, 4, { pid: await deadPid() });
    expect(await isLocked(folder)).toBe(false);
    const taken = await lock(folder);
    expect(taken.generation).toBe(5);
    await taken.release();
  });

  it.runIf(process.platform === 'linux')(
    'is broken when another process has the number of its owner now, and not when another machine has the name of its own',
    async () => {
      const folder = await temporaryFolder();
      await lockOf(folder, 1, { start: '1' });
      await (await lock(folder)).release();
      await lockOf(folder, 3, { machine: 'the same', boot: 'an earlier one' });
      await expect(lock(folder)).rejects.toBeInstanceOf(SessionBusyError);
    },
  );

  it.runIf(process.platform === 'linux')('ends with its process, also where nobody asks how that ended', async () => {
    const folder = await temporaryFolder();
    const owner = markOf(await neglected());
    await lockOf(folder, 1, owner, 3_600_000);
    expect(processState(owner)).toBe('alive');
    await expect.poll(() => isLocked(folder), { timeout: 10_000 }).toBe(false);
    await (await lock(folder)).release();
  });

  it('is not broken while its owner lives, however old its lease is', async () => {
    const folder = await temporaryFolder();
    await lockOf(folder, 1, {}, 3_600_000);
    await expect(lock(folder)).rejects.toBeInstanceOf(SessionBusyError);
  });

  it('of another machine is broken when its lease has run out, and not before', async () => {
    const folder = await temporaryFolder();
    const path = await lockOf(folder, 1, { host: 'elsewhere' }, 30_000, 60_000);
    await expect(lock(folder)).rejects.toBeInstanceOf(SessionBusyError);
    expect(await isLocked(folder)).toBe(true);
    const seconds = (Date.now() - 90_000) / 1000;
    await utimes(path, seconds, seconds);
    expect(await isLocked(folder)).toBe(false);
    await (await lock(folder)).release();
  });

  it('of another machine is not held for ever because the clock was put back', async () => {
    const folder = await temporaryFolder();
    await lockOf(folder, 1, { host: 'elsewhere' }, -3_600_000, 60_000);
    expect(await isLocked(folder)).toBe(false);
    const taken = await lock(folder);
    expect(taken.isBroken).toBe(true);
    await taken.release();
  });

  it('says whether the holder before may still be at work', async () => {
    const folder = await temporaryFolder();
    const first = await lock(folder);
    await first.release();
    const second = await lock(folder);
    await second.release();
    await lockOf(folder, 3, { pid: await deadPid() });
    const third = await lock(folder);
    expect([first.isBroken, second.isBroken, third.isBroken]).toEqual([false, false, false]);
    await third.release();
  });

  it('is broken for every holder after one that may still be at work, until one of them has seen to that', async () => {
    const folder = await temporaryFolder();
    await lockOf(folder, 1, { host: 'elsewhere' }, 60_000);
    const isBroken: boolean[] = [];
    for (let holder = 0; holder < 5; holder += 1) {
      const held = await lock(folder);
      isBroken.push(held.isBroken);
      if (holder === 2) await held.settle();
      await held.release();
    }
    expect(isBroken).toEqual([true, true, true, false, false]);
    expect(await readdir(folder)).toEqual(['lock.6']);
  });

  it('tells the one that lost it who has it now', async () => {
    const folder = await temporaryFolder();
    const late = await lock(folder);
    await lockOf(folder, 2, { host: 'elsewhere', pid: 77 });
    await expect(late.check()).rejects.toThrow(/"alice" was taken over by process 77 on elsewhere at 20/);
    await late.release();
  });

  it('is not taken for lost when nobody can look', async () => {
    const folder = await temporaryFolder();
    const held = await lock(folder);
    await rename(folder, `${folder}.away`);
    await writeFile(folder, 'no folder');
    await expect(held.check()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await rm(folder);
    await rename(`${folder}.away`, folder);
    await held.check();
    await held.release();
  });

  it('is renewed as long as it is held, and not after that', async () => {
    const folder = await temporaryFolder();
    const held = await lock(folder, 100);
    const path = join(folder, 'lock.1', 'owner');
    await utimes(path, 1, 1);
    await expect.poll(async () => (await stat(path)).mtimeMs, { timeout: 10_000 }).toBeGreaterThan(1_000_000);
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid });
    await held.release();
    expect(await readFile(path, 'utf8')).toBe('');
  });

  it('shuts out a holder whose lock was broken: it can neither write nor take the lock back', async () => {
    const folder = await temporaryFolder();
    const late = await lock(folder);
    await late.check();
    await lockOf(folder, 2, { host: 'elsewhere' });
    await expect(late.check()).rejects.toMatchObject({ code: 'session-taken' });
    await late.release();
    expect(await isLocked(folder)).toBe(true);
    expect(JSON.parse(await readFile(join(folder, 'lock.2', 'owner'), 'utf8'))).toMatchObject({ host: 'elsewhere' });
  });

  it('is given up again by one who was overtaken while it asked', async () => {
    const folder = await temporaryFolder();
    await lockOf(folder, 1, { pid: await deadPid() });
    // The others are faster by two locks, and have removed those before theirs.
    const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      mkdirSync(join(folder, 'lock.3'));
      writeFileSync(
        join(folder, 'lock.3', 'owner'),
        JSON.stringify({ ...thisProcess(), host: 'elsewhere', leaseMs: 60_000 }),
      );
      rmSync(join(folder, 'lock.1'), { recursive: true });
      throw Object.assign(new Error('No such process'), { code: 'ESRCH' });
    });
    onTestFinished(() => kill.mockRestore());
    await expect(lock(folder)).rejects.toBeInstanceOf(SessionBusyError);
    expect(await isLocked(folder)).toBe(true);
  });

  it('leaves no timer', async () => {
    const folder = await temporaryFolder();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const held = await lock(folder);
    expect(vi.getTimerCount()).toBe(1);
    await held.release();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('cannot be taken where nothing can be written, and says so', async () => {
    const folder = await temporaryFolder();
    await expect(lock(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
    await mkdir(join(folder, 'lock.9.strange'));
    await (await lock(folder)).release();
  });

  it('takes away what processes have left that died while they asked', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, '.candidate-x'));
    await writeFile(join(folder, '.candidate-x', 'owner'), JSON.stringify({ ...thisProcess(), pid: await deadPid() }));
    await mkdir(join(folder, '.candidate-without-owner'));
    await utimes(join(folder, '.candidate-without-owner'), 1, 1);
    await mkdir(join(folder, '.candidate-just-made'));
    await (await lock(folder)).release();
    expect((await readdir(folder)).toSorted()).toEqual(['.candidate-just-made', 'lock.1']);
  });
});
