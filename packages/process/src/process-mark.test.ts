import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { markOf, processState, thisProcess, type ProcessMark } from './process-mark.js';

const isLinux = process.platform === 'linux';
/** Above the highest pid that Linux assigns. */
const unusedPid = 2 ** 22 + 1;

/** Starts a process that its parent never reaps; the parent lives until the test has ended. */
const unreaped = async (): Promise<{ readonly pid: number; readonly kill: () => void }> => {
  const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  return { pid, kill: () => process.kill(pid, 'SIGKILL') };
};

describe('processState', () => {
  it('reports the current process as alive, also from a stored mark', () => {
    expect(processState(thisProcess())).toBe('alive');
    expect(processState(JSON.parse(JSON.stringify(thisProcess())) as ProcessMark)).toBe('alive');
  });

  it('reports an unused or reused pid as dead', () => {
    expect(processState({ ...thisProcess(), pid: unusedPid })).toBe('dead');
    expect(processState({ ...thisProcess(), start: '1' })).toBe(isLinux ? 'dead' : 'unknown');
    expect(processState({ ...markOf(process.ppid), start: '' })).toBe('unknown');
  });

  it('reports processes of other machines and containers as unknown', () => {
    for (const elsewhere of [{ host: 'another' }, { machine: 'another' }, { namespaces: 'pid:[1] time:[2]' }]) {
      expect(processState({ ...thisProcess(), ...elsewhere, pid: unusedPid })).toBe('unknown');
    }
  });

  it('reports processes from before a reboot as dead if the machine has an id', () => {
    expect(processState({ ...thisProcess(), boot: 'earlier' })).toBe(thisProcess().machine === '' ? 'unknown' : 'dead');
  });

  it.runIf(isLinux)('reports a zombie as dead', async () => {
    const { pid, kill } = await unreaped();
    const mark = markOf(pid);
    expect(processState(mark)).toBe('alive');
    kill();
    await expect.poll(() => processState(mark), { timeout: 10_000 }).toBe('dead');
  });
});
