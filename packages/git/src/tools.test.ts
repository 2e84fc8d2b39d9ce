import { writeFileSync } from 'node:fs';
import { createWorkspacePaths } from '@h/paths';
import { describe, expect, it } from 'vitest';
import { oddlyNamedFolder } from '../../../tooling/vitest/temporary-folder.js';
import { gitBench, gitBenchAt, type GitBench } from '../test/git-bench.js';
import { callTool, type CallResult } from '../test/agent-tools.js';
import { createGitRepository } from './repository.js';
import { gitDiffTool, gitLogTool, gitStatusTool, gitTools } from './tools.js';

const contextOf = (root: string) => ({
  repository: createGitRepository({ root }),
  paths: createWorkspacePaths(root),
});
const status = ({ root }: Pick<GitBench, 'root'>): Promise<CallResult> => callTool(gitStatusTool(contextOf(root)), {});
const diff = ({ root }: Pick<GitBench, 'root'>, input: object = {}): Promise<CallResult> =>
  callTool(gitDiffTool(contextOf(root)), input);
const log = ({ root }: Pick<GitBench, 'root'>, input: object = {}): Promise<CallResult> =>
  callTool(gitLogTool(contextOf(root)), input);

describe('git_status', () => {
  it('shows the branch and uncommitted files, but no ignored ones', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'gone.txt': 'x', '.gitignore': 'ignored\n' });
    bench.put('a.txt', 'two\n');
    bench.put('new dir/ünïcode "quoted".txt', 'x');
    bench.put('staged.txt', 'x');
    bench.git('add', 'staged.txt');
    bench.git('rm', '--quiet', 'gone.txt');
    bench.put('ignored', 'x');
    const result = await status(bench);
    expect(result.text.split('\n')).toEqual([
      'On branch main.',
      'Uncommitted files (staged, not staged; ? is new):',
      '.M a.txt',
      'D. gone.txt',
      'A. staged.txt',
      '.? new dir/ünïcode "quoted".txt',
    ]);
    expect(result.details).toMatchObject({
      kind: 'git-status',
      branch: 'main',
      count: 4,
      files: expect.arrayContaining([{ path: 'gone.txt', change: 'deleted' }]) as unknown,
    });
  });

  it('shows each file on one line, whatever its name', async () => {
    const bench = gitBench();
    bench.put('a\nOn branch other.\u001B[2J\u202E', 'x');
    expect((await status(bench)).text.split('\n').slice(2)).toEqual([
      String.raw`.? a\u{a}On branch other.\u{1b}[2J\u{202e}`,
    ]);
  });

  it('describes a clean tree, a detached head and an empty repository', async () => {
    const bench = gitBench();
    expect((await status(bench)).text).toBe('On branch main.\nNothing to commit.');
    bench.git('switch', '--quiet', '--detach');
    expect((await status(bench)).text).toMatch(/^Detached head at [0-9a-f]{40}\./);
    expect((await status(gitBench({}))).text).toBe('On branch main, which has no commit.\nNothing to commit.');
  });

  it('fails clearly where there is no repository, and in a bare one', async () => {
    expect(await status({ root: oddlyNamedFolder() })).toMatchObject({ status: 'failed', code: 'git-no-repository' });
    const bare = gitBenchAt(oddlyNamedFolder());
    bare.git('init', '--quiet', '--bare');
    expect(await status(bare)).toMatchObject({ status: 'failed', code: 'git-bare' });
  });

  it('takes no lock that blocks a user', async () => {
    const bench = gitBench();
    writeFileSync(bench.at('.git/index.lock'), '');
    expect(await status(bench)).toMatchObject({ status: 'ok' });
  });
});

