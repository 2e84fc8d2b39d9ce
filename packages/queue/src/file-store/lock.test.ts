import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TurnError } from '@h/turn';
import { thisProcess } from '@h/process';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { KeptFile } from './kept-file.js';
import { KeptState } from './kept-state.js';
import { takeLock } from './lock.js';

const temporaryFolder = async (): Promise<string> => {
  const path = await mkdtemp(join(tmpdir(), 'h-inbox-lock-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
};

const holder = (more: object): string => JSON.stringify({ ...thisProcess(), leaseMs: 60_000, ...more });

describe('the lock of a folder', () => {
  it('is given up by one who was overtaken while it asked', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'lock.1'));
    await writeFile(join(folder, 'lock.1', 'owner'), holder({ pid: 999_999, start: 'long ago' }));
    // Others are faster by two locks, and have removed those before theirs.
    const kill = vi.spyOn(process, 'kill').mockImplementationOnce(() => {
      mkdirSync(join(folder, 'lock.3'));
      writeFileSync(join(folder, 'lock.3', 'owner'), holder({ host: 'elsewhere' }));
      rmSync(join(folder, 'lock.1'), { recursive: true });
      throw Object.assign(new Error('No such process'), { code: 'ESRCH' });
    });
    onTestFinished(() => kill.mockRestore());
    await expect(takeLock(folder, 60_000)).rejects.toMatchObject({ code: 'inbox-held', host: 'elsewhere' });
    expect(await readFile(join(folder, 'lock.3', 'owner'), 'utf8')).toBe(holder({ host: 'elsewhere' }));
    await expect(takeLock(folder, 60_000)).rejects.toMatchObject({ code: 'inbox-held' });
  });

  it('takes away drafts of processes that are long gone, and lets others be', async () => {
    const folder = await temporaryFolder();
    for (const name of ['.draft-old', '.draft-now', 'lock.x', 'mine']) await mkdir(join(folder, name));
    await utimes(join(folder, '.draft-old'), 1, 1);
    const lock = await takeLock(folder, 60_000);
    expect((await readdir(folder)).toSorted()).toEqual(['.draft-now', 'lock.1', 'lock.x', 'mine']);
    await lock.release();
  });

  it('leaves no timer', async () => {
    const folder = await temporaryFolder();
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    onTestFinished(() => void vi.useRealTimers());
    const lock = await takeLock(folder, 60_000);
    expect(vi.getTimerCount()).toBe(1);
    await expect(takeLock(folder, 60_000)).rejects.toThrow();
    expect(vi.getTimerCount()).toBe(1);
    await lock.release();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not held by whom a loss of power has cut off', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'lock.4'));
    await writeFile(join(folder, 'lock.4', 'owner'), '{"pid":');
    expect((await takeLock(folder, 60_000)).number).toBe(5);
  });
});

describe('a file of messages', () => {
  it('confirms nothing that was written after the folder was taken', async () => {
    const folder = await temporaryFolder();
    let checks = 0;
    const check = async (): Promise<void> => {
      checks += 1;
      if (checks === 4) throw new TurnError('inbox-taken', 'Taken.');
    };
    const file = new KeptFile(
      join(folder, 'inbox.1.jsonl'),
      { number: 1, check, release: async () => undefined },
      new KeptState(),
    );
    await file.create();
    await file.add({ type: 'removed', tag: 'a' });
    await expect(file.add({ type: 'removed', tag: 'b' })).rejects.toMatchObject({ code: 'inbox-taken' });
    await file.close();
  });
});
