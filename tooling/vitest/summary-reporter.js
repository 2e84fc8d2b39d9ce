import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/**
 * @typedef {{ file: string, name: string, reason: string | undefined }} Skipped
 * @typedef {{ passed: number, failed: number, skipped: Skipped[], errors: number }} Summary
 */

/** Writes how many tests passed, failed and were skipped, and why they were skipped, for `summary.js` to print. */
export class SummaryReporter {
  /** @param {string} path Where the summary goes. */
  constructor(path) {
    this.path = path;
  }

  /**
   * @param {readonly import('vitest/node').TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    /** @type {Summary} */
    const summary = { passed: 0, failed: 0, skipped: [], errors: unhandledErrors.length };
    for (const module of modules) {
      // A file that could not be loaded has errors and no tests.
      summary.errors += module.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') summary.passed += 1;
        else if (result.state === 'failed') summary.failed += 1;
        else {
          const note = result.state === 'skipped' ? result.note : undefined;
          summary.skipped.push({ file: relative(process.cwd(), module.moduleId), name: test.fullName, reason: note });
        }
      }
    }
    mkdirSync(dirname(this.path), { recursive: true });
    writeFileSync(this.path, JSON.stringify(summary, undefined, 2));
  }
}
