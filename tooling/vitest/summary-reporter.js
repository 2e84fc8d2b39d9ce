import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {{ file: string, name: string, reason: string | undefined }} Skipped
 * @typedef {{ file: string, name: string, error: string }} Flaky The first error of a test that passed at a later
 * attempt.
 * @typedef {{ file: string, name: string, error: string }} Failed
 * @typedef {{ passed: number, failed: Failed[], skipped: Skipped[], flaky: Flaky[], errors: string[] }} Summary
 * `errors` are those outside of tests.
 */

/**
 * An error in one line of at most 500 characters.
 *
 * @type {(error: { readonly message?: string } | undefined) => string}
 */
const lineOf = (error) =>
  stripVTControlCharacters(error?.message ?? 'no error was recorded')
    .replaceAll(/\s+/g, ' ')
    .slice(0, 500);

/** What the first attempt threw. @type {(test: import('vitest/node').TestCase) => string} */
const firstError = (test) => lineOf(test.result().errors?.[0]);

/**
 * An error outside of tests, with the place where it was thrown.
 *
 * @type {(error: import('vitest').SerializedError) => string}
 */
const outsideOfTests = (error) => {
  const place = error.stack?.split('\n').find((line) => line.includes(process.cwd()) && !line.includes('node_modules'));
  const where = place === undefined ? '' : ` (${place.trim().replace('file://', '').replace(`${process.cwd()}/`, '')})`;
  const during =
    typeof error['VITEST_TEST_PATH'] === 'string' ? `${relative(process.cwd(), error['VITEST_TEST_PATH'])}: ` : '';
  return `${during}${lineOf(error)}${where}`;
};

/** Writes the counts of a test run, its skipped tests with reasons and its flaky tests to a file for `summary.js`. */
export class SummaryReporter {
  /** @param {string} path The file to write. */
  constructor(path) {
    this.path = path;
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly import('vitest').SerializedError[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Summary} */
    const summary = { passed: 0, failed: [], skipped: [], flaky: [], errors: unhandledErrors.map(outsideOfTests) };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      // A file that fails to load has errors but no tests; a suite with a failing `beforeAll` skips its tests.
      for (const each of [module, ...module.children.allSuites()]) {
        summary.errors.push(...each.errors().map((error) => `${file}: ${lineOf(error)}`));
      }
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') summary.failed.push({ file, name: test.fullName, error: firstError(test) });
        else {
          const note = result.state === 'skipped' ? result.note : undefined;
          summary.skipped.push({ file, name: test.fullName, reason: note });
        }
        if (test.diagnostic()?.flaky) summary.flaky.push({ file, name: test.fullName, error: firstError(test) });
      }
    }
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(this.path, JSON.stringify(summary, undefined, 2));
  }
}
