import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { thisProcess as wholeMark } from '@h/process';
import { isGone, markOf, thisProcess } from './process.js';

/** A process that ends soon and that its parent never asks about; the parent lives until the test is over. */
const neglected = async (): Promise<number> => {
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  return Number(pid.toString());
};

describe('isGone', () => {
  it('says no of a process that is there, and of those of other machines', () => {
    expect(isGone(thisProcess())).toBe(false);
    expect(isGone({ ...thisProcess(), machine: 'another', pid: 2 ** 22 + 1 })).toBe(false);
  });

  it('says yes of a number that nobody has, or another process', () => {
    expect(isGone({ ...thisProcess(), pid: 2 ** 22 + 1 })).toBe(true);
    if (thisProcess().start !== '') expect(isGone({ ...thisProcess(), start: '1' })).toBe(true);
  });

  it('says nothing of a machine but what nobody can read', () => {
    const { machine, boot } = thisProcess();
    expect(`${machine} ${boot}`).toMatch(/^[\da-f]{16} (?:[\da-f]{16})?$/);
  });

  it('takes no process for one that has outlived its machine, where that is known for sure', () => {
    const { machine } = wholeMark();
    expect(isGone({ ...thisProcess(), boot: 'earlier' })).toBe(machine !== '');
    expect(isGone({ ...thisProcess(), boot: 'earlier', machine: 'another' })).toBe(false);
  });

  it.runIf(process.platform === 'linux')('says yes of one that has ended, also where nobody asks how', async () => {
    const mark = markOf(await neglected());
    expect(isGone(mark)).toBe(false);
    await expect.poll(() => isGone(mark), { timeout: 10_000 }).toBe(true);
  });
});