describe('git_diff', () => {
  it('shows unstaged and staged changes, and changes since a commit', async () => {
    const bench = gitBench({ 'a.txt': 'one\n', 'b.txt': 'one\n' });
    bench.put('a.txt', 'two\n');
    bench.put('b.txt', 'staged\n');
    bench.git('add', 'b.txt');
    expect((await diff(bench)).text).toMatch(/^diff --git a\/a\.txt b\/a\.txt\n[^]*-one\n\+two$/);
    expect((await diff(bench, { staged: true })).text).toMatch(/^diff --git a\/b\.txt b\/b\.txt\n[^]*\+staged$/);
    expect((await diff(bench, { since: 'main' })).text).toMatch(/a\.txt[^]*b\.txt/);
    expect((await diff(bench, { since: 'main', path: 'b.txt' })).text).not.toContain('a.txt');
    expect((await diff(gitBench())).text).toBe('No changes.');
  });

  it('never treats paths and commits as options or patterns', async () => {
    const bench = gitBench({ '*.txt': 'one\n', 'a.txt': 'one\n', '--output=x': 'one\n' });
    for (const name of ['*.txt', 'a.txt', '--output=x']) bench.put(name, 'two\n');
    expect((await diff(bench, { path: '*.txt' })).text).not.toContain('a/a.txt');
    expect((await diff(bench, { path: '--output=x' })).text).toContain('+two');
    expect(await diff(bench, { since: '--output=evil' })).toMatchObject({
      status: 'failed',
      text: expect.stringContaining('does not exist') as string,
    });
    expect(await diff(bench, { path: '../x' })).toMatchObject({ status: 'failed', code: 'outside' });
    expect(bench.status()).toHaveLength(3);
  });

  it('omits files that may not be read', async () => {
    const bench = gitBench({ '.env': 'KEY=1\n', 'a.txt': 'one\n' });
    bench.put('.env', 'KEY=sk-secret\n');
    expect((await diff(bench)).text).toBe('1 changed file is not shown: the permissions deny reading.');
    bench.put('a.txt', 'two\n');
    const { text } = await diff(bench);
    expect(text).toMatch(/\+two\n1 changed file is not shown: the permissions deny reading\.$/);
    expect(text).not.toContain('secret');
    expect(await diff(bench, { path: '.env' })).toMatchObject({ status: 'failed', code: 'not-permitted' });
  });

  it('truncates a large diff in the middle', async () => {
    const bench = gitBench({ 'a.txt': '' });
    bench.put('a.txt', 'a line of text\n'.repeat(10_000));
    const { text, details } = await diff(bench);
    expect(text.length).toBeLessThanOrEqual(30_000);
    expect(text).toMatch(/bytes omitted/);
    expect(details['omittedBytes']).toBeGreaterThan(100_000);
  });

  it('shows only the workspace where that is a folder of the repository', async () => {
    const bench = gitBench({ 'outside.txt': 'one\n', 'sub/inside.txt': 'one\n' });
    bench.put('outside.txt', 'two\n');
    bench.put('sub/inside.txt', 'two\n');
    const { text } = await diff({ root: bench.at('sub') });
    expect(text).toContain('a/inside.txt');
    expect(text).not.toContain('outside');
    expect((await status({ root: bench.at('sub') })).text).not.toContain('outside');
  });
});

describe('git_log', () => {
  it('lists the given number of commits, newest first', async () => {
    const bench = gitBench();
    for (const subject of ['second', 'third']) bench.git('commit', '--quiet', '--allow-empty', `--message=${subject}`);
    expect((await log(bench, { count: 2 })).text).toMatch(
      /^[0-9a-f]+ \d{4}-\d\d-\d\d A Person: third\n[0-9a-f]+ [^\n]+ second$/,
    );
    expect((await log(bench, { path: 'a.txt' })).text).toMatch(/^[^\n]+ first$/);
    expect((await log(bench, { path: 'none' })).text).toBe('No output.');
    expect(await log(bench, { count: 0 })).toMatchObject({ status: 'invalid-input' });
  });

  it('reports a repository without commits', async () => {
    expect((await log(gitBench({}))).text).toBe('The repository has no commit.');
  });
});

describe('gitTools', () => {
  it('only read', () => {
    const tools = gitTools(contextOf(gitBench().root));
    expect(tools.map(({ name, effect }) => [name, effect])).toEqual([
      ['git_status', 'read-only'],
      ['git_diff', 'read-only'],
      ['git_log', 'read-only'],
    ]);
  });
});
