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

/** Runs the fixture with an outcome of its choice and prints the summary. @type {(outcome: string) => Promise<{ code: number, lines: string[] }>} */
const summaryOf = async (outcome) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-summary-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'summary.json');
  await node([vitest, 'run', '--root', fixtures], { H_SUMMARY: file, H_OUTCOME: outcome });
  return node([summary, file]);
};

const skipped = ['Skipped tests:', '- outcomes.fixture.js > a suite > needs a component: bubblewrap is not installed'];

describe('the summary of a test run', () => {
  it('says which tests were skipped and why, and counts last', async () => {
    expect(await summaryOf('passed')).toEqual({ code: 0, lines: [...skipped, '1 passed, 0 failed, 1 skipped'] });
  });

  it('fails when a test failed', async () => {
    expect(await summaryOf('failed')).toEqual({ code: 1, lines: [...skipped, '1 passed, 1 failed, 1 skipped'] });
  });

  it('fails when a test was skipped without a reason', async () => {
    const { code, lines } = await summaryOf('silent');
    expect(code).toBe(1);
    expect(lines).toContain('- outcomes.fixture.js > a suite > is silent: NO REASON GIVEN');
    expect(lines.at(-1)).toBe('1 passed, 0 failed, 2 skipped');
  });

  it('fails when a file could not be loaded', async () => {
    const { code, lines } = await summaryOf('broken');
    expect(code).toBe(1);
    expect(lines).toContain('Errors outside of tests: 1');
  });

  it('fails when the tests did not run', async () => {
    expect(await node([summary, 'missing.json'])).toEqual({ code: 1, lines: ['The unit tests did not run.'] });
  });
});
