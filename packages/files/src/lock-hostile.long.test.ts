import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { childProcesses, type Child } from '../test/processes.js';
import { acquireLock, inspectLock, sweepTemporaryFiles, type FileLock } from './index.js';
import { isTemporaryFile } from './temporary-files.js';

const start = childProcesses();

/** Runs tasks with limited concurrency. */
const inParallel = async (count: number, task: (number: number) => Promise<void>): Promise<void> => {
  let next = 1;
  const worker = async (): Promise<void> => {
    while (next <= count) {
      const number = next;
      next += 1;
      await task(number);
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
};

const acquired = (folder: string): Promise<FileLock> => acquireLock(folder, { waitMs: 20_000 });

/** Waits until a process that reported its suspension is suspended. Only Linux needs this wait. */
const stopped = (child: Child): Promise<void> =>
  process.platform === 'linux'
    ? expect.poll(() => readFile(`/proc/${child.process.pid}/stat`, 'utf8'), { timeout: 10_000 }).toContain(') T ')
    : Promise.resolve();

/** Continues a suspended process, and waits for its end. */
const wake = async (child: Child): Promise<void> => {
  const timer = setInterval(() => child.process.kill('SIGCONT'), 20);
  await child.ended;
  clearInterval(timer);
};

describe.skipIf(process.platform === 'win32')('a folder with an entry of a lock that cannot be read', () => {
  it('ends the attempts after a limit, with pauses between them', async () => {
    const folder = temporaryFolder();
    // As a network file system lists a folder that another machine has removed.
    await symlink(join(folder, 'none'), join(folder, 'lock.7'));
    const before = process.cpuUsage();
    await expect(acquireLock(folder)).rejects.toMatchObject({ code: 'lock-contended' });
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(2_000);
    expect(await readdir(folder)).toEqual(['lock.7']);
    await expect(acquireLock(folder, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({
      name: 'TimeoutError',
    });
  });
});

describe('a lock between processes', () => {
  it('ends when its process is killed', async () => {
    const folder = temporaryFolder();
    const child = start('hold', folder);
    await child.reported('holds');
    const lock = join(folder, 'lock');
    expect(await inspectLock(lock)).toMatchObject({ pid: child.process.pid });
    await expect(acquireLock(lock)).rejects.toMatchObject({ code: 'lock-held', owner: { pid: child.process.pid } });
    child.process.kill('SIGKILL');
    await child.ended;
    expect(await inspectLock(lock)).toBeUndefined();
    const taken = await acquireLock(lock);
    expect([taken.generation, taken.isTakeover]).toEqual([2, false]);
    await taken.release();
  });

  it('is kept by a suspended process of the same machine, even with a short lease', async () => {
    const folder = temporaryFolder();
    const child = start('hold', folder);
    await child.reported('holds');
    child.process.kill('SIGSTOP');
    await expect(acquireLock(join(folder, 'lock'), { waitMs: 50 })).rejects.toMatchObject({ code: 'lock-held' });
    child.process.kill('SIGCONT');
  });

  it('admits one of 32 processes at a time, even if some are killed', async () => {
    const folder = temporaryFolder();
    const turns = 6;
    await writeFile(join(folder, 'count'), '0');
    const children = Array.from({ length: 32 }, () => start('count', folder, turns));
    const victims = children.slice(0, 6);
    const kill = async (child: Child): Promise<void> => {
      await child.reported('counted');
      child.process.kill('SIGKILL');
    };
    await Promise.all(victims.map(kill));
    await Promise.all(children.map(({ ended }) => ended));
    const counted = children.flatMap(({ reports }) => reports.map((report) => Number(report['counted'])));
    expect(new Set(counted).size).toBe(counted.length);
    const total = Number(await readFile(join(folder, 'count'), 'utf8'));
    expect(total).toBeGreaterThanOrEqual(counted.length);
    expect(total - counted.length).toBeLessThanOrEqual(victims.length);
    expect(children.slice(6).every(({ reports }) => reports.length === turns)).toBe(true);
    // The next holder cleans up after those that were killed.
    await (await acquired(join(folder, 'lock'))).release();
    expect(await readdir(join(folder, 'lock'))).toEqual([expect.stringMatching(/^lock\.\d+$/)]);
  }, 60_000);
});

describe.skipIf(process.platform === 'win32')('a holder that is suspended past its lease', () => {
  /**
   * Exceeds the number of operations in the scenario, also of a slow machine that repeats some: a process that is not
   * suspended shows that all were tried.
   */
  const operations = 40;

  /** Suspends another machine before one of its operations, takes over, and wakes it. */
  const overtake = async (
    operation: number,
    endsBy: 'release' | 'removal',
    meanwhile: (folder: string) => Promise<FileLock>,
  ): Promise<boolean> => {
    const folder = temporaryFolder();
    const locked = join(folder, 'locked');
    const child = start('suspend', folder, operation, endsBy === 'removal' ? 1 : 0);
    if (!(await child.reported('suspended'))) return false;
    await stopped(child);
    const lock = await meanwhile(locked);
    await lock.replaceFile(join(locked, 'file'), 'current', { sync: false });
    await lock.replaceFile(join(locked, 'other'), 'current', { sync: false });
    await wake(child);
    const found = await Promise.all(['file', 'other'].map((name) => readFile(join(locked, name), 'utf8')));
    expect(found, `operation ${operation}`).toEqual(['current', 'current']);
    await lock.check();
    await lock.replaceFile(join(locked, 'file'), 'still mine', { sync: false });
    expect((await readdir(locked)).toSorted()).toEqual(['file', `lock.${lock.generation}`, 'other']);
    expect(child.reports.at(-1)).toEqual({ done: true });
    await lock.release();
    return true;
  };

  const overtakeAtEach = async (
    endsBy: 'release' | 'removal',
    meanwhile: (folder: string) => Promise<FileLock>,
  ): Promise<void> => {
    const suspended: number[] = [];
    await inParallel(operations, async (operation) => {
      if (await overtake(operation, endsBy, meanwhile)) suspended.push(operation);
    });
    expect(suspended.length).toBeGreaterThan(15);
    expect(suspended).not.toContain(operations);
  };

  it('changes nothing after a takeover, regardless of where it was suspended', async () => {
    await overtakeAtEach('release', acquired);
    await overtakeAtEach('removal', acquired);
  }, 60_000);

  it('changes nothing after the folder was deleted and locked again', async () => {
    await overtakeAtEach('removal', async (folder) => {
      await (await acquired(folder)).removeFolder();
      await rm(folder, { recursive: true, force: true });
      return acquired(folder);
    });
  }, 60_000);
});

describe('replaceFile() and createFolder() in a process that is killed', () => {
  it('leaves the old or the new content, and temporary files for the next sweep', async () => {
    const folder = temporaryFolder();
    const found = new Set<string>();
    for (let operation = 1, isDone = false; !isDone; operation += 1) {
      const own = join(folder, String(operation));
      await mkdir(own);
      await writeFile(join(own, 'file'), 'old content');
      const child = start('replace', own, operation);
      isDone = await child.reported('done');
      await child.ended;
      found.add(await readFile(join(own, 'file'), 'utf8'));
      const left = (await readdir(own)).filter((name) => name !== 'file' && name !== 'made');
      expect(left.every(isTemporaryFile)).toBe(true);
      await sweepTemporaryFiles(own);
      const kept = await readdir(own);
      expect(kept.filter((name) => name !== 'made')).toEqual(['file']);
      if (!kept.includes('made')) continue;
      const made = await Promise.all(['a', 'b'].map((name) => readFile(join(own, 'made', name), 'utf8')));
      expect(made).toEqual(['content of a', 'content of b']);
    }
    expect([...found].toSorted()).toEqual(['new content', 'old content']);
  });
});
