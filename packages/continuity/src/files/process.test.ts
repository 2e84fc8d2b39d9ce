import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { thisProcess as wholeMark } from '@h/process';
import { isGone, isThisProcess, markOf, thisProcess } from './process.js';

/** Starts a process that ends soon and becomes a zombie until the end of the test. */
const neglected = async (): Promise<number> => {
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  return Number(pid.toString());
};

describe('isGone', () => {
  it('returns false for running processes and for those of other machines', () => {
    expect(isGone(thisProcess())).toBe(false);
    expect(isGone({ ...thisProcess(), machine: 'another', pid: 2 ** 22 + 1 })).toBe(false);
  });

  it('returns true for an unused pid, and for one that was reused', () => {
    expect(isGone({ ...thisProcess(), pid: 2 ** 22 + 1 })).toBe(true);
    if (thisProcess().start !== '') expect(isGone({ ...thisProcess(), start: '1' })).toBe(true);
  });

  it('contains only hashes of the machine', () => {
    const { machine, boot } = thisProcess();
    expect(`${machine} ${boot}`).toMatch(/^[\da-f]{16} (?:[\da-f]{16})?$/);
  });

  it('returns true after a reboot, if the machine is known', () => {
    const { machine } = wholeMark();
    expect(isGone({ ...thisProcess(), boot: 'earlier' })).toBe(machine !== '');
    expect(isGone({ ...thisProcess(), boot: 'earlier', machine: 'another' })).toBe(false);
  });

  it.runIf(process.platform === 'linux')('returns true for a zombie', async () => {
    const mark = markOf(await neglected());
    expect(isGone(mark)).toBe(false);
    await expect.poll(() => isGone(mark), { timeout: 10_000 }).toBe(true);
  });
});

describe('isThisProcess', () => {
  it('compares all members of the mark', () => {
    const own = thisProcess();
    expect(isThisProcess(own)).toBe(true);
    for (const other of [{ machine: 'another' }, { boot: 'another' }, { pid: own.pid + 1 }, { start: 'another' }]) {
      expect(isThisProcess({ ...own, ...other })).toBe(false);
    }
  });
});
