import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { localChecks, type CheckRun, type LocalChecksOptions } from './local-checks.js';

const PATH = process.env['PATH'];

/** The running processes of a group. */
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
  it('refuses unknown options', () => {
    expect(() => localChecks({ keepEnvironment: ['PATH'] } as never)).toThrow('unknown option "keepEnvironment"');
  });

  it('reports the exit code and the output of both streams in order', async () => {
    expect(await run('echo one; echo two >&2; echo three; exit 4')).toEqual({
      exitCode: 4,
      output: 'one\ntwo\nthree\n',
      isTruncated: false,
    });
  });

  it('truncates the output at its start, between characters', async () => {
    const { output, isTruncated } = await run('yes 🙂 | head -n 20000; echo the end', {}, { maxChars: 51 });
    expect(output.length).toBeLessThanOrEqual(51);
    expect(output.endsWith('the end\n')).toBe(true);
    expect(output.isWellFormed()).toBe(true);
    expect(isTruncated).toBe(true);
  });

  it('removes secrets and variables of git hooks, and keeps named variables', async () => {
    const env = { PATH, API_KEY: 'a', MY_TOKEN: 'b', GIT_DIR: '/x', GIT_INDEX_FILE: '/y', PLAIN: 'c' };
    const command = 'echo "$API_KEY-$MY_TOKEN-$GIT_DIR-$GIT_INDEX_FILE-$PLAIN"';
    expect((await run(command, { env })).output).toBe('----c\n');
    expect((await run(command, { env, keepEnv: ['MY_TOKEN'] })).output).toBe('-b---c\n');
  });

  it('is ended at the abort, and does not start after it', async () => {
    const controller = new AbortController();
    const running = run('sleep 600', {}, { signal: controller.signal });
    controller.abort();
    expect(await running).toMatchObject({ exitCode: undefined, failure: 'aborted' });
    expect(await run('echo x', {}, { signal: controller.signal })).toEqual({
      exitCode: undefined,
      output: '',
      isTruncated: false,
      failure: 'aborted',
    });
  });

  it('is ended at its time limit', async () => {
    expect(await run('echo before; sleep 600', {}, { timeoutMs: 100 })).toEqual({
      exitCode: undefined,
      output: 'before\n',
      isTruncated: false,
      failure: 'timed-out',
    });
  });

  it('does not wait for background processes', async () => {
    const { exitCode, output } = await run('sleep 600 & echo done');
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'done\n' });
  });

  it.skipIf(process.platform === 'win32')('gives a check an empty input and leaves no supervisor behind', async () => {
    const { exitCode, output } = await run(
      'cat; echo "nothing: $?"; (cat <&3) 2>/dev/null || echo "no further line"; echo $$',
    );
    const [read, line, pid] = output.trim().split('\n');
    expect([exitCode, read, line]).toEqual([0, 'nothing: 0', 'no further line']);
    await expect.poll(() => groupOf(Number(pid)), { timeout: 10_000 }).toEqual([]);
  });

  it('reports a check that was killed or could not be started', async () => {
    expect(await run('kill -KILL $$')).toMatchObject({ exitCode: undefined, failure: 'killed' });
    expect(await run('echo x', {}, { cwd: '/no/such/folder' })).toMatchObject({
      exitCode: undefined,
      failure: 'not-started',
    });
  });
});
