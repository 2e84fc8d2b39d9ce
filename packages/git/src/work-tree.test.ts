import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { gitBench } from '../test/git-bench.js';
import { createGitRepository } from './repository.js';
import { createGitRunner } from './runner.js';
import { addWorkTree } from './work-tree.js';

const run = promisify(execFile);

describe('addWorkTree', () => {
  it('creates and removes six work trees of one repository at the same time', async () => {
    const bench = gitBench();
    const folder = join(oddlyNamedFolder(), 'trees');
    await Promise.all(
      Array.from({ length: 6 }, async () => {
        const tree = await addWorkTree(createGitRepository({ root: bench.root }), { folder, task: 'Write the docs' });
        await tree.remove();
      }),
    );
    expect(bench.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(bench.branches()).toEqual(['main']);
  });

  it('fails, and leaves no branch, if no folder can be created there', async (context) => {
    // Node's recursive mkdir() never returns for such a path.
    context.skip(!existsSync('/proc/self'), 'there is no /proc');
    const bench = gitBench();
    const repository = createGitRepository({ root: bench.root });
    await expect(addWorkTree(repository, { folder: '/proc/missing/trees', task: 'Docs' })).rejects.toMatchObject({
      code: 'git-failed',
    });
    expect(bench.branches()).toEqual(['main']);
  });

  it('creates and removes work trees of one repository in two processes at the same time', async () => {
    const bench = gitBench();
    const folder = oddlyNamedFolder();
    const outfile = join(folder, 'child.cjs');
    await build({
      entryPoints: [fileURLToPath(new URL('../test/work-trees-child.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      conditions: ['@h/source'],
      logLevel: 'silent',
    });
    const trees = join(folder, 'trees');
    await Promise.all([1, 2].map(() => run(process.execPath, [outfile, bench.root, trees, '3'])));
    expect(bench.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(bench.branches()).toEqual(['main']);
  });

  it.each([
    'failed to read .git/worktrees/agent-docs/commondir: Success',
    "Invalid path '/my code/.git/worktrees/agent-docs': No such file or directory",
    "could not create directory of '/my code/.git/worktrees/agent-docs': No such file or directory",
  ])('retries while the entry of another work tree is incomplete: %s', async (message) => {
    const bench = gitBench();
    const git = createGitRunner({ root: bench.root });
    let failures = 2;
    const repository = createGitRepository({
      root: bench.root,
      run: async (args, options) => {
        if (args[0] !== 'worktree' || failures === 0) return git(args, options);
        failures -= 1;
        return { exitCode: 128, stdout: Buffer.alloc(0), stderr: `fatal: ${message}\n` };
      },
    });
    const tree = await addWorkTree(repository, { folder: join(oddlyNamedFolder(), 'trees'), task: 'Write the docs' });
    await tree.remove();
    expect(failures).toBe(0);
    expect(bench.branches()).toEqual(['main']);
  });

  it('removes a work tree once, however often it is asked to', async () => {
    const bench = gitBench();
    const folder = oddlyNamedFolder();
    const tree = await addWorkTree(createGitRepository({ root: bench.root }), { folder, task: 'Write the docs' });
    await tree.remove();
    await expect(tree.remove()).resolves.toBeUndefined();
  });

  it('leaves no branch behind if the folder of the work tree cannot be created', async () => {
    const bench = gitBench({ 'a.txt': 'one\n' });
    const git = createGitRunner({ root: bench.root });
    const repository = createGitRepository({
      root: bench.root,
      run: async (args, options) =>
        args[0] === 'worktree'
          ? { exitCode: 128, stdout: Buffer.alloc(0), stderr: 'fatal: could not create directory\n' }
          : git(args, options),
    });
    await expect(
      addWorkTree(repository, { folder: join(oddlyNamedFolder(), 'trees'), task: 'Write the docs' }),
    ).rejects.toMatchObject({ code: 'git-failed' });
    expect(bench.branches()).toEqual(['main']);
  });
});
