import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder, startCoder } from './coder-process.js';
import { inFolder, sampleProject } from './folders.js';
import { call, startModelServer, type Answer } from './model-server.js';

const wordsFor = async (answers: readonly Answer[]) => {
  const server = await startModelServer(answers);
  const workspace = await sampleProject();
  const words = ['--model', 'anthropic/x', '--base-url', `${server.url}/v1`, '--workspace', workspace];
  const environment = { ANTHROPIC_API_KEY: 'k', XDG_STATE_HOME: temporaryFolder() };
  return { server, words, environment, workspace };
};

describe('a session', () => {
  it('continues in another process and is listed', async () => {
    const { server, words, environment } = await wordsFor(['Hello Ada.', 'You are Ada.', 'Still Ada.']);
    await runCoder({ words: [...words, 'I am Ada'], environment });
    await runCoder({ words: [...words, '--continue', 'Who am I?'], environment });
    const { stdout } = await runCoder({ words: [...words, '--sessions'], environment });
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT\d{6}-[\da-f]{4} {2}\d{4}-\d\d-\d\d \d\d:\d\d {3}2 turns {2}I am Ada\n$/);
    await runCoder({ words: [...words, '--resume', stdout.slice(0, 12), 'And now?'], environment });
    const rolesOf = (index: number) =>
      server.requests[index]?.messages
        .filter(({ role }) => role !== 'system')
        .map(({ role }) => role)
        .join(' ');
    expect(rolesOf(1)).toMatch(/^user assistant user/);
    expect(rolesOf(2)).toMatch(/^user assistant user assistant user/);
    expect(JSON.stringify(server.requests[2]?.messages)).toContain('I am Ada');
  });

  it('continues after the process was killed during a command', async () => {
    const { server, words, environment, workspace } = await wordsFor([
      call('bash', { command: 'touch began; sleep 1000' }),
      'I see.',
    ]);
    const coder = startCoder({ words: [...words, 'Begin'], environment });
    await vi.waitFor(() => access(join(workspace, 'began')), 60_000);
    coder.signal('SIGKILL');
    await coder.finished;
    const { code } = await runCoder({ words: [...words, '--continue', 'What happened?'], environment });
    expect(code).toBe(0);
    const heard = JSON.stringify(server.requests.at(-1)?.messages);
    expect(heard).toContain('Begin');
    expect(heard).toMatch(/unknown/);
  });

  it('resumes the interrupted turn without a prompt', async () => {
    const { server, words, environment, workspace } = await wordsFor([
      call('bash', { command: 'touch began; sleep 1000' }),
      'I was interrupted and continue.',
    ]);
    const coder = startCoder({ words: [...words, 'Begin'], environment });
    await vi.waitFor(() => access(join(workspace, 'began')), 60_000);
    coder.signal('SIGKILL');
    await coder.finished;
    const { code, stdout } = await runCoder({ words: [...words, '--continue'], environment });
    expect(code).toBe(0);
    expect(stdout).toMatch(/✗ bash touch began[^\n]*interrupted[^]*I was interrupted and continue\./);
    expect(server.requests).toHaveLength(2);
    const again = await runCoder({ words: [...words, '--continue'], environment });
    expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/Pass a prompt/) as string });
  });

  it('works if the home folder is a git repository', async () => {
    const { words, environment } = await wordsFor(['Hello.']);
    await inFolder(environment.XDG_STATE_HOME, 'git', 'init', '--quiet');
    const { code, stdout, stderr } = await runCoder({ words: [...words, 'Hi'], environment });
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Hello.') as string });
    expect(stderr).toMatch(
      /^Long tool results are kept in memory and are lost when this process exits: [^\n]*git[^\n]*\n$/,
    );
  });

  it('is open in one process at a time', async () => {
    const { words, environment, workspace } = await wordsFor([
      call('bash', { command: 'touch began; while [ ! -e go ]; do sleep 0.1; done' }),
      'Done.',
      'Now I can.',
    ]);
    const first = startCoder({ words: [...words, 'Begin'], environment });
    await vi.waitFor(() => access(join(workspace, 'began')), 60_000);
    const second = await runCoder({ words: [...words, '--continue', 'Me too'], environment });
    expect(second.code).toBe(1);
    expect(second.stdout).toMatch(/■ error · .*is held by process \d+ on /);
    await writeFile(join(workspace, 'go'), '');
    expect((await first.finished).code).toBe(0);
    const third = await runCoder({ words: [...words, '--continue', 'And now?'], environment });
    expect(third).toMatchObject({ code: 0, stdout: expect.stringContaining('Now I can.') as string });
  });
});
