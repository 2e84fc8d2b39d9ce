import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {{ file: string, name: string, reason: string | undefined }} Skipped
 * @typedef {{ file: string, name: string, error: string }} Flaky The first error of a test that passed at a later
 * attempt.
 * @typedef {{ passed: number, failed: number, skipped: Skipped[], flaky: Flaky[], errors: number }} Summary
 */

/** The first line of what the first attempt threw. @type {(test: import('vitest/node').TestCase) => string} */
const firstError = (test) =>
  stripVTControlCharacters(test.result().errors?.[0]?.message ?? 'no error was recorded').split('\n', 1)[0] ?? '';

/** Writes the counts of a test run, its skipped tests with reasons and its flaky tests to a file for `summary.js`. */
export class SummaryReporter {
  /** @param {string} path The file to write. */
  constructor(path) {
    this.path = path;
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Summary} */
    const summary = { passed: 0, failed: 0, skipped: [], flaky: [], errors: unhandledErrors.length };
    for (const module of modules) {
      const file = relative(process.cwd(), module.moduleId);
      // A file that fails to load has errors but no tests; a suite with a failing `beforeAll` skips its tests.
      summary.errors += module.errors().length;
      for (const suite of module.children.allSuites()) summary.errors += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') summary.failed += 1;
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
