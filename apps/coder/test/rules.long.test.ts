import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder } from './coder-process.js';
import { sampleProject } from './folders.js';
import { call, startModelServer, type Answer } from './model-server.js';

const run = async (
  answers: readonly Answer[],
  {
    folder,
    words = [],
    environment = {},
  }: {
    readonly folder?: string;
    readonly words?: readonly string[];
    readonly environment?: Record<string, string>;
  } = {},
) => {
  const server = await startModelServer(answers);
  const workspace = folder ?? (await sampleProject());
  const finished = await runCoder({
    words: ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', workspace, ...words, 'Continue'],
    environment: { ANTHROPIC_API_KEY: 'k', ...environment },
  });
  return {
    ...finished,
    server,
    workspace,
    heard: (index: number) => JSON.stringify(server.requests[index]?.messages.filter(({ role }) => role === 'tool')),
  };
};

describe('the rules of the app', () => {
  it('deny destructive commands and give the model the reason', async () => {
    const { code, stdout, heard } = await run([call('bash', { command: 'cd / && rm -rf ~' }), 'I leave it.']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/⊘ bash cd \/ && rm -rf ~.*denied/);
    expect(heard(1)).toContain('It deletes system folders');
  });

  it('deny calls that need approval if no terminal is attached', async () => {
    const { stdout } = await run([call('bash', { command: 'git push origin main' }), 'Then not.']);
    expect(stdout).toMatch(/⊘ bash git push origin main.*denied/);
  });

  it('ask about every change under --approve always', async () => {
    const { stdout, workspace } = await run([call('write', { path: 'new.txt', content: 'x' }), 'Then not.'], {
      words: ['--approve', 'always'],
    });
    expect(stdout).toMatch(/⊘ write new\.txt.*denied/);
    await expect(readFile(join(workspace, 'new.txt'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it("run the user's hooks but not those of an untrusted project", async () => {
    const home = temporaryFolder();
    const folder = await sampleProject();
    const hooksOf = (name: string): string =>
      JSON.stringify({
        hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: `touch "${home}/${name}"` }] }] },
      });
    for (const [place, name] of [
      [home, 'mine'],
      [folder, 'theirs'],
    ] as const) {
      await mkdir(join(place, '.claude'));
      await writeFile(join(place, '.claude/settings.json'), hooksOf(name));
    }
    const { code } = await run([call('bash', { command: 'true' }), 'Done.'], { folder, environment: { HOME: home } });
    expect(code).toBe(0);
    await expect(readFile(join(home, 'mine'), 'utf8')).resolves.toBe('');
    await expect(readFile(join(home, 'theirs'), 'utf8')).rejects.toThrow('ENOENT');
  });

  it('end a turn that loops', async () => {
    const again = Array.from({ length: 8 }, (_, index) => call('bash', { command: 'exit 7' }, `call-${index}`));
    const { code, stdout, server } = await run(again);
    expect(code).toBe(5);
    expect(stdout).toContain('! loop (no-progress)');
    expect(stdout).toContain('■ loop-detected');
    expect(server.requests.length).toBeLessThan(9);
  });

  it('redact secrets in tool results', async () => {
    const folder = await sampleProject();
    const key = ['sk', 'ant', 'api03', 'x7Kd9QmZ2'.repeat(10)].join('-');
    await writeFile(join(folder, 'settings.py'), `ANTHROPIC_API_KEY = "${key}"\n`);
    const { stdout, heard } = await run([call('read', { path: 'settings.py' }), 'Seen.'], { folder });
    expect(heard(1)).toContain('[redacted]');
    expect(heard(1)).not.toContain(key);
    expect(stdout).toContain('secrets were removed from the result of read');
  });
});
