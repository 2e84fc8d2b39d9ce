import { spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { watchedGroup } from './supervisor.js';
import { commandLines, uniqueSeconds, waitUntilGone } from './testing.js';
import { captureProcess, minimalEnvironment, runProcess, type ProcessEnd, type ProcessOptions } from './index.js';

const environment = minimalEnvironment(process.env);
const isLinux = process.platform === 'linux';

const run = async (
  command: ProcessOptions['command'],
  options: Partial<ProcessOptions> = {},
): Promise<ProcessEnd & { readonly output: string }> => {
  let output = '';
  const end = await runProcess({
    command,
    environment,
    timeoutMs: 60_000,
    ...options,
    onOutput: (chunk, source) => {
      output += Buffer.from(chunk).toString();
      options.onOutput?.(chunk, source);
    },
  });
  return { ...end, output };
};

const sh = (line: string): readonly [string, ...string[]] => ['/bin/sh', '-c', line];

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Bundles the package for a separate process. */
const bundle = (outfile: string): Promise<unknown> =>
  build({
    entryPoints: [new URL('./index.ts', import.meta.url).pathname],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@h/source'],
    logLevel: 'silent',
  });

/** The three positions of the supervisor. */
const modes: readonly [string, Partial<ProcessOptions>][] = [
  ['in the group', {}],
  ['as the parent', { tracked: true }],
  ['inside another command', { within: (argv) => ['/usr/bin/env', ...argv] }],
];

describe.each(modes)('runProcess with the supervisor %s', (_name, mode) => {
  it('reports output, exit code and duration', async () => {
    const end = await run(sh('echo out; echo problem >&2; exit 3'), mode);
    expect(end).toMatchObject({ ending: 'exited', exitCode: 3, signal: null });
    expect(end.output).toContain('out\n');
    expect(end.output).toContain('problem\n');
    expect(end.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('reports the signal that ended the program', async () => {
    expect(await run(sh('kill -9 $$'), mode)).toMatchObject({ ending: 'exited', exitCode: 137, signal: 'SIGKILL' });
  });

  it('passes arguments unchanged', async () => {
    const odd = ['', ' a  b ', '$HOME `id` "\'\\', '*', '-n', 'ü\n'];
    const { output } = await run(['/bin/sh', '-c', 'for one; do printf "[%s]" "$one"; done', 'sh', ...odd], mode);
    expect(output).toBe(odd.map((one) => `[${one}]`).join(''));
  });

  it('gives the program an empty input and no further descriptor', async () => {
    const line = 'cat; echo "read: $?"; (cat <&3) 2>/dev/null || echo "no descriptor 3"';
    expect((await run(sh(line), mode)).output).toBe('read: 0\nno descriptor 3\n');
  });

  it('passes exactly the given environment', async () => {
    const { output } = await run(['env'], { ...mode, environment: { PATH: environment['PATH'], ONE: '1' } });
    const names = output.split('\n').map((line) => line.split('=')[0]);
    expect(
      names.filter((name) => !['PATH', 'ONE', 'PWD', 'SHLVL', '_', 'OLDPWD', 'H_COMMAND_ID', ''].includes(name ?? '')),
    ).toEqual([]);
    expect(names).toContain('ONE');
  });

  it('ends all processes at the abort', async () => {
    const seconds = uniqueSeconds();
    const stop = new AbortController();
    const end = await run(sh(`sleep ${seconds} & echo ready; sleep ${seconds}`), {
      ...mode,
      signal: stop.signal,
      onOutput: () => stop.abort(),
    });
    expect(end).toMatchObject({ ending: 'aborted', output: expect.stringContaining('ready') as string });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('does not start after the abort', async () => {
    expect(await run(sh('echo x'), { ...mode, signal: AbortSignal.abort() })).toMatchObject({
      ending: 'aborted',
      exitCode: null,
      output: '',
    });
  });

  it('kills processes that ignore SIGTERM at the time limit', async () => {
    const seconds = uniqueSeconds();
    const line = `trap '' TERM INT HUP; sleep ${seconds} & sleep ${seconds}`;
    const end = await run(sh(line), { ...mode, timeoutMs: 200 });
    expect(end).toMatchObject({ ending: 'timed-out', signal: 'SIGKILL' });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('does not report a program as timed out that exited while this process was blocked', async () => {
    const running = run(sh('echo done'), { ...mode, timeoutMs: 2_000 });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 4_000);
    expect(await running).toMatchObject({ ending: 'exited', exitCode: 0, output: 'done\n' });
  });

  it('gives the program time to clean up at the time limit', async () => {
    const cwd = temporaryFolder();
    await run(sh(`trap 'echo done > cleaned; exit 0' TERM; while :; do sleep 0.05; done`), {
      ...mode,
      cwd,
      timeoutMs: 600,
    });
    expect(readFileSync(join(cwd, 'cleaned'), 'utf8')).toBe('done\n');
  });

  it('kills background processes of the program', async () => {
    const seconds = uniqueSeconds();
    const line = `sleep ${seconds} & (sleep ${seconds} >/dev/null 2>&1 &) ; echo started`;
    expect(await run(sh(line), mode)).toMatchObject({ ending: 'exited', exitCode: 0, output: 'started\n' });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('rejects and ends the process when onOutput throws', async () => {
    const seconds = uniqueSeconds();
    const onOutput = vi.fn(() => {
      throw new Error('The disk is full.');
    });
    const failing = run(sh(`trap 'echo more; echo more >&2' TERM; echo x; sleep ${seconds}`), { ...mode, onOutput });
    await expect(failing).rejects.toThrow('The disk is full.');
    expect(onOutput).toHaveBeenCalledOnce();
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('leaves no descriptor and no listener behind', async () => {
    const { signal } = new AbortController();
    await run(sh('echo x'), { ...mode, signal });
    const open = (): number =>
      process.getActiveResourcesInfo().filter((name) => /Pipe|Process|Timeout/.test(name)).length;
    const before = open();
    for (let round = 0; round < 5; round += 1) await run(sh('echo x'), { ...mode, signal });
    await expect.poll(open).toBeLessThanOrEqual(before);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.runIf(isLinux)('ends the command when this process is killed', async () => {
    const folder = temporaryFolder();
    const seconds = uniqueSeconds();
    await bundle(join(folder, 'entry.mjs'));
    const within = mode.within === undefined ? '' : ", within: (argv) => ['/usr/bin/env', ...argv]";
    writeFileSync(
      join(folder, 'parent.mjs'),
      `import { runProcess } from ${JSON.stringify(pathToFileURL(join(folder, 'entry.mjs')).href)};
      await runProcess({
        command: ['/bin/sh', '-c', "trap '' TERM INT HUP; sleep ${seconds} & echo ready; sleep ${seconds}"],
        environment: process.env, timeoutMs: 60_000, tracked: ${mode.tracked === true}${within},
        onOutput: () => process.stdout.write('ready'),
      });`,
    );
    const parent = spawn(process.execPath, [join(folder, 'parent.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(parent.stdout, 'data');
    expect(commandLines().some((line) => line.includes(`sleep ${seconds}`))).toBe(true);
    parent.kill('SIGKILL');
    await waitUntilGone(`sleep ${seconds}`);
  });
});

describe('runProcess', () => {
  it('writes the input', async () => {
    const input = 'x'.repeat(1_000_000);
    expect((await run(['wc', '-c'], { input })).output.trim()).toBe('1000000');
    expect((await run(['wc', '-c'], { input, tracked: true })).output.trim()).toBe('1000000');
  });

  it('passes a stream to the program while it runs', async () => {
    const input = new PassThrough();
    const answers: string[] = [];
    input.write('0\n');
    const end = await run(sh('while read -r line; do echo "read $line"; done'), {
      input,
      onOutput: (chunk) => {
        answers.push(Buffer.from(chunk).toString().trim());
        if (answers.length < 3) input.write(`${answers.length}\n`);
        else input.end();
      },
    });
    expect(end.exitCode).toBe(0);
    expect(answers).toEqual(['read 0', 'read 1', 'read 2']);
  });

  it.each(['exit 4', 'exec <&-; sleep 0.2; exit 4'])(
    'accepts a program that does not read its input: %s',
    async (line) => {
      expect(await run(sh(line), { input: 'x'.repeat(1_000_000) })).toMatchObject({ exitCode: 4 });
    },
  );

  it('runs a line in a shell', async () => {
    expect((await run('echo $((1 + 2)) | cat')).output).toBe('3\n');
  });

  it('waits for output that still arrives after the program has exited', async () => {
    expect((await run('(sleep 0.05; echo late) & echo done')).output).toBe('done\nlate\n');
  });

  it('is not aborted while output of a program that has exited may still arrive', async () => {
    const stop = new AbortController();
    const seconds = uniqueSeconds();
    const abortAfter = async (pid: number): Promise<void> => {
      while (isAlive(pid)) await sleep(5);
      stop.abort();
    };
    const end = await run(`sleep ${seconds} & echo $$`, {
      signal: stop.signal,
      onOutput: (chunk) => void abortAfter(Number(Buffer.from(chunk).toString())),
    });
    expect(stop.signal.aborted).toBe(true);
    expect(end).toMatchObject({ ending: 'exited', exitCode: 0 });
    await waitUntilGone(`sleep ${seconds}`);
  });

  it('kills a command that does not read its control line, and reports it as stuck', async () => {
    const seconds = uniqueSeconds();
    const onStuck = vi.fn(() => Promise.reject(new Error('refused')));
    const end = await run(['true'], { within: () => ['/bin/sleep', seconds], timeoutMs: 50, onStuck });
    expect(end).toMatchObject({ ending: 'timed-out', signal: 'SIGKILL' });
    expect(onStuck).toHaveBeenCalledOnce();
  });

  it('keeps background processes with background "keep"', async () => {
    const seconds = uniqueSeconds();
    const { output } = await run(`sleep ${seconds} >/dev/null 2>&1 & echo $!`, { background: 'keep' });
    const pid = Number(output);
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(process.kill(pid, 0)).toBe(true);
  });

  it.runIf(isLinux && existsSync('/usr/bin/setsid'))(
    'ends processes that left the group if they are tracked',
    async () => {
      const seconds = uniqueSeconds();
      await run(`setsid sleep ${seconds} >/dev/null 2>&1 & sleep 0.1`, { tracked: true });
      await waitUntilGone(`sleep ${seconds}`);
    },
  );

  it('reports a command that is too long for the system', async (context) => {
    context.skip(!isLinux, 'other systems have other limits');
    const tooLong = { code: 'process-not-started', message: expect.stringContaining('(E2BIG)') as string };
    await expect(run(`: ${'x'.repeat(200_000)}`)).rejects.toMatchObject(tooLong);
    await expect(run(['true'], { environment: { A: 'x'.repeat(200_000) } })).rejects.toMatchObject(tooLong);
  });

  it('rejects if the program or the working directory does not exist', async () => {
    await expect(run(['no-such-program'])).rejects.toMatchObject({
      name: 'ProcessError',
      code: 'process-not-started',
      program: 'no-such-program',
    });
    await expect(run(['true'], { cwd: '/no/such/folder' })).rejects.toThrow(
      'true could not be started: the working directory "/no/such/folder" does not exist.',
    );
    const notStarted = { code: 'process-not-started', message: expect.stringContaining('NUL character') as string };
    await expect(run(['a\0b'])).rejects.toMatchObject(notStarted);
    await expect(run(['true'], { environment: { A: 'secret\0' } })).rejects.toMatchObject(notStarted);
  });

  it.skipIf(process.platform === 'win32')('rejects if the working directory cannot be used', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
    for (const [name, problem] of [
      ['file', 'is not a folder'],
      ['file/folder', 'cannot be used (ENOTDIR)'],
      ['loop', 'cannot be used (ELOOP)'],
      ['x'.repeat(300), 'cannot be used (ENAMETOOLONG)'],
    ] as const) {
      const cwd = join(folder, name);
      await expect(run(['true'], { cwd })).rejects.toMatchObject({
        code: 'process-not-started',
        message: `true could not be started: the working directory ${JSON.stringify(cwd)} ${problem}.`,
      });
    }
  });

  it.runIf(isLinux)('rejects if the system has no open files left, also with a stream as its input', async () => {
    const folder = temporaryFolder();
    const entry = join(folder, 'entry.mjs');
    await bundle(entry);
    writeFileSync(
      join(folder, 'parent.mjs'),
      `import { openSync } from 'node:fs';
      import { Readable } from 'node:stream';
      import { runProcess } from ${JSON.stringify(pathToFileURL(entry).href)};
      try { for (;;) openSync('/dev/null'); } catch {}
      await runProcess({ command: ['true'], environment: {}, timeoutMs: 60_000, input: Readable.from(['x']) })
        .catch(({ code, message }) => console.log(code, message));`,
    );
    const { exitCode, output } = await run(sh(`ulimit -n 100; exec "${process.execPath}" "${folder}/parent.mjs"`));
    expect(output).toContain('process-not-started true could not be started: the system has no processes');
    expect(exitCode).toBe(0);
  });

  // The limit does not apply to root, and counts all processes of a user: no other process has this one.
  const withoutForks = ['setpriv', '--reuid=61234', '--clear-groups', 'prlimit', '--nproc=1'] as const;

  it.runIf(isLinux && process.getuid?.() === 0)(
    'takes no exit code of a shell that cannot fork for one of the program',
    async () => {
      const end = await run(['true'], { within: (supervised) => [...withoutForks, ...supervised] });
      expect(end).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
      expect(end.output).toMatch(/fork/);
      const command = [...withoutForks, ...watchedGroup(['true'])] as const;
      const captured = captureProcess({ command, environment, timeoutMs: 60_000 });
      await expect(captured).rejects.toMatchObject({ code: 'process-killed' });
      await expect(captured).rejects.toThrow(/^setpriv was ended by SIGKILL: .*fork/);
    },
  );

  it('returns an exit code of 127 that comes from the program itself', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'fails'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    for (const program of ['/bin/sh', 'sh', './fails', join(cwd, 'fails')]) {
      expect(await run([program, '-c', 'exit 127'], { cwd })).toMatchObject({ exitCode: 127 });
    }
    await expect(run(['./missing'], { cwd })).rejects.toMatchObject({ code: 'process-not-started' });
  });

  it.each<[Partial<ProcessOptions>, string]>([
    [{ command: [] as never }, '"command" must be a non-empty string or a program and its arguments'],
    [{ command: [''] }, '"command"'],
    [{ timeoutMs: -1 }, '"timeoutMs" must be a number from 0 or Infinity; received -1.'],
    [{ timeoutMs: undefined as never }, '"timeoutMs" is required'],
    [{ input: 'x', within: (argv) => argv }, '"input" cannot be combined with "within"'],
    [{ timeoutMsec: 1 } as never, 'unknown option "timeoutMsec" (received 1). Did you mean "timeoutMs"?'],
  ])('refuses %j', async (options, message) => {
    await expect(runProcess({ command: ['true'], environment, timeoutMs: 1, ...options })).rejects.toThrow(message);
  });
});

describe('captureProcess', () => {
  const capture = (line: string, options: Partial<Parameters<typeof captureProcess>[0]> = {}) =>
    captureProcess({ command: sh(line), environment, timeoutMs: 60_000, ...options });

  it('returns standard output and standard error separately', async () => {
    const { exitCode, stdout, stderr } = await capture('echo out; echo problem >&2; exit 4');
    expect([exitCode, stdout.toString(), stderr]).toEqual([4, 'out\n', 'problem\n']);
  });

  it('passes the output to onOutput instead of collecting it', async () => {
    let bytes = 0;
    const { stdout } = await capture('head -c 100000 /dev/zero', {
      maxBytes: 10,
      onOutput: (chunk) => (bytes += chunk.length),
    });
    expect([bytes, stdout.length]).toEqual([100_000, 0]);
  });

  it.each([{ maxBytes: Number.NaN }, { maxBytes: -1 }, { onOutput: 'log' as never }])('refuses %j', async (options) => {
    const refused = { code: 'invalid-option', option: Object.keys(options)[0] };
    await expect(capture('true', options)).rejects.toMatchObject(refused);
  });

  it.each([
    ['yes', { maxBytes: 1_000 }, 'process-output', '/bin/sh wrote more than 1000 bytes (maxBytes).'],
    ['sleep 60', { timeoutMs: 50 }, 'process-timed-out', '/bin/sh did not exit within 50 ms (timeoutMs).'],
    ['sleep 60', { signal: AbortSignal.timeout(50) }, 'process-aborted', '/bin/sh was aborted by the caller.'],
    ['kill -9 $$', {}, 'process-killed', '/bin/sh was ended by SIGKILL.'],
  ])('rejects %s with %j', async (line, options, code, message) => {
    await expect(capture(line, options)).rejects.toMatchObject({ code, message });
  });
});
