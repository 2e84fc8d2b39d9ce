/**
 * Measures one loop in a separate process and prints the figures as JSON:
 * `node --expose-gc bench/child.mjs '{"module":"h","options":{},"measures":{"steps":[100]},"budgetMs":2000}'`.
 */
import { deltaAt, deltasPerStep } from './workload.mjs';

const { module, options, measures, budgetMs } = JSON.parse(process.argv[2] ?? '{}');
const { create } = await import(`./loops/${module}.mjs`);
const loop = await create(options);

// A collection is forced only where memory is measured: it throws optimized code away and shrinks the young generation,
// which a process at work never sees. Collections within a round count, as do the threads that do them.
const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** Measures rounds until the budget of CPU time is spent, one at least, and returns the best: other work only adds. */
const best = async (round, budget = budgetMs * 1000) => {
  let least = Infinity;
  let total = 0;
  do {
    const spent = await cpuMicros(round);
    least = Math.min(least, spent);
    total += spent;
  } while (total < budget);
  return least;
};

const expectedCharacters = (steps, deltas) => {
  let characters = 0;
  for (let step = 1; step <= steps; step += 1) {
    for (let index = 0; index < deltas; index += 1) characters += deltaAt(step, index).length;
  }
  return characters;
};

/** Runs one turn and fails when text got lost: a loop that does less is not faster. */
const runTurn = async (steps, deltas, expected) => {
  const received = await loop.run(steps, deltas);
  if (received !== expected) throw new Error(`${module}: received ${received} of ${expected} characters`);
};

/** CPU time of a round, in microseconds: long beside the resolution of the clock, short beside the budget. */
const roundMicros = 50_000;

/** A round of turns one after the other. */
const turnsOf = async (steps, deltas) => {
  const expected = expectedCharacters(steps, deltas);
  const first = await cpuMicros(() => runTurn(steps, deltas, expected));
  const repeat = Math.ceil(roundMicros / first);
  const round = async () => {
    for (let turn = 0; turn < repeat; turn += 1) await runTurn(steps, deltas, expected);
  };
  return { round, steps: repeat * steps };
};

const perStep = async (steps) => {
  const turns = await turnsOf(steps, deltasPerStep);
  return (await best(turns.round)) / turns.steps;
};

const extraDeltas = 500;
const perDelta = async () => {
  const many = await turnsOf(10, deltasPerStep + extraDeltas);
  const few = await turnsOf(10, deltasPerStep);
  const difference = (await best(many.round)) / many.steps - (await best(few.round)) / few.steps;
  return difference / extraDeltas;
};

const concurrentTurns = 1000;
/** Rounds of concurrent turns get more time: one of them takes as long as the budget of another figure. */
const concurrentBudgets = 3;
const concurrent = async () => {
  const expected = expectedCharacters(10, deltasPerStep);
  const round = () => Promise.all(Array.from({ length: concurrentTurns }, () => runTurn(10, deltasPerStep, expected)));
  const seconds = (await best(round, concurrentBudgets * budgetMs * 1000)) / 1e6;
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

// The compiler works beside the loop: what is not optimized yet takes several times longer. A loop of much code needs more
// time than a loop of little, so each is warmed up until it gets no faster.
const warmUp = async () => {
  const round = () => runTurn(20, deltasPerStep, expectedCharacters(20, deltasPerStep));
  let least = Infinity;
  for (let block = 0; block < maxWarmUps; block += 1) {
    const before = least;
    least = Math.min(least, await best(round, warmUpMicros));
    if (least > before * stillFaster) return;
  }
};
const warmUpMicros = 2_000_000;
const maxWarmUps = 5;
const stillFaster = 0.97;
await warmUp();
const figures = {};
if (measures.concurrent) Object.assign(figures, await concurrent());
for (const steps of measures.steps ?? []) figures[`steps${steps}`] = await perStep(steps);
if (measures.delta) figures.delta = await perDelta();
if (measures.parked) figures.parked = await parked();
loop.close?.();
// Parked turns never end.
process.stdout.write(JSON.stringify(figures), () => process.exit(0));
