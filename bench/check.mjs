/**
 * The short form for CI: fails when the loop, or the whole stack, costs 1.5 times more than recorded, as a ratio to the bare
 * loop in the same run. `npm run bench:check -- --record` records the ratios of this run.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { measure } from './measure.mjs';
import { own } from './subjects.mjs';

const recordedAt = new URL('recorded.json', import.meta.url);
const tolerance = 1.5;
/** A ratio that is too high is measured again, for a busy machine can spoil one attempt. */
const attempts = 3;

const { bare, turn, stack } = own;

const measureRatios = async (effort) => {
  const figures = await measure({ bare, turn, stack }, [{ steps: [10, 100], delta: true }], effort);
  return Object.fromEntries(
    ['turn', 'stack'].flatMap((name) =>
      Object.entries(figures[name]).map(([key, value]) => [`${name}.${key}`, value / figures.bare[key]]),
    ),
  );
};

const round = (value) => Number(value.toFixed(2));

if (process.argv.includes('--record')) {
  const ratios = await measureRatios({ rounds: 3, budgetMs: 1000 });
  const record = Object.fromEntries(Object.entries(ratios).map(([key, value]) => [key, round(value)]));
  writeFileSync(recordedAt, `${JSON.stringify({ node: process.version, ratios: record }, undefined, 2)}\n`);
  console.log(record);
} else {
  const { ratios: recorded } = JSON.parse(readFileSync(recordedAt, 'utf8'));
  const least = {};
  let worse = [];
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    for (const [key, value] of Object.entries(await measureRatios({ rounds: 2, budgetMs: 500 }))) {
      least[key] = Math.min(least[key] ?? Infinity, value);
    }
    worse = Object.keys(recorded).filter((key) => !(least[key] <= recorded[key] * tolerance));
    if (worse.length === 0) break;
  }
  for (const [key, limit] of Object.entries(recorded)) {
    const verdict = worse.includes(key) ? 'TOO SLOW' : least[key] * tolerance < limit ? 'faster: record it' : 'ok';
    console.log(
      `${key.padEnd(15)} ${least[key]?.toFixed(2).padStart(7)} × the bare loop, recorded ${limit}: ${verdict}`,
    );
  }
  if (worse.length > 0) {
    console.error(`Find the cause with \`npm run bench\`, or record the new ratios: npm run bench:check -- --record`);
    process.exitCode = 1;
  }
}
