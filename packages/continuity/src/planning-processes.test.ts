import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bundle } from '../test/bundle.js';
import { openProject } from './project.js';

let scripts = '';
beforeAll(async () => {
  scripts = await mkdtemp(join(tmpdir(), 'h-continuity-'));
  await bundle('./planner-child.ts', join(scripts, 'planner.mjs'));
});
afterAll(() => rm(scripts, { recursive: true, force: true }));

const start = (folder: string, session: string, leaseMs = 300_000) => {
  const child = spawn(process.execPath, [join(scripts, 'planner.mjs'), folder, session, `${leaseMs}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const closed = once(child, 'close');
  const lines = (): readonly string[] => said.split('\n').slice(0, -1);
  return {
    child,
    lines,
    says: (line: string) => vi.waitUntil(() => lines().includes(line), { timeout: 30_000 }),
    ended: () => closed.then(lines),
  };
};

describe('two processes that plan one project', () => {
  it('plan one after the other: the second waits until the first is killed', async () => {
    const folder = temporaryFolder();
    const one = start(folder, 'one');
    await one.says('plans');
    const two = start(folder, 'two');
    await two.says('Nothing is planned yet. The session one is planning.');
    one.child.kill('SIGKILL');
    await two.says('plans');
    await writeFile(join(folder, 'go'), '');
    expect(await two.ended()).toEqual([
      'Nothing is planned yet. The session one is planning.',
      'plans',
      'initializer completed',
      'end max-sessions',
    ]);
    expect(await openProject({ folder }).status()).toMatchObject({ next: { kind: 'work' }, tasks: [{ id: 'two' }] });
  });

  it('reject changes of a process that was stopped past its lease', async () => {
    const folder = temporaryFolder();
    const one = start(folder, 'one', 1_000);
    await one.says('plans');
    one.child.kill('SIGSTOP');
    const two = start(folder, 'two');
    await two.says('plans');
    await writeFile(join(folder, 'go'), '');
    await two.says('initializer completed');
    one.child.kill('SIGCONT');
    expect(await one.ended()).toEqual(['plans', 'initializer blocked', 'end max-sessions']);
    expect((await openProject({ folder }).status()).tasks.map(({ id }) => id)).toEqual(['two']);
  });

  it('never plan at the same time', async () => {
    const folder = temporaryFolder();
    const all = ['one', 'two', 'three'].map((session) => start(folder, session));
    await vi.waitUntil(() => all.some(({ lines }) => lines().includes('plans')), { timeout: 30_000 });
    await vi.waitUntil(
      () => all.filter(({ lines }) => lines().some((line) => line.endsWith(' is planning.'))).length === 2,
      {
        timeout: 30_000,
      },
    );
    expect(all.filter(({ lines }) => lines().includes('plans'))).toHaveLength(1);
  });
});
