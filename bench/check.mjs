/**
 * The short form for CI: fails when the loop, or the whole stack, costs 1.5 times more than recorded, as a ratio to the bare
 * loop in the same run. `npm run bench:check -- --record` records the ratios of this run, and
 * `npm run bench:check -- stack pi 'without loop-detect'` prints those of other subjects.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { extraDeltas } from './rounds.mjs';
import { operators, own, peers } from './subjects.mjs';
import { deltasPerStep } from './workload.mjs';

const recordedAt = new URL('recorded.json', import.meta.url);
const tolerance = 1.5;
/** Passes after which the ratios are looked at for the first time, and those of a record. */
const passes = { least: 20, record: 100 };
/** Ratios that are too high after the first passes are measured again for this long. */
const limitMs = 240_000;
/** What a round of each figure runs. */
const turnsOf = {
  steps10: { steps: 10, deltas: deltasPerStep },
  steps100: { steps: 100, deltas: deltasPerStep },
  moreDeltas: { steps: 10, deltas: deltasPerStep + extraDeltas },
};

// Neighbours on the same hardware halve the speed for seconds, and that of much code by more than that of little. So the loops
// take turns, round by round, each in a process of its own, and the least of each figure counts: other work only adds.
const startProcess = async ([name, subject]) => {
  // An idle process collects garbage, and V8 then discards code whose objects no longer exist: each round would compile.
  const execArgv = ['--no-memory-reducer'];
  const child = fork(fileURLToPath(new URL('check-child.mjs', import.meta.url)), [JSON.stringify(subject)], {
    execArgv,
  });
  child.on('exit', (code) => {
    if (code === 0) return;
    console.error(`The process of ${name} has failed.`);
    process.exit(1);
  });
  await once(child, 'message');
  const least = {};
  const measureRound = async (figure) => {
    child.send(turnsOf[figure]);
    const [micros] = await once(child, 'message');
    least[figure] = Math.min(least[figure] ?? Infinity, micros);
  };
  return { name, least, measureRound, stop: () => child.disconnect() };
};

const {
  values: { record: isRecord },
  positionals,
} = parseArgs({ options: { record: { type: 'boolean', default: false } }, allowPositionals: true });
const all = { ...own, ...peers, ...operators };
const unknown = positionals.filter((name) => !Object.hasOwn(all, name));
if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(all).join(', ')}`);
const names = new Set(['bare', ...(positionals.length > 0 ? positionals : ['turn', 'stack'])]);
const processes = [];
for (const name of names) processes.push(await startProcess([name, all[name]]));

const measurePass = async () => {
  for (const figure of Object.keys(turnsOf)) {
    for (const { measureRound } of processes) await measureRound(figure);
  }
};

/** The ratios to the bare loop so far. */
const ratios = () => {
  const [bareFigures, ...others] = processes.map(({ name, least: { steps10, steps100, moreDeltas } }) => ({
    name,
    figures: { steps10, steps100, delta: (moreDeltas - steps10) / extraDeltas },
  }));
  return Object.fromEntries(
    others.flatMap(({ name, figures }) =>
      Object.entries(figures).map(([figure, micros]) => [`${name}.${figure}`, micros / bareFigures.figures[figure]]),
    ),
  );
};

if (positionals.length > 0) {
  for (let pass = 0; pass < passes.record; pass += 1) await measurePass();
  for (const [key, ratio] of Object.entries(ratios())) {
    console.log(`${key.padEnd(32)} ${ratio.toFixed(2)} × the bare loop`);
  }
} else if (isRecord) {
  for (let pass = 0; pass < passes.record; pass += 1) await measurePass();
  const record = Object.fromEntries(Object.entries(ratios()).map(([key, value]) => [key, Number(value.toFixed(2))]));
  writeFileSync(recordedAt, `${JSON.stringify({ node: process.version, ratios: record }, undefined, 2)}\n`);
  console.log(record);
} else {
  const { ratios: recorded } = JSON.parse(readFileSync(recordedAt, 'utf8'));
  const tooSlow = () => Object.keys(recorded).filter((key) => !(ratios()[key] <= recorded[key] * tolerance));
  for (let pass = 0; pass < passes.least; pass += 1) await measurePass();
  const end = performance.now() + limitMs;
  while (tooSlow().length > 0 && performance.now() < end) await measurePass();

  const worse = tooSlow();
  for (const [key, limit] of Object.entries(recorded)) {
    const ratio = ratios()[key];
    const verdict = worse.includes(key) ? 'TOO SLOW' : ratio * tolerance < limit ? 'faster: record it' : 'ok';
    console.log(`${key.padEnd(15)} ${ratio?.toFixed(2).padStart(7)} × the bare loop, recorded ${limit}: ${verdict}`);
  }
  if (worse.length > 0) {
    console.error(`Find the cause with \`npm run bench\`, or record the new ratios: npm run bench:check -- --record`);
    process.exitCode = 1;
  }
}
for (const { stop } of processes) stop();
