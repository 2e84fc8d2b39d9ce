import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCoder } from './coder-process.js';
import { temporaryFolder } from './folders.js';
import { call, startModelServer } from './model-server.js';
import { alive } from './processes.js';

/** Lets the model make one call; gives what it was told, and what the user saw. */
const tryOut = async (folder: string, name: string, input: unknown) => {
  const server = await startModelServer([call(name, input), 'Done.']);
  const { code, stdout } = await runCoder({
    words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, 'Go on'],
  });
  const told = server.requests[1]?.messages.at(-1)?.content;
  return { code, stdout, told: typeof told === 'string' ? told : JSON.stringify(told) };
};

describe('a rough workspace', () => {
  it('has a long build log, of which the model reads beginning and end', async () => {
    const { code, told } = await tryOut(await temporaryFolder(), 'bash', {
      command: 'seq 1 200000; echo "error: it failed" >&2',
    });
    expect(code).toBe(0);
    expect(told.length).toBeLessThanOrEqual(16_000);
    expect(told).toMatch(/^1\n2\n/);
    expect(told).toContain('error: it failed');
  });

  it('has JSON of 600 KB on one line', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'data.json'), JSON.stringify(Array.from({ length: 60_000 }, (_, index) => index * 7)));
    const { code, told } = await tryOut(folder, 'read', { path: 'data.json' });
    expect(code).toBe(0);
    expect(told).toContain('Cut lines: 1');
    expect(told.length).toBeLessThan(16_000);
  });

  it('has a binary file', async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'program'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, 0xff]));
    const { told, stdout } = await tryOut(folder, 'read', { path: 'program' });
    expect(told).toContain('Its content is not shown');
    expect(stdout).toMatch(/^✓ read program/m);
  });

  it('has a command that never stops writing', async () => {
    const { code, told, stdout } = await tryOut(await temporaryFolder(), 'bash', { command: 'yes', timeoutMs: 500 });
    expect(code).toBe(0);
    expect(told.length).toBeLessThanOrEqual(16_000);
    expect(told).toContain('The command exceeded its time limit of 500 ms');
    expect(stdout).toMatch(/^✗ bash yes/m);
  });

  it('has a process that ignores being asked to end', async () => {
    const { code, told } = await tryOut(await temporaryFolder(), 'bash', {
      command: 'trap "" TERM; echo $$; while true; do sleep 0.1; done',
      timeoutMs: 300,
    });
    expect(code).toBe(0);
    const pid = Number(/\d+/.exec(told)?.[0]);
    expect(pid).toBeGreaterThan(1);
    expect(await alive([pid])).toEqual([]);
  });

  it('has a link that leads out of it', async () => {
    const folder = await temporaryFolder();
    await symlink('/etc/hostname', join(folder, 'link'));
    const { told } = await tryOut(folder, 'read', { path: 'link' });
    expect(told).toContain('leads out of the workspace');
  });

  it('has a file whose text would change the terminal', async () => {
    const folder = await temporaryFolder();
    const { stdout } = await tryOut(folder, 'bash', {
      command: 'printf "\\033]0;title\\007\\033[2J" >&2; exit 1; # \u001B[31m',
    });
    expect(stdout).not.toContain('\u001B');
  });
});
