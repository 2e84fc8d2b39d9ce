import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownerOf, sightOf, thisOwner } from './owner.js';

/** A process that ends soon and that its parent never asks about; the parent lives until the test is over. */
const neglected = async (): Promise<number> => {
  const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void parent.kill('SIGKILL'));
  const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
  return Number(pid.toString());
};

describe('sightOf', () => {
  it('sees this process, no other one under its number, and nothing on other machines', () => {
    expect(sightOf(thisOwner())).toBe('alive');
    expect(sightOf({ ...thisOwner(), host: 'another' })).toBe('unknown');
    expect(sightOf({ ...thisOwner(), pid: 2 ** 22 + 1 })).toBe('dead');
    if (thisOwner().since !== '') expect(sightOf({ ...thisOwner(), since: 'earlier' })).toBe('dead');
  });

  it.runIf(process.platform === 'linux')('takes for dead what has ended, also where nobody asks how', async () => {
    const owner = ownerOf(await neglected());
    expect(sightOf(owner)).toBe('alive');
    await expect.poll(() => sightOf(owner), { timeout: 10_000 }).toBe('dead');
  });
});
