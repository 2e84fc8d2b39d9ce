/**
 * What it costs to go through both lanes, next to p-queue: one queue for the cap alone, and the usual way to serialise
 * sessions with it, a queue for each session in front of one for all.
 *
 *   node bench/lanes.mjs        (after a build)
 */
import { createLanes } from '@h/queue';
import PQueue from 'p-queue';

const task = async () => undefined;
const count = 100_000;
const rounds = 3;

/** Tasks a second: by the clock, and by CPU time, which others on the machine cannot lengthen. */
const measure = async (work) => {
  const rates = [];
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.();
    const [cpu, start] = [process.cpuUsage(), performance.now()];
    await work();
    const { user, system } = process.cpuUsage(cpu);
    rates.push([count / ((performance.now() - start) / 1000), count / ((user + system) / 1e6)]);
  }
  return rates.toSorted((left, right) => right[1] - left[1])[0];
};

const sessionOf = (index, sessions) => `session-${index % sessions}`;

const throughLanes = (sessions, options) => async () => {
  const lanes = createLanes({ concurrency: 8, maxWaiting: Infinity, maxWaitingPerSession: Infinity, ...options });
  const all = [];
  for (let index = 0; index < count; index += 1) all.push(lanes.run(sessionOf(index, sessions), task));
  await Promise.all(all);
};

const throughOneQueue = async () => {
  const queue = new PQueue({ concurrency: 8 });
  const all = [];
  for (let index = 0; index < count; index += 1) all.push(queue.add(task));
  await Promise.all(all);
};

const throughTwoQueues = (sessions) => async () => {
  const global = new PQueue({ concurrency: 8 });
  const bySession = new Map();
  const all = [];
  for (let index = 0; index < count; index += 1) {
    const session = sessionOf(index, sessions);
    const queue = bySession.get(session) ?? new PQueue({ concurrency: 1 });
    bySession.set(session, queue);
    all.push(queue.add(() => global.add(task)));
  }
  await Promise.all(all);
};

const row = (name, ...cells) => console.log(name.padEnd(48), ...cells.map((cell) => String(cell).padStart(14)));
const rate = (value) => Math.round(value).toLocaleString('en');

row('', 'tasks/s', 'tasks/CPU s');
for (const [name, work] of [
  ['lanes, 1,000 sessions', throughLanes(1000)],
  ['lanes, 1 session', throughLanes(1)],
  ['lanes, 100,000 sessions', throughLanes(count)],
  ['p-queue, one queue, no sessions', throughOneQueue],
  ['p-queue for each of 1,000 sessions, and one for all', throughTwoQueues(1000)],
  ['p-queue for each of 100,000 sessions, and one', throughTwoQueues(count)],
]) {
  row(name, ...(await measure(work)).map(rate));
}

/** What is left of so many sessions that have been used once. */
const heap = async (work) => {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const kept = await work();
  globalThis.gc?.();
  return [(process.memoryUsage().heapUsed - before) / 1024, kept];
};
if (globalThis.gc) {
  const [idleKb] = await heap(async () => {
    const lanes = createLanes({ concurrency: 8, maxWaiting: Infinity });
    for (let index = 0; index < count; index += 1) await lanes.run(`session-${index}`, task);
    return lanes;
  });
  row('kB left by 100,000 idle sessions', Math.round(idleKb));
}

/** One more task where so many wait, in nanoseconds. */
for (const waiting of [100, 1000, 10_000, 100_000, 1_000_000]) {
  const lanes = createLanes({ concurrency: 1, maxWaiting: Infinity, groups: { tenant: { concurrency: 1 } } });
  const places = [];
  const nothing = { admitted: () => undefined, refused: () => undefined };
  for (let index = 0; index < waiting; index += 1) places.push(lanes.enter({ session: `s${index}`, groups: { tenant: `t${index % 5000}` } }, nothing));
  const more = Math.min(waiting, 20_000);
  const start = process.cpuUsage();
  for (let index = 0; index < more; index += 1) lanes.enter({ session: `more-${index}`, groups: { tenant: `t${index % 5000}` } }, nothing).release();
  const { user, system } = process.cpuUsage(start);
  row(`ns to come and go where ${rate(waiting)} wait`, Math.round(((user + system) * 1000) / more));
}
