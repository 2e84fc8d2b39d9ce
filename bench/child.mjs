/**
 * Measures one loop in a separate process and prints the figures as JSON:
 * `node --expose-gc bench/child.mjs '{"module":"h","options":{},"measures":{"steps":[100]},"budgetMs":2000}'`.
 */
import { best, extraDeltas, startLoop } from './rounds.mjs';
import { deltasPerStep } from './workload.mjs';

const { module, options, measures, budgetMs } = JSON.parse(process.argv[2] ?? '{}');
const { loop, turnOf, turnsOf } = await startLoop({ module, options });
const budgetMicros = budgetMs * 1000;

const microsPerStep = async (steps, deltas) => {
  const turns = await turnsOf(steps, deltas);
  return (await best(turns.round, budgetMicros)) / turns.steps;
};

const perDelta = async () => {
  const many = await microsPerStep(10, deltasPerStep + extraDeltas);
  return (many - (await microsPerStep(10, deltasPerStep))) / extraDeltas;
};

const concurrentTurns = 1000;
/** Rounds of concurrent turns get more time: one of them takes as long as the budget of another figure. */
const concurrentBudgets = 3;
const concurrent = async () => {
  const turn = turnOf(10, deltasPerStep);
  const round = () => Promise.all(Array.from({ length: concurrentTurns }, turn));
  const seconds = (await best(round, concurrentBudgets * budgetMicros)) / 1e6;
  return { seconds, megabytes: process.resourceUsage().maxRSS / 1024 };
};

const parkedTurns = 2000;
const park = async (count) => {
  const turns = await Promise.all(Array.from({ length: count }, () => loop.park()));
  await new Promise((resolve) => setTimeout(resolve, 100));
  return turns;
};
const heap = () => {
  globalThis.gc();
  globalThis.gc();
  return process.memoryUsage().heapUsed;
};
const parked = async () => {
  const first = await park(100);
  const before = heap();
  const turns = await park(parkedTurns);
  const kilobytes = (heap() - before) / parkedTurns / 1024;
  if (first.length + turns.length !== 100 + parkedTurns) throw new Error('Turns got lost.');
  return kilobytes;
};

const figures = {};
if (measures.concurrent) Object.assign(figures, await concurrent());
for (const steps of measures.steps ?? []) figures[`steps${steps}`] = await microsPerStep(steps, deltasPerStep);
if (measures.delta) figures.delta = await perDelta();
if (measures.parked) figures.parked = await parked();
loop.close?.();
// Parked turns never end.
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
