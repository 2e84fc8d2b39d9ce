import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { InvalidOptionError } from '@h/options';
import { markOf, thisProcess, type ProcessMark } from '@h/process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { interceptOperations } from '../../../tooling/vitest/file-operations.js';
import { acquireLock, inspectLock, withLock } from './index.js';

const leaseMs = 600_000;
/** Larger than the highest pid of any system. */
const noPid = 2 ** 22 + 1;

/** Creates a lock that another process renewed `age` ago. A negative age is a renewal in the future. */
const placeLock = async (
  folder: string,
  generation: number,
  owner: Partial<ProcessMark>,
  ageMs = 0,
): Promise<string> => {
  const holding = join(folder, `lock.${generation}`, 'token');
  await mkdir(holding, { recursive: true });
  const path = join(holding, 'owner');
  await writeFile(path, JSON.stringify({ ...thisProcess(), ...owner, leaseMs }));
  const seconds = (Date.now() - ageMs) / 1000;
  await utimes(path, seconds, seconds);
  return path;
};

const ownerFile = async (folder: string, generation: number): Promise<string> => {
  const [token = ''] = await readdir(join(folder, `lock.${generation}`));
  return join(folder, `lock.${generation}`, token, 'owner');
};

const openFiles = (): number => (process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0);

