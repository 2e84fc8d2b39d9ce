/**
 * The short form for CI: fails when the loop, or the whole stack, costs 1.5 times more than recorded, as a ratio to the bare
 * loop in the same run. `npm run bench:check -- --record` records the ratios of this run.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { measure } from './measure.mjs';
import { own } from './subjects.mjs';

const recordedAt = new URL('recorded.json', import.meta.url);
const tolerance = 1.5;
/** A ratio that is too high is measured again, each time twice as long: a busy machine spoils short measurements. */
const attempts = 3;
const firstBudgetMs = 500;

const { bare, turn, stack } = own;

/** Ratios to the bare loop. Other work on the machine only adds time, so the least of each figure counts. */
const ratiosOf = (figures) =>
  Object.fromEntries(
    ['turn', 'stack'].flatMap((name) =>
      Object.entries(figures[name]).map(([key, value]) => [`${name}.${key}`, value / figures.bare[key]]),
    ),
  );

const measureLoops = (effort) => measure({ bare, turn, stack }, [{ steps: [10, 100], delta: true }], effort);

const round = (value) => Number(value.toFixed(2));

if (process.argv.includes('--record')) {
  const ratios = ratiosOf(await measureLoops({ rounds: 3, budgetMs: 1000 }));
  const record = Object.fromEntries(Object.entries(ratios).map(([key, value]) => [key, round(value)]));
  writeFileSync(recordedAt, `${JSON.stringify({ node: process.version, ratios: record }, undefined, 2)}\n`);
  console.log(record);
} else {
  const { ratios: recorded } = JSON.parse(readFileSync(recordedAt, 'utf8'));
  const least = { bare: {}, turn: {}, stack: {} };
  let ratios = {};
  let worse = [];
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const figures = await measureLoops({ rounds: 2, budgetMs: firstBudgetMs * 2 ** attempt });
    for (const [name, values] of Object.entries(figures)) {
      for (const [key, value] of Object.entries(values)) {
        least[name][key] = Math.min(least[name][key] ?? Infinity, value);
      }
    }
    ratios = ratiosOf(least);
    worse = Object.keys(recorded).filter((key) => !(ratios[key] <= recorded[key] * tolerance));
    if (worse.length === 0) break;
  }
  for (const [key, limit] of Object.entries(recorded)) {
    const verdict = worse.includes(key) ? 'TOO SLOW' : ratios[key] * tolerance < limit ? 'faster: record it' : 'ok';
    console.log(
      `${key.padEnd(15)} ${ratios[key]?.toFixed(2).padStart(7)} × the bare loop, recorded ${limit}: ${verdict}`,
    );
  }
  if (worse.length > 0) {
    console.error(`Find the cause with \`npm run bench\`, or record the new ratios: npm run bench:check -- --record`);
    process.exitCode = 1;
  }
}
