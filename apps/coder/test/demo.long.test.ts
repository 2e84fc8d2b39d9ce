import { rm } from 'node:fs/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tooling/vitest/temporary-folder.js';
import { bareEnvironment, main, runCoder, startCoder, startProgram, type Finished } from './coder-process.js';
import { inFolder } from './folders.js';

/** Finds the project that the demo created and removes it after the test. */
const projectOf = ({ stdout, stderr }: Finished): string => {
  const folder = /^(\/\S*h-coder-\w+), a temporary git repository\.$/m.exec(stdout + stderr)?.[1];
  if (folder === undefined) throw new Error(`No project is named in ${stdout}${stderr}`);
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

describe('the demo', () => {
  it('fixes the failing test of a real project with a scripted model', async () => {
    const finished = await runCoder();
    const project = projectOf(finished);
    expect(finished).toMatchObject({ code: 0, stderr: '' });

    const { stdout } = finished;
    expect(stdout).not.toContain('\u001B');
    expect(stdout).toContain('No API key is set, so the model follows a fixed script');
    expect(stdout).toContain(
      'npm start -- --model anthropic/claude-sonnet-4-5 --workspace ../my-repo "fix the failing test"',
    );
    const lines = [
      /^✓ glob /m,
      /^✓ read (?:src|test)\/duration/m,
      /^✓ read (?:src|test)\/duration/m,
      /^✗ bash node --test .* failed: exit code 1$/m,
      /^✓ edit src\/duration\.js/m,
      /^ {4}\d - .*exec/m,
      /^ {4}\d \+ .*matchAll/m,
      /^✓ bash node --test · \d+(?:\.\d)? m?s$/m,
      /^The test passes now\.$/m,
      /^✓ completed$/m,
      /^ {2}6 steps · 6 tool calls \(1 not ok\) · tokens: [\d,]+ in, 0 cached, \d+ out · .* m?s$/m,
      /^ {2}files changed: src\/duration\.js \(\+3 −4\)$/m,
    ];
    let from = 0;
    for (const line of lines) {
      const place = stdout.slice(from).search(line);
      expect(place, `${String(line)} comes where it belongs`).toBeGreaterThanOrEqual(0);
      from += place;
    }

    expect(await inFolder(project, process.execPath, '--test')).toMatchObject({ code: 0 });
    expect(await inFolder(project, 'git', 'status', '--porcelain')).toEqual({
      code: 0,
      output: ' M src/duration.js\n',
    });
    expect((await inFolder(project, 'git', 'log', '--format=%s')).output).toBe(
      'The sample project, with a failing test\n',
    );
  });

  it('prints only events as JSON lines with --json', async () => {
    const finished = await runCoder({ words: ['--json'] });
    projectOf(finished);
    expect(finished.code).toBe(0);
    const events = finished.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; outcome?: string });
    expect(events[0]).toMatchObject({ type: 'turn.start' });
    expect(events.at(-1)).toMatchObject({ type: 'turn.end', outcome: 'completed', steps: 6 });
    expect(events.filter(({ type }) => type === 'turn.end')).toHaveLength(1);
    expect(events.filter(({ type }) => type === 'tool.result')).toHaveLength(6);
    expect(finished.stderr).toContain('No API key is set, so the model follows a fixed script');
  });

  it('runs with --demo although a key is set', async () => {
    const finished = await runCoder({ words: ['--demo'], environment: { ANTHROPIC_API_KEY: 'k' } });
    projectOf(finished);
    expect(finished.code).toBe(0);
    expect(finished.stdout).toContain('The model is scripted because of --demo.');
  });

  it('ignores git variables in the environment', async () => {
    const elsewhere = temporaryFolder();
    await inFolder(elsewhere, 'git', 'init', '--quiet');
    const environment = {
      GIT_DIR: `${elsewhere}/.git`,
      GIT_WORK_TREE: elsewhere,
      GIT_INDEX_FILE: `${elsewhere}/index`,
    };
    const finished = await runCoder({ environment });
    const project = projectOf(finished);
    expect(finished.code).toBe(0);
    expect((await inFolder(project, 'git', 'log', '--format=%s')).output).toBe(
      'The sample project, with a failing test\n',
    );
    expect((await inFolder(elsewhere, 'git', 'status', '--porcelain')).output).toBe('');
  });

  it('works with standard input closed', async () => {
    const { finished } = startProgram('/bin/sh', ['-c', 'exec "$0" "$1" <&-', process.execPath, main]);
    const result = await finished;
    projectOf(result);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  it('exits when its output is closed', async () => {
    const coder = startCoder();
    await coder.said('a temporary git repository');
    coder.stopReading();
    const finished = await coder.finished;
    projectOf(finished);
    expect(finished).toMatchObject({ code: 141, stderr: '' });
  });

  it('reports a missing git', async () => {
    const finished = await runCoder({ environment: { PATH: temporaryFolder() } });
    expect(finished).toEqual({ code: 2, stdout: '', stderr: 'The demo requires git. Install git and try again.\n' });
  });

  it('stops with an error if the results differ from the script', async () => {
    const finished = await runCoder({ words: ['--toolset', 'read-only'] });
    projectOf(finished);
    expect(finished.code).toBe(1);
    expect(finished.stdout).toMatch(/^■ error · The scripted model has no answer/m);
  });

  it('uses colors only with FORCE_COLOR', async () => {
    const finished = await runCoder({ environment: { ...bareEnvironment(), FORCE_COLOR: '1' } });
    projectOf(finished);
    expect(finished.stdout).toContain('\u001B[32m✓\u001B[39m');
  });
});