describe('acquireLock()', () => {
  it('admits one holder at a time and numbers the holders', async () => {
    const folder = join(temporaryFolder(), 'deep/er');
    const first = await acquireLock(folder);
    await expect(acquireLock(folder)).rejects.toMatchObject({
      code: 'lock-held',
      owner: { pid: process.pid, host: hostname() },
      message: expect.stringContaining(`held by process ${process.pid} (this one) on ${hostname()} since 20`) as string,
    });
    expect(await inspectLock(folder)).toMatchObject({ pid: process.pid });
    await first.release();
    await first.release();
    expect(await inspectLock(folder)).toBeUndefined();
    const second = await acquireLock(folder);
    expect([first.generation, second.generation]).toEqual([1, 2]);
    await second.release();
    expect(await readdir(folder)).toEqual(['lock.2']);
  });

  it('admits one of several concurrent callers', async () => {
    const folder = temporaryFolder();
    for (let round = 1; round <= 10; round += 1) {
      const asked = await Promise.allSettled(Array.from({ length: 6 }, () => acquireLock(folder)));
      const admitted = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      expect(admitted).toHaveLength(1);
      const rejected = asked.flatMap((each): unknown[] => (each.status === 'rejected' ? [each.reason] : []));
      for (const reason of rejected) expect(reason).toMatchObject({ code: 'lock-held' });
      await admitted[0]?.release();
    }
    expect(await readdir(folder)).toHaveLength(1);
  });

  it('waits until the lock is released', async () => {
    const folder = temporaryFolder();
    const first = await acquireLock(folder);
    const second = acquireLock(folder, { waitMs: 60_000 });
    await first.release();
    await (await second).release();
  });

  it('fails after waitMs, even if the clock does not advance', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder);
    const now = vi.spyOn(Date, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    await expect(acquireLock(folder, { waitMs: 30 })).rejects.toThrow(/after waiting 30 ms/);
    await lock.release();
  });

  it('stops waiting when the signal is aborted', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder);
    const reason = new Error('No longer needed.');
    await expect(acquireLock(folder, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const controller = new AbortController();
    const waiting = acquireLock(folder, { waitMs: 60_000, signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await expect(waiting).rejects.toBe(reason);
    await lock.release();
    expect(await readdir(folder)).toHaveLength(1);
  });

  it.each<[string, Partial<ProcessMark>, number, 'held' | 'free' | 'taken over']>([
    ['a process with another start', { start: '1' }, 0, process.platform === 'linux' ? 'free' : 'held'],
    ['a pid that no process has', { pid: noPid }, 0, 'free'],
    ['this process, long after its lease', {}, 3_600_000, 'held'],
    ['an earlier boot of this machine', { boot: 'earlier' }, 0, thisProcess().machine === '' ? 'held' : 'free'],
    ['another host within its lease', { host: 'elsewhere' }, 300_000, 'held'],
    ['another host past its lease', { host: 'elsewhere' }, 900_000, 'taken over'],
    ['a machine with the same name', { machine: 'other', boot: 'other' }, 0, 'held'],
    ['another container past its lease', { namespaces: 'pid:[1] time:[2]', pid: 1 }, 900_000, 'taken over'],
    ['another host whose clock was set back', { host: 'elsewhere' }, -3_600_000, 'taken over'],
    ['another host whose clock is slightly ahead', { host: 'elsewhere' }, -300_000, 'held'],
    ['another host whose clock was set forward', { host: 'elsewhere' }, 3_600_000, 'taken over'],
  ])('judges a lock of %s', async (_, owner, ageMs, expected) => {
    const folder = temporaryFolder();
    await placeLock(folder, 4, owner, ageMs);
    const lock = await acquireLock(folder).catch((error: unknown) => error as { code: string });
    const found = 'code' in lock ? lock.code : lock.isTakeover ? 'taken over' : 'free';
    expect(found).toBe(expected === 'held' ? 'lock-held' : expected);
    expect((await inspectLock(folder)) !== undefined).toBe(true);
    if ('release' in lock) {
      expect(lock.generation).toBe(5);
      await lock.release();
    }
  });

  it.runIf(process.platform === 'linux')('detects that a holder has ended before its parent collects it', async () => {
    const folder = temporaryFolder();
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const pid = Number(String((await once(parent.stdout, 'data'))[0]));
    await placeLock(folder, 1, markOf(pid), 3_600_000);
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'lock-held' });
    process.kill(pid, 'SIGKILL');
    await (await acquireLock(folder, { waitMs: 10_000 })).release();
  });

  it('reports a takeover to every later holder until one of them settles it', async () => {
    const folder = temporaryFolder();
    await placeLock(folder, 1, { host: 'elsewhere' }, 900_000);
    const found: boolean[] = [];
    for (let holder = 0; holder < 5; holder += 1) {
      const lock = await acquireLock(folder);
      found.push(lock.isTakeover);
      if (holder === 2) await lock.settle();
      await lock.release();
    }
    expect(found).toEqual([true, true, true, false, false]);
    expect(await readdir(folder)).toEqual(['lock.6']);
  });

  it('withdraws its lock if another process was faster', async () => {
    const folder = temporaryFolder();
    await placeLock(folder, 1, { pid: noPid });
    // Two other processes are faster, and the first one's lock has been removed since.
    const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      mkdirSync(join(folder, 'lock.3/token'), { recursive: true });
      const owner = JSON.stringify({ ...thisProcess(), host: 'elsewhere', leaseMs: 60_000 });
      writeFileSync(join(folder, 'lock.3/token/owner'), owner);
      throw Object.assign(new Error('No such process'), { code: 'ESRCH' });
    });
    onTestFinished(() => kill.mockRestore());
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'lock-held', owner: { host: 'elsewhere' } });
    expect((await readdir(folder)).toSorted()).toEqual(['lock.1', 'lock.3']);
  });

  it('considers a lock free whose owner file a power failure has damaged', async () => {
    const folder = temporaryFolder();
    for (const [index, content] of ['', '{"pid":', 'null', '[]', '{"pid":"1"}', '{}'].entries()) {
      const generation = index * 2 + 1;
      await writeFile(await placeLock(folder, generation, {}), content);
      const lock = await acquireLock(folder);
      expect([lock.generation, lock.isTakeover], content).toEqual([generation + 1, false]);
      await lock.release();
    }
  });

  it('is not confused by other files, empty locks and leftovers', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'lock.2'), 'a file');
    const leftover = (place: string, pid: number, last: string): string =>
      `.tmp-${place}-000000000000-${pid}-1-00000000-0000-0000-0000-00000000000${last}`;
    const [old, recent] = [leftover('000000000000', 1, '1'), leftover('000000000000', 1, '2')];
    for (const name of ['lock.3', 'lock.x', 'lock.9.bak', old, recent]) await mkdir(join(folder, name));
    await utimes(join(folder, old), 1, 1);
    const lock = await acquireLock(folder);
    expect((await readdir(folder)).toSorted()).toEqual([recent, 'lock.4', 'lock.9.bak', 'lock.x']);
    await lock.release();
  });

  it.runIf(process.platform !== 'win32')('refuses a link or a pipe in place of an owner file', async () => {
    const folder = temporaryFolder();
    const path = await placeLock(folder, 1, {});
    await rm(path);
    execFileSync('mkfifo', [path]);
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'unsafe-file', path });
    await rm(path);
    await symlink('/etc/hostname', path);
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'unsafe-file', path });
  });

  it('starts at minGeneration and does not create a folder with create: false', async () => {
    const folder = temporaryFolder();
    await expect(acquireLock(join(folder, 'none'), { create: false })).rejects.toMatchObject({ code: 'ENOENT' });
    const lock = await acquireLock(folder, { minGeneration: 7 });
    expect(lock.generation).toBe(7);
    await lock.release();
    const next = await acquireLock(folder, { minGeneration: 7 });
    expect(next.generation).toBe(8);
    await next.release();
  });

  it.each([
    [{ leaseMs: 10 }, /"leaseMs" must be a number from 100/],
    [{ waitMs: -1 }, /"waitMs"/],
    [{ wait: 1 }, /unknown option "wait"/],
  ])('rejects the options %j', async (options, message) => {
    const failed = acquireLock('unused', options as never);
    await expect(failed).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(failed).rejects.toThrow(message);
  });

  it('fails with the error of any operation and leaves no lock, file handle or timer', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const parent = temporaryFolder();
    let isAcquired = false;
    let failures = 0;
    for (let operation = 1; !isAcquired; operation += 1) {
      const folder = join(parent, String(operation));
      await placeLock(folder, 1, { host: 'elsewhere' }, 900_000);
      const before = openFiles();
      const restore = await interceptOperations((count) => {
        if (count === operation) throw Object.assign(new Error('No space left on device'), { code: 'ENOSPC' });
      });
      const lock = await acquireLock(folder).catch((error: unknown) => error as { code: string });
      restore();
      if ('release' in lock) {
        isAcquired = operation > 20;
        await lock.release();
      } else {
        failures += 1;
        expect(lock.code).toBe('ENOSPC');
      }
      expect([openFiles(), vi.getTimerCount()], `operation ${operation}`).toEqual([before, 0]);
      const next = await acquireLock(folder);
      await next.release();
      expect(await readdir(folder)).toEqual([`lock.${next.generation}`]);
    }
    expect(failures).toBeGreaterThan(10);
  });
});

