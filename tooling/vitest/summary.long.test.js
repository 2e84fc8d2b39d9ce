import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';

const fixtures = fileURLToPath(new URL('fixtures', import.meta.url));
const summary = fileURLToPath(new URL('summary.js', import.meta.url));
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));

/** @type {(args: string[], environment?: Record<string, string>) => Promise<{ code: number, lines: string[] }>} */
const node = (args, environment = {}) =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: fixtures, env: { ...process.env, ...environment }, timeout: 25_000 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : 1, lines: `${stdout}${stderr}`.trimEnd().split('\n') }),
    );
  });

/**
 * Runs the fixture with a given outcome, with or without the retry of CI, and returns the summary.
 *
 * @type {(outcome: string, ci?: boolean) => Promise<{ code: number, lines: string[] }>}
 */
const summaryOf = async (outcome, ci = true) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-summary-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'summary.json');
  await node([vitest, 'run', '--root', fixtures], { H_SUMMARY: file, H_OUTCOME: outcome, CI: ci ? 'true' : '' });
  return node([summary, file]);
};

const skipped = ['Skipped tests:', '- outcomes.fixture.js > a suite > needs a component: bubblewrap is not installed'];
const steady = [...skipped, 'Flaky tests: none'];

describe('the summary of a test run', () => {
  it('lists skipped tests with their reasons and ends with the counts', async () => {
    expect(await summaryOf('passed')).toEqual({
      code: 0,
      lines: [...steady, '1 passed, 0 failed, 1 skipped, 0 flaky'],
    });
  });

  it('fails if a test fails in both attempts', async () => {
    expect(await summaryOf('failed')).toEqual({
      code: 1,
      lines: [
        ...steady,
        'Failed tests:',
        '- outcomes.fixture.js > a suite > fails: expected 1 to be 2 // Object.is equality',
        '1 passed, 1 failed, 1 skipped, 0 flaky',
      ],
    });
  });

  it('lists flaky tests with their first error, and passes', async () => {
    const error = 'expected 1 to be 2 // Object.is equality';
    expect(await summaryOf('flaky')).toEqual({
      code: 0,
      lines: [
        ...skipped,
        'Flaky tests:',
        `- outcomes.fixture.js > a suite > passes at the second attempt: passed at the second attempt; ${error}`,
        '2 passed, 0 failed, 1 skipped, 1 flaky',
      ],
    });
  });

  it('fails at the first failure outside of CI', async () => {
    expect(await summaryOf('flaky', false)).toEqual({
      code: 1,
      lines: [
        ...steady,
        'Failed tests:',
        '- outcomes.fixture.js > a suite > passes at the second attempt: expected 1 to be 2 // Object.is equality',
        '1 passed, 1 failed, 1 skipped, 0 flaky',
      ],
    });
  });

  it('fails if a test was skipped without a reason', async () => {
    const { code, lines } = await summaryOf('silent');
    expect(code).toBe(1);
    expect(lines).toContain('- outcomes.fixture.js > a suite > is silent: NO REASON GIVEN');
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 2 skipped, 0 flaky');
  });

  it.each([
    ['broken', 'outcomes.fixture.js: This file cannot be loaded.'],
    ['setup', 'outcomes.fixture.js: The setup failed.'],
    ['unhandled', 'outcomes.fixture.js: Lost. (at outcomes.fixture.js:10'],
  ])('fails if an error occurs outside of tests (%s)', async (outcome, error) => {
    const { code, lines } = await summaryOf(outcome);
    expect(code).toBe(1);
    expect(lines.join('\n')).toContain(`\n- ${error}`);
  });

  it('fails if the tests did not run', async () => {
    expect(await node([summary, 'missing.json'])).toEqual({ code: 1, lines: ['The tests did not run.'] });
  });
});
