import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { markOf, processState, thisProcess, type ProcessMark } from './process-mark.js';

const isLinux = process.platform === 'linux';
/** More than systems have. */
const nobody = 2 ** 22 + 1;

/** A process that ends when it is told to, and that its parent never asks about; the parent lives until the test is over. */
const neglected = async (): Promise<{ readonly pid: number; readonly end: () => void }> => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [said] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(said.toString());
  return { pid, end: () => process.kill(pid, 'SIGKILL') };
};

describe('processState', () => {
  it('sees the process that asks, also in what was stored of it', () => {
    expect(processState(thisProcess())).toBe('alive');
    expect(processState(JSON.parse(JSON.stringify(thisProcess())) as ProcessMark)).toBe('alive');
  });

  it("sees that a number is nobody's, or a later process's", () => {
    expect(processState({ ...thisProcess(), pid: nobody })).toBe('dead');
    expect(processState({ ...thisProcess(), start: '1' })).toBe(isLinux ? 'dead' : 'unknown');
    expect(processState({ ...markOf(process.ppid), start: '' })).toBe('unknown');
  });

  it('knows nothing of other machines and containers', () => {
    for (const elsewhere of [{ host: 'another' }, { machine: 'another' }, { namespaces: 'pid:[1] time:[2]' }]) {
      expect(processState({ ...thisProcess(), ...elsewhere, pid: nobody })).toBe('unknown');
    }
  });

  it('takes no process for one that has outlived its machine, where the machine is known for sure', () => {
    expect(processState({ ...thisProcess(), boot: 'earlier' })).toBe(thisProcess().machine === '' ? 'unknown' : 'dead');
  });

  it.runIf(isLinux)('sees that a process has ended, also where nobody asks how', async () => {
    const { pid, end } = await neglected();
    const mark = markOf(pid);
    expect(processState(mark)).toBe('alive');
    end();
    await expect.poll(() => processState(mark), { timeout: 10_000 }).toBe('dead');
  });
});
