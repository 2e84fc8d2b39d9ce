import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import type { CommandEnd, Sandbox, SandboxCommand } from '../src/sandbox.js';
import { commandLines, uniqueSeconds, waitUntilGone } from '@h/process/testing';

/** Options that the suite sets, in every mode. */
export interface SuiteOptions {
  readonly root: string;
  readonly timeoutMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** A command that was run, with its output. */
export interface Ran extends CommandEnd {
  readonly output: string;
}

/** Runs a line of shell in a sandbox. */
export const runShell = async (sandbox: Sandbox, line: string, options: Partial<SandboxCommand> = {}): Promise<Ran> => {
  let output = '';
  const end = await sandbox.run({
    ...options,
    argv: ['/bin/sh', '-c', line],
    onOutput: (chunk, source) => {
      output += Buffer.from(chunk).toString();
      options.onOutput?.(chunk, source);
    },
  });
  return { ...end, output };
};

/** Returns whether a file of the workspace exists on this machine. */
const written = (root: string, name: string): string | undefined =>
  existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined;

/** Tests the contract of every sandbox. `processesVisible`: its processes can be seen from this machine. */
export const describeSandbox = (
  name: string,
  create: (options: SuiteOptions) => Promise<Sandbox>,
  {
    processesVisible = true,
    programMissing = 127,
  }: { readonly processesVisible?: boolean; readonly programMissing?: number } = {},
): void => {
  const open = async (options: Partial<SuiteOptions> = {}): Promise<Sandbox> => {
    const sandbox = await create({ root: oddlyNamedFolder(), ...options });
    onTestFinished(() => sandbox.close());
    return sandbox;
  };
  const gone = (token: string): Promise<void> => (processesVisible ? waitUntilGone(token) : Promise.resolve());

  describe(`${name}, as every sandbox,`, () => {
    it('reports output, exit code and duration', async () => {
      const sandbox = await open();
      const end = await runShell(sandbox, 'echo out; echo problem >&2; exit 3');
      expect(end).toMatchObject({ ending: 'exited', exitCode: 3, signal: null, timeoutMs: 600_000 });
      expect(end.output).toContain('out\n');
      expect(end.output).toContain('problem\n');
      expect(end.durationMs).toBeGreaterThanOrEqual(0);
    });

    it('names the signal that ended a command', async () => {
      expect(await runShell(await open(), 'kill -9 $$')).toMatchObject({
        ending: 'exited',
        exitCode: 137,
        signal: 'SIGKILL',
      });
    });

    it('reports a program that does not exist', async () => {
      const sandbox = await open();
      expect(await sandbox.run({ argv: ['no-such-program'] })).toMatchObject({
        ending: 'exited',
        exitCode: programMissing,
      });
    });

    it('passes arguments unchanged', async () => {
      const sandbox = await open();
      const odd = ['', ' a  b ', '$HOME `id` "\'\\', '*', '-n', 'ü\n'];
      let output = '';
      await sandbox.run({
        argv: ['/bin/sh', '-c', 'for one; do printf "[%s]" "$one"; done', 'sh', ...odd],
        onOutput: (chunk) => (output += Buffer.from(chunk).toString()),
      });
      expect(output).toBe(odd.map((one) => `[${one}]`).join(''));
    });

    it('runs in the workspace and persists written files', async () => {
      const sandbox = await open();
      mkdirSync(join(sandbox.root, 'sub folder'));
      const end = await runShell(sandbox, 'pwd; echo hello > file', { cwd: join(sandbox.root, 'sub folder') });
      expect(end.output).toBe(`${sandbox.mountPath}/sub folder\n`);
      expect(written(sandbox.root, 'sub folder/file')).toBe('hello\n');
    });

    it.each(['/', '..', 'missing'])('refuses to run in %j', async (cwd) => {
      const sandbox = await open();
      await expect(sandbox.run({ argv: ['true'], cwd })).rejects.toMatchObject({ code: 'sandbox-cwd' });
    });

    it('gives commands an empty input', async () => {
      expect(await runShell(await open(), 'cat; echo end')).toMatchObject({ exitCode: 0, output: 'end\n' });
    });

    it('sets its variables, lets commands override them, and inherits none', async () => {
      vi.stubEnv('SECRET_API_KEY', 'sk-do-not-tell');
      onTestFinished(() => void vi.unstubAllEnvs());
      const sandbox = await open({ environment: { ONE: 'of the sandbox', TWO: 'of the sandbox' } });
      const { output } = await runShell(sandbox, 'env', { environment: { TWO: 'of "the" $command' } });
      const variables = output.split('\n');
      expect(variables).toEqual(
        expect.arrayContaining([
          'ONE=of the sandbox',
          'TWO=of "the" $command',
          'CI=1',
          'PAGER=cat',
          'GIT_TERMINAL_PROMPT=0',
          'TERM=dumb',
        ]),
      );
      expect(output).not.toContain('sk-do-not-tell');
    });

    it.runIf(processesVisible)('shows no variable in the arguments of a process', async () => {
      const sandbox = await open({ environment: { TOKEN: 'sk-of-the-sandbox' } });
      const seen: string[] = [];
      await runShell(sandbox, 'echo ready; sleep 0.3', {
        environment: { OTHER: 'sk-of-the-command' },
        onOutput: () => seen.push(...commandLines()),
      });
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter((line) => line.includes('sk-of-the'))).toEqual([]);
    });

    it('emits output while the command runs, and ends all processes at the abort', async () => {
      const sandbox = await open();
      const seconds = uniqueSeconds();
      const stop = new AbortController();
      const end = await runShell(sandbox, `sleep ${seconds} & echo ready; sleep ${seconds}`, {
        signal: stop.signal,
        onOutput: () => stop.abort(),
      });
      expect(end).toMatchObject({ ending: 'aborted', output: expect.stringContaining('ready') as string });
      await gone(`sleep ${seconds}`);
    });

    it('does not start after the abort', async () => {
      const sandbox = await open();
      expect(await runShell(sandbox, 'echo x > file', { signal: AbortSignal.abort() })).toMatchObject({
        ending: 'aborted',
        exitCode: null,
      });
      expect(written(sandbox.root, 'file')).toBeUndefined();
    });

    it('ends all processes at the time limit, even if they ignore SIGTERM', async () => {
      const sandbox = await open();
      const seconds = uniqueSeconds();
      const end = await runShell(sandbox, `trap '' TERM INT HUP; sleep ${seconds} & sleep ${seconds}`, {
        // A shell that starts later than this has not ignored the signals yet and ends at SIGTERM.
        timeoutMs: 1_000,
      });
      expect(end).toMatchObject({ ending: 'timed-out', timeoutMs: 1_000, signal: 'SIGKILL' });
      await gone(`sleep ${seconds}`);
      expect(await runShell(sandbox, 'echo still there')).toMatchObject({ output: 'still there\n' });
    });

    it('applies the time limit of the sandbox to every command', async () => {
      const sandbox = await open({ timeoutMs: 200 });
      expect(await runShell(sandbox, 'sleep 60', { timeoutMs: 60_000 })).toMatchObject({
        ending: 'timed-out',
        timeoutMs: 200,
      });
    });

    it('gives a command time to clean up before it is killed', async () => {
      const sandbox = await open();
      await runShell(sandbox, `trap 'echo done > cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done`, {
        timeoutMs: 600,
      });
      expect(written(sandbox.root, 'cleaned')).toBe('done\n');
    });

    it('ends background processes without waiting for them', async () => {
      const sandbox = await open();
      const seconds = uniqueSeconds();
      const end = await runShell(sandbox, `sleep ${seconds} & (sleep ${seconds} >/dev/null 2>&1 &) ; echo started`);
      expect(end).toMatchObject({ ending: 'exited', exitCode: 0, output: 'started\n' });
      await gone(`sleep ${seconds}`);
    });

    it('runs several commands at the same time', async () => {
      const sandbox = await open();
      const stop = new AbortController();
      const [other, mine] = await Promise.all([
        runShell(sandbox, 'echo other; sleep 60', { signal: stop.signal }),
        runShell(sandbox, 'sleep 0.3; echo mine').finally(() => stop.abort()),
      ]);
      expect(mine).toMatchObject({ ending: 'exited', exitCode: 0, output: 'mine\n' });
      expect(other).toMatchObject({ ending: 'aborted' });
    });

    it('ends running commands when it is closed, rejects new ones, and may be closed twice', async () => {
      const sandbox = await open();
      const seconds = uniqueSeconds();
      let close: Promise<void> | undefined;
      const end = await runShell(sandbox, `echo ready; sleep ${seconds}`, {
        onOutput: () => {
          close ??= sandbox.close();
        },
      });
      expect(end).toMatchObject({ ending: 'aborted' });
      await close;
      await sandbox.close();
      await gone(`sleep ${seconds}`);
      expect(commandLines().filter((line) => line.includes(`sleep ${seconds}`))).toEqual([]);
      await expect(sandbox.run({ argv: ['true'] })).rejects.toMatchObject({ code: 'sandbox-closed' });
    });
  });
};