describe('a lock whose file system fails', () => {
  it('becomes free when the file system works again, from whichever operation on it has failed', async () => {
    const parent = temporaryFolder();
    let failed = 0;
    for (let operation = 1; ; operation += 1) {
      const folder = join(parent, String(operation));
      let reached = 0;
      const restore = await interceptOperations((count) => {
        reached = count;
        if (count >= operation) throw Object.assign(new Error('Input/output error'), { code: 'EIO' });
      });
      const used = withLock(folder, {}, () => Promise.resolve());
      await used.catch(({ code }: { readonly code: string }) => {
        expect(code).toBe('EIO');
        failed += 1;
      });
      restore();
      if (reached < operation) break;
      const next = await acquireLock(folder, { waitMs: 1_000 });
      await next.release();
    }
    expect(failed).toBeGreaterThan(5);
  });
});

describe('FileLock', () => {
  it('is renewed while it is held', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder, { leaseMs: 100 });
    const path = await ownerFile(folder, 1);
    for (const seconds of [1, Date.now() / 1000 + 100_000]) {
      await utimes(path, seconds, seconds);
      await expect.poll(async () => Math.abs((await stat(path)).mtimeMs - Date.now())).toBeLessThan(10_000);
    }
    expect(JSON.parse(await readFile(path, 'utf8'))).toMatchObject({ pid: process.pid, leaseMs: 100 });
    await lock.release();
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('changes files while it is held, and reports the holder that took over', async () => {
    const folder = temporaryFolder();
    const [file, missing] = [join(folder, 'file'), join(folder, 'none/file')];
    const lock = await acquireLock(folder);
    await lock.replaceFile(file, 'mine', { mode: 0o640 });
    expect((await stat(file)).mode & 0o777).toBe(0o640);
    await expect(lock.replaceFile(missing, 'x')).rejects.toMatchObject({ code: 'ENOENT' });
    await lock.removeFile(missing);
    await lock.replaceFile(join(folder, 'other'), 'x');
    await lock.removeFile(join(folder, 'other'));
    expect(await readdir(dirname(await ownerFile(folder, 1)))).toEqual(['owner']);
    await rm(join(folder, 'lock.1'), { recursive: true });
    await placeLock(folder, 2, { host: 'elsewhere', pid: 77 });
    const lost = {
      code: 'lock-lost',
      message: expect.stringMatching(/over by process 77 on elsewhere since 20/) as string,
    };
    await expect(lock.check()).rejects.toMatchObject(lost);
    await expect(lock.replaceFile(file, 'late')).rejects.toMatchObject(lost);
    await expect(lock.removeFile(file)).rejects.toMatchObject(lost);
    await expect(lock.removeFile(missing)).rejects.toMatchObject(lost);
    await expect(lock.removeFolder()).rejects.toMatchObject(lost);
    await lock.release();
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await inspectLock(folder)).toMatchObject({ host: 'elsewhere' });
  });

  it('leaves no timer at its release and refuses to change files afterwards', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    await lock.release();
    expect(vi.getTimerCount()).toBe(0);
    await expect(lock.replaceFile(join(folder, 'file'), 'x')).rejects.toMatchObject({ code: 'lock-lost' });
    await expect(lock.check()).rejects.toMatchObject({ code: 'lock-lost' });
    expect(await readdir(folder)).toEqual(['lock.1']);
  });

  it('does not report a loss when the folder cannot be examined', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder);
    await rename(folder, `${folder}.away`);
    await writeFile(folder, 'not a folder');
    await expect(lock.check()).rejects.toMatchObject({ code: 'ENOTDIR' });
    await rm(folder);
    await rename(`${folder}.away`, folder);
    await lock.check();
    await lock.release();
  });

  it('removes its folder, but keeps files that another process added since', async () => {
    const folder = join(temporaryFolder(), 'locked');
    const first = await acquireLock(folder);
    await mkdir(join(folder, 'sub/folder'), { recursive: true });
    await first.replaceFile(join(folder, 'file'), 'x');
    await first.removeFolder();
    await expect(stat(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    const second = await acquireLock(folder);
    expect(second.generation).toBe(1);
    await first.release();
    await expect(first.removeFolder()).rejects.toMatchObject({ code: 'lock-lost' });
    await second.check();
    await second.removeFolder();
  });

  it('abandons a release that hangs', async () => {
    const folder = temporaryFolder();
    const lock = await acquireLock(folder);
    let finish: () => void = () => undefined;
    const hung = new Promise<void>((resolve) => (finish = resolve));
    const unlink = vi.spyOn(fs, 'unlink').mockImplementation(() => hung);
    syncBuiltinESMExports();
    onTestFinished(() => {
      unlink.mockRestore();
      syncBuiltinESMExports();
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const released = expect(lock.release()).rejects.toMatchObject({ code: 'lock-not-released' });
    await vi.advanceTimersByTimeAsync(5_000);
    await released;
    expect(vi.getTimerCount()).toBe(0);
    finish();
  });
});

describe('withLock()', () => {
  it('releases the lock after success and after failure', async () => {
    const folder = temporaryFolder();
    expect(await withLock(folder, {}, ({ generation }) => Promise.resolve(generation))).toBe(1);
    const failure = new Error('No.');
    await expect(withLock(folder, {}, () => Promise.reject(failure))).rejects.toBe(failure);
    expect(await withLock(folder, {}, ({ generation }) => Promise.resolve(generation))).toBe(3);
  });
});
