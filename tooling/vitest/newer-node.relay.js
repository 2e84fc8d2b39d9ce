/**
 * Runs the tests of the current project in a newer Node and reports each result under its own name, file by file. If no
 * newer Node can be installed, one test is skipped with the reason.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'vitest';
import { newerNode } from './newer-node.js';

/**
 * @typedef {{ ancestorTitles: string[], title: string, status: string, failureMessages: string[] }} Result
 * @typedef {{ testResults: { name: string, message: string, assertionResults: Result[] }[] }} Report
 */

/** Longest run of the tests of a package. */
const timeout = process.env['TEST_LONG'] === '1' ? 1_800_000 : 300_000;
const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url));
const root = process.env['H_RELAYED'] ?? '';

/**
 * Returns the report of the tests, or throws with the output of a run that wrote none.
 *
 * @type {(node: string) => Promise<Report>}
 */
const runIn = async (node) => {
  const folder = await mkdtemp(join(tmpdir(), 'h-newer-node-'));
  const file = join(folder, 'report.json');
  const { VITEST: _, NODE_OPTIONS: __, ...env } = process.env;
  try {
    const output = await new Promise((resolve) => {
      const options = ['run', '--root', root, '--reporter=json', `--outputFile=${file}`, '--passWithNoTests'];
      execFile(node, [vitest, ...options], { cwd: root, env, timeout }, (_error, stdout, stderr) =>
        resolve(`${stdout}${stderr}`),
      );
    });
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Error(`The tests did not run in ${node}:\n${output}`);
    });
    return JSON.parse(text);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/** @type {(result: Result) => void} */
const report = ({ ancestorTitles, title, status, failureMessages }) => {
  it([...ancestorTitles, title].join(' > '), (context) => {
    context.skip(status !== 'passed' && status !== 'failed', 'The test was skipped in the newer Node.');
    if (status === 'failed') throw new Error(failureMessages.join('\n'));
  });
};

const node = await newerNode().catch((/** @type {unknown} */ error) => ({ reason: String(error) }));

if (typeof node !== 'string') {
  it('runs the tests in a newer Node', (context) => context.skip(node.reason));
} else {
  const { testResults } = await runIn(node);
  it('runs the tests in a newer Node', () => undefined);
  for (const { name, message, assertionResults } of testResults) {
    describe(relative(root, name), () => {
      for (const result of assertionResults) report(result);
      if (assertionResults.length > 0) return;
      it('loads', () => {
        throw new Error(message);
      });
    });
  }
}
