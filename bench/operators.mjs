/** `npm run bench`: prints what each operator adds to the loop alone, and what the stack costs without it. */
import { parseArgs } from 'node:util';
import { measure } from './measure.mjs';
import { markdownTable } from './report.mjs';
import { operatorNames } from './operator-names.mjs';
import { operators, own } from './subjects.mjs';

const {
  values: { rounds },
} = parseArgs({ options: { rounds: { type: 'string', default: '2' } } });
const { turn, stack } = own;
const figures = await measure({ turn, stack, ...operators }, [{ steps: [10, 100], delta: true, parked: true }], {
  rounds: Number(rounds),
  budgetMs: 600,
});

const difference = (name, base) => (key, digits) => {
  const value = figures[name][key] - figures[base][key];
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(digits)}`;
};
const total = (name) => (key, digits) => figures[name][key].toFixed(digits);
const columns = (title, cell) => [title, cell('steps10', 1), cell('steps100', 1), cell('delta', 2), cell('parked', 1)];

console.log(
  `Node ${process.version}. CPU time of one process, the least of several rounds. In turns of 10 and 100 steps.\n`,
);
const header = ['', 'µs/step @10', '@100', 'µs/delta', 'parked KB/turn'];
console.log(
  markdownTable(header, [
    columns('no operator', total('turn')),
    ...operatorNames.map((name) => columns(`adds alone: ${name}`, difference(`only ${name}`, 'turn'))),
    columns('all ten', total('stack')),
    ...operatorNames.map((name) => columns(`all but ${name}`, total(`without ${name}`))),
  ]),
);
