import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { git, repository } from '../test/folders.js';
import type { CheckRunner } from '@h/process';
import { openProject } from './project.js';

const local: CheckRunner = ({ command, cwd, timeoutMs, signal }) =>
  new Promise((resolve) => {
    execFile('bash', ['-c', command], { cwd, timeout: timeoutMs, signal }, (error, stdout, stderr) => {
      resolve({
        exitCode: error === null ? 0 : typeof error.code === 'number' ? error.code : undefined,
        output: `${stdout}${stderr}`,
      });
    });
  });
const limits = { timeoutMs: 10_000, maxChars: 2_000, signal: new AbortController().signal };

describe('the workspace script', () => {
  it('is created as a harmless script that shows the state of the repository', async () => {
    const folder = await repository();
    const { script } = openProject({ folder });
    expect(await script.run(local, limits)).toBeUndefined();
    expect(await script.ensure()).toBe(true);
    expect(await script.run(local, limits)).toMatchObject({ ok: true });
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '-m', 'Plan the project');
    expect(await script.run(local, limits)).toEqual({
      ok: true,
      text: expect.stringContaining('Plan the project') as unknown,
    });
    expect(git(folder, 'status', '--short')).toBe('');
  });

  it('reports a killed run, with truncated output', async () => {
    const { script } = openProject({ folder: temporaryFolder() });
    await script.ensure();
    const ended = await script.run(
      () => Promise.resolve({ exitCode: 0, output: 'x'.repeat(10_000), failure: 'killed' }),
      { ...limits, maxChars: 20 },
    );
    expect(ended).toEqual({ ok: false, text: `killed\n${'x'.repeat(20)}` });
  });

  it('is not overwritten, and reports its failure', async () => {
    const { script } = openProject({ folder: temporaryFolder() });
    await writeFile(script.path, 'echo "no database"; exit 3\n');
    expect(await script.ensure()).toBe(false);
    expect(await readFile(script.path, 'utf8')).toContain('no database');
    expect(await script.run(local, limits)).toEqual({ ok: false, text: 'exit code 3\nno database' });
  });
});
