/** Runs loops in separate processes, in alternating rounds, and keeps the best of each figure. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const child = fileURLToPath(new URL('child.mjs', import.meta.url));
/** Time limit of one set of figures, in milliseconds. */
const timeoutMs = 900_000;

const run = async ({ module, options }, measures, budgetMs) => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--max-old-space-size=8192', child, JSON.stringify({ module, options, measures, budgetMs })],
    { timeout: timeoutMs, killSignal: 'SIGKILL' },
  );
  return JSON.parse(stdout);
};

/**
 * Measures each subject in each round.
 *
 * @param {Record<string, import('./subjects.mjs').Subject>} subjects
 * @param {readonly object[]} sets What to measure; each set runs in a separate process.
 * @param {{ rounds: number, budgetMs: number, onFigures?: (least: object) => void }} effort `onFigures` receives all figures so far.
 * @returns {Promise<Record<string, Record<string, number>>>} The least of each figure, by subject.
 */
export const measure = async (subjects, sets, { rounds, budgetMs, onFigures }) => {
  const least = Object.fromEntries(Object.keys(subjects).map((name) => [name, {}]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const [name, subject] of Object.entries(subjects)) {
      process.stderr.write(`\r\u001B[Kround ${round} of ${rounds}: ${name}`);
      for (const set of sets) {
        const figures = await run(subject, set, budgetMs).catch((error) => {
          process.exitCode = 1;
          process.stderr.write(
            `\r\u001B[K${name}: ${error.killed ? `no result after ${timeoutMs} ms` : error.message}\n`,
          );
          return {};
        });
        for (const [key, value] of Object.entries(figures)) {
          least[name][key] = Math.min(least[name][key] ?? Infinity, value);
        }
        onFigures?.(least);
      }
    }
  }
  process.stderr.write('\r\u001B[K');
  return least;
};
