import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { localChecks, type CheckRun, type LocalChecksOptions } from './run-check.js';

const PATH = process.env['PATH'];

/** The processes of a group that have not ended. */
const groupOf = (pgid: number): readonly string[] =>
  execFileSync('ps', ['-A', '-o', 'pgid=,stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().startsWith(`${pgid} `) && !line.includes(' Z'));

const run = (command: string, options: LocalChecksOptions = {}, changes: Partial<CheckRun> = {}) =>
  localChecks({ env: { PATH }, ...options })({
    command,
    cwd: tmpdir(),
    timeoutMs: 20_000,
    maxChars: 1_000,
    signal: new AbortController().signal,
    ...changes,
  });

describe('localChecks', () => {
  it('says how a check ended and what it said, in the order in which it said it', async () => {
    expect(await run('echo one; echo two >&2; echo three; exit 4')).toEqual({
      exitCode: 4,
      output: 'one\ntwo\nthree\n',
      isCut: false,
    });
  });

  it('keeps the end of what is said, whole characters only', async () => {
    const { output, isCut } = await run('yes 🙂 | head -n 20000; echo the end', {}, { maxChars: 51 });
    expect(output).toHaveLength(51);
    expect(output.endsWith('the end\n')).toBe(true);
    expect(output.isWellFormed()).toBe(true);
    expect(isCut).toBe(true);
  });

  it('hands on neither secrets nor what git tells its hooks, but what is to be kept', async () => {
    const env = { PATH, API_KEY: 'a', MY_TOKEN: 'b', GIT_DIR: '/x', GIT_INDEX_FILE: '/y', PLAIN: 'c' };
    const command = 'echo "$API_KEY-$MY_TOKEN-$GIT_DIR-$GIT_INDEX_FILE-$PLAIN"';
    expect((await run(command, { env })).output).toBe('----c\n');
    expect((await run(command, { env, keepEnv: ['MY_TOKEN'] })).output).toBe('-b---c\n');
  });

  it('ends when it is cancelled, and does not begin when it was', async () => {
    const controller = new AbortController();
    const running = run('sleep 600', {}, { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ exitCode: undefined, failure: 'cancelled' });
    expect(await run('echo x', {}, { signal: controller.signal })).toEqual({
      exitCode: undefined,
      output: '',
      isCut: false,
      failure: 'cancelled',
    });
  });

  it('goes by the clock that it is given', async () => {
    const scheduler = new VirtualTimeScheduler();
    const running = run('sleep 600', { scheduler }, { timeoutMs: 3_600_000 });
    scheduler.flush();
    expect(scheduler.frame).toBeGreaterThanOrEqual(3_600_000);
    expect(await running).toMatchObject({ failure: 'timed-out' });
  });

  it('is over as soon as the check and its output are', async () => {
    expect(await run('echo done', { scheduler: new VirtualTimeScheduler() })).toMatchObject({
      exitCode: 0,
      output: 'done\n',
    });
  });

  it('hears what still comes from the background when the check has ended', async () => {
    expect(await run('(sleep 0.1; echo late) & echo done', { scheduler: new VirtualTimeScheduler() })).toMatchObject({
      exitCode: 0,
      output: 'done\nlate\n',
    });
  });

  it('does not wait for what a check has left in the background', async () => {
    const { exitCode, output } = await run('sleep 600 & echo done');
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'done\n' });
  });

  it.skipIf(process.platform === 'win32')('gives a check no input and leaves no watchdog behind', async () => {
    const { exitCode, output } = await run(
      'cat; echo "nothing: $?"; (cat <&3) 2>/dev/null || echo "no further line"; echo $$',
    );
    const [read, line, pid] = output.trim().split('\n');
    expect([exitCode, read, line]).toEqual([0, 'nothing: 0', 'no further line']);
    await expect.poll(() => groupOf(Number(pid)), { timeout: 10_000 }).toEqual([]);
  });

  it('says that a check was killed, or could not be started', async () => {
    expect(await run('kill -KILL $$')).toMatchObject({ exitCode: undefined, failure: 'killed' });
    expect(await run('echo x', {}, { cwd: '/no/such/folder' })).toMatchObject({
      exitCode: undefined,
      failure: 'not-started',
    });
  });
});
