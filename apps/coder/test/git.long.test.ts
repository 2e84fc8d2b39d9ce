import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { runCoder } from './coder-process.js';
import { commitFolder, git, sampleProject } from './folders.js';
import { call, startModelServer, type Answer } from './model-server.js';

/** The sample project in its own repository with one commit. */
const repository = async (): Promise<string> => {
  const folder = await sampleProject();
  await commitFolder(folder);
  return folder;
};

const run = async (folder: string, answers: readonly Answer[], ...words: readonly string[]) => {
  const server = await startModelServer(answers);
  const home = temporaryFolder();
  const finished = await runCoder({
    words: ['--model', 'ollama/x', '--base-url', `${server.url}/v1`, '--workspace', folder, ...words, 'Fix the units'],
    // No name and address for commits.
    environment: { HOME: home },
  });
  return { ...finished, server };
};

const edit = call('edit', { path: 'src/duration.js', old: 'h: 3_600', new: 'h: 3600' }, 'edit');

describe('--branch', () => {
  it('commits changes to a new branch and returns to the old one, without a git identity', async () => {
    const folder = await repository();
    const { code, stdout } = await run(
      folder,
      [edit, call('bash', { command: 'echo x > built.txt' }, 'bash'), 'Done.'],
      '--branch',
    );
    expect(code).toBe(0);
    const branch = /^⎇ on branch (agent\/fix-the-units-\S+) \(from main\)$/m.exec(stdout)?.[1] ?? '';
    expect(stdout).toMatch(/^⎇ committed 2 files as [0-9a-f]{10} on agent\/fix-the-units-/m);
    expect(stdout).toMatch(/^⎇ back on main$/m);
    expect(stdout).toMatch(/^ {2}files changed: src\/duration\.js \(\+1 −1\), built\.txt \(added\)$/m);

    expect(await git(folder, 'branch', '--show-current')).toBe('main');
    expect(await git(folder, 'status', '--porcelain')).toBe('');
    expect(await git(folder, 'diff', '--name-only', 'main', branch)).toBe('built.txt\nsrc/duration.js');
  });

  it('leaves earlier uncommitted changes unchanged', async () => {
    const folder = await repository();
    await writeFile(join(folder, 'README.md'), 'My own draft\n');
    const { stdout } = await run(folder, [edit, 'Done.'], '--branch');
    expect(stdout).toMatch(/\(from main, 1 file not committed\)$/m);
    expect(await git(folder, 'status', '--porcelain')).toBe(' M README.md');
  });

  it('reports a missing repository in one line', async () => {
    const { code, stdout, stderr } = await run(temporaryFolder(), [], '--branch');
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^--branch: .*\n$/);
  });

  it('asks before a push and denies it if no terminal is attached', async () => {
    const folder = await repository();
    const { code, stdout, server } = await run(
      folder,
      [edit, call('git_push', {}, 'push'), 'I may not push.'],
      '--branch',
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\? .*git_push/m);
    expect(stdout).toMatch(/^⊘ git_push .*denied: /m);
    expect(JSON.stringify(server.requests[2]?.messages.at(-1))).toMatch(
      /No terminal is attached, so the request was denied/,
    );
  });
});

describe('a repository without --branch', () => {
  it('lists the files that commands changed and commits nothing', async () => {
    const folder = await repository();
    const { code, stdout, server } = await run(folder, [
      call('bash', { command: 'echo x > built.txt; rm README.md' }),
      'Done.',
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {2}files changed: README\.md \(deleted\), built\.txt \(added\)$/m);
    expect(await git(folder, 'log', '--format=%s')).toBe('First');
    expect(await git(folder, 'branch', '--format=%(refname:short)')).toBe('main');
    const offered = server.requests[0]?.tools?.map((tool) => tool.function.name);
    expect(offered).toEqual(expect.arrayContaining(['git_diff', 'git_log', 'git_status']));
    expect(offered).not.toContain('git_push');
  });
});
