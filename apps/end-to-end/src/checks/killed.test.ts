import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { bundleScript } from '../../../../tooling/vitest/bundle-script.js';

const folder = mkdtempSync(join(tmpdir(), 'h-checks-'));
let program = '';
beforeAll(async () => {
  program = await bundleScript(new URL('./child.ts', import.meta.url), folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Lists the running processes of a group. */
const groupOf = (pgid: number): readonly string[] =>
  execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().startsWith(`${pgid} `) && !line.includes(' Z'));

/** Starts a harness in its own process and kills it during a check. @returns the process group of the check */
const killedDuring = async (name: string, check: string): Promise<number> => {
  const pidFile = join(folder, name);
  const harness = spawn(
    process.execPath,
    [program, `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}\n${check}`],
    { stdio: 'ignore' },
  );
  const ended = once(harness, 'exit');
  const read = async (): Promise<number> => Number(await readFile(pidFile, 'utf8').catch(() => '0'));
  await expect.poll(read, { timeout: 20_000 }).toBeGreaterThan(0);
  const group = await read();
  onTestFinished(() => {
    if (groupOf(group).length > 0) process.kill(-group, 'SIGKILL');
  });
  await expect.poll(() => groupOf(group).some((line) => line.includes('sleep 600')), { timeout: 20_000 }).toBe(true);
  // A cancelled turn grants the same grace period to a process that ignores SIGTERM.
  if (name === 'unwilling') process.kill(-group, 'SIGTERM');
  harness.kill('SIGKILL');
  await ended;
  return group;
};

describe.skipIf(process.platform === 'win32')('a check whose harness is killed', () => {
  it.each([
    ['alone', 'sleep 600'],
    ['with-others', 'sleep 600 & (sleep 600 | cat) & sh -c "sleep 600; echo late"'],
    ['unwilling', 'trap "" HUP INT TERM; sleep 600; sleep 600; sleep 600'],
  ])('ends with all its processes: %s', async (name, check) => {
    const group = await killedDuring(name, check);
    await expect.poll(() => groupOf(group), { timeout: 20_000 }).toEqual([]);
  });
});
