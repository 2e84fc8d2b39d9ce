import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder } from './coder-process.js';
import { call, startModelServer } from './model-server.js';
import { alive } from './processes.js';

/** Runs one tool call; returns its result for the model and the output for the user. */
const tryOut = async (folder: string, name: string, input: unknown) => {
  const server = await startModelServer([call(name, input), 'Done.']);
  const { code, stdout } = await runCoder({
    words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, 'Continue'],
  });
  const told = server.requests[1]?.messages.at(-1)?.content;
  return { code, stdout, told: typeof told === 'string' ? told : JSON.stringify(told) };
};

describe('a workspace with awkward files and commands', () => {
  it('shows the model the beginning and the end of a long build log', async () => {
    const { code, told } = await tryOut(temporaryFolder(), 'bash', {
      command: 'seq 1 200000; echo "error: it failed" >&2',
    });
    expect(code).toBe(0);
    expect(told.length).toBeLessThanOrEqual(16_000);
    expect(told).toMatch(/^1\n2\n/);
    expect(told).toContain('error: it failed');
  });

  it('truncates 600 KB of JSON on one line', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'data.json'), JSON.stringify(Array.from({ length: 60_000 }, (_, index) => index * 7)));
    const { code, told } = await tryOut(folder, 'read', { path: 'data.json' });
    expect(code).toBe(0);
    expect(told).toContain('Truncated lines: 1');
    expect(told.length).toBeLessThan(16_000);
  });

  it('reports a binary file', async () => {
    const folder = temporaryFolder();
    await writeFile(join(folder, 'program'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0xff]));
    const { told, stdout } = await tryOut(folder, 'read', { path: 'program' });
    expect(told).toContain('Its content is not shown');
    expect(stdout).toMatch(/^✓ read program/m);
  });

  it('ends a command that never stops writing', async () => {
    const { code, told, stdout } = await tryOut(temporaryFolder(), 'bash', { command: 'yes', timeoutMs: 500 });
    expect(code).toBe(0);
    expect(told.length).toBeLessThanOrEqual(16_000);
    expect(told).toContain('The command exceeded its time limit of 500 ms');
    expect(stdout).toMatch(/^✗ bash yes/m);
  });

  it('kills a process that ignores SIGTERM', async () => {
    const { code, told } = await tryOut(temporaryFolder(), 'bash', {
      command: 'trap "" TERM; echo $$; while true; do sleep 0.1; done',
      timeoutMs: 300,
    });
    expect(code).toBe(0);
    const pid = Number(/\d+/.exec(told)?.[0]);
    expect(pid).toBeGreaterThan(1);
    expect(await alive([pid])).toEqual([]);
  });

  it('rejects a link that points outside the workspace', async () => {
    const folder = temporaryFolder();
    await symlink('/etc/hostname', join(folder, 'link'));
    const { told } = await tryOut(folder, 'read', { path: 'link' });
    expect(told).toContain('leads out of the workspace');
  });

  it('removes control characters from file contents', async () => {
    const folder = temporaryFolder();
    const { stdout } = await tryOut(folder, 'bash', {
      command: 'printf "\\033]0;title\\007\\033[2J" >&2; exit 1; # \u001B[31m',
    });
    expect(stdout).not.toContain('\u001B');
  });
});
