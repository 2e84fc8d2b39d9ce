/**
 * `npm run bench:peers`: measures the loop, the stack and the loops of other libraries with the same work, prints a table and
 * draws `docs/benchmark.svg`. Names as arguments measure only these: `npm run bench:peers -- --rounds=1 bare stack pi`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { measure } from './measure.mjs';
import { barChart, markdownTable } from './report.mjs';
import { own, peers } from './subjects.mjs';

const all = { ...own, ...peers };
const {
  values: { rounds },
  positionals: names,
} = parseArgs({ options: { rounds: { type: 'string', default: '2' } }, allowPositionals: true });
const unknown = names.filter((name) => !Object.hasOwn(all, name));
if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. Known: ${Object.keys(all).join(', ')}`);
const chosen = Object.fromEntries(Object.entries(all).filter(([name]) => names.length === 0 || names.includes(name)));

const root = new URL('..', import.meta.url);
mkdirSync(new URL('.cache/', root), { recursive: true });
/** Figures so far: a run takes many minutes, and an interrupted one leaves what it has measured. */
const onFigures = (least) => writeFileSync(new URL('.cache/bench.json', root), JSON.stringify(least, undefined, 2));
const sets = [{ steps: [10, 100, 1000], delta: true }, { concurrent: true }, { parked: true }];
const figures = await measure(chosen, sets, { rounds: Number(rounds), budgetMs: 1000, onFigures });

const amount = (value) =>
  value === undefined ? '–' : value >= 10 ? Math.round(value).toLocaleString('en') : value.toPrecision(2);
const [processor] = cpus();
console.log(`Node ${process.version}, ${processor?.model ?? 'unknown processor'}, ${cpus().length} cores.\n`);
const header = ['', 'µs/step @10', '@100', '@1,000', 'µs/delta', '1,000 × 10 steps', 'parked KB/turn'];
console.log(
  markdownTable(
    header,
    Object.entries(chosen).map(([name, { title }]) => {
      const { steps10, steps100, steps1000, delta, seconds, megabytes, parked } = figures[name];
      const together = `${amount(seconds)} s, ${amount(megabytes)} MB`;
      return [title, amount(steps10), amount(steps100), amount(steps1000), amount(delta), together, amount(parked)];
    }),
  ),
);
console.log(
  '\nCPU time of one process, the least of several rounds: another process on the machine can only add to it.',
);

if (names.length === 0) {
  const measured = Object.entries(chosen).filter(([name]) => figures[name].steps100 !== undefined);
  const bars = measured.map(([name, { title }]) => ({
    label: title,
    value: figures[name].steps100,
    isOwn: Object.hasOwn(own, name),
  }));
  writeFileSync(
    new URL('docs/benchmark.svg', root),
    barChart('CPU time of a step in a turn of 100 steps, µs (log)', bars),
  );
}
