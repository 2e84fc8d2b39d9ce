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
const rounds = 5;

/** Tasks a second: by the clock, and by CPU time, which others on the machine cannot lengthen. */
const measure = async (work) => {
  const rates = [];
  for (let round = 0; round < rounds; round += 1) {
    const [cpu, start] = [process.cpuUsage(), performance.now()];
    await work();
    const { user, system } = process.cpuUsage(cpu);
    rates.push([count / ((performance.now() - start) / 1000), count / ((user + system) / 1e6)]);
  }
  return rates.toSorted((left, right) => right[1] - left[1])[0];
};

const sessionOf = (index, sessions) => `session-${index % sessions}`;

/** Runs tasks with limited concurrency until all are done. */
const inBatches = async (size, add) => {
  for (let done = 0; done < count; done += size) {
    await Promise.all(Array.from({ length: size }, (_, index) => add(done + index)));
  }
};

const throughLanes = (batch, sessions) => async () => {
  const lanes = createLanes({ concurrency: 8, maxWaiting: Infinity, maxWaitingPerSession: Infinity });
  await inBatches(batch, (index) => lanes.run(sessionOf(index, sessions), task));
  await lanes.shutdown();
};

const throughOneQueue = (batch) => () => {
  const queue = new PQueue({ concurrency: 8 });
  return inBatches(batch, () => queue.add(task));
};

const throughTwoQueues = (batch, sessions) => () => {
  const global = new PQueue({ concurrency: 8 });
  const bySession = new Map();
  return inBatches(batch, (index) => {
    const session = sessionOf(index, sessions);
    const queue = bySession.get(session) ?? new PQueue({ concurrency: 1 });
    bySession.set(session, queue);
    return queue.add(() => global.add(task));
  });
};

const row = (name, ...cells) => console.log(name.padEnd(60), ...cells.map((cell) => String(cell).padStart(12)));
const rate = (value) => Math.round(value).toLocaleString('en');

row('', 'tasks/s', 'tasks/CPU s');
for (const [name, work] of [
  ['lanes, one after the other', throughLanes(1, 1)],
  ['p-queue, one after the other, two queues', throughTwoQueues(1, 1)],
  ['lanes, 100 waiting, 20 sessions', throughLanes(100, 20)],
  ['p-queue, 100 waiting, one for each of 20 sessions and one', throughTwoQueues(100, 20)],
  ['p-queue, 100 waiting, no sessions', throughOneQueue(100)],
  ['lanes, 10,000 waiting, 1,000 sessions', throughLanes(10_000, 1000)],
  ['p-queue, 10,000 waiting, one for each of 1,000 and one', throughTwoQueues(10_000, 1000)],
  ['p-queue, 10,000 waiting, no sessions', throughOneQueue(10_000)],
]) {
  row(name, ...(await measure(work)).map(rate));
}

/** Memory that remains after N sessions were used once. */
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

/** Time of one more task while N wait, in nanoseconds. */
// The first is for the compiler.
for (const waiting of [20_000, 100, 1000, 10_000, 100_000]) {
  const lanes = createLanes({ concurrency: 1, maxWaiting: Infinity, groups: { tenant: { concurrency: 1 } } });
  const places = [];
  const nothing = { admitted: () => undefined, refused: () => undefined };
  for (let index = 0; index < waiting; index += 1) {
    places.push(lanes.enter({ session: `s${index}`, groups: { tenant: `t${index % 5000}` } }, nothing));
  }
  const more = 20_000;
  const start = process.cpuUsage();
  for (let index = 0; index < more; index += 1) {
    lanes.enter({ session: `more-${index}`, groups: { tenant: `t${index % 5000}` } }, nothing).release();
  }
  const { user, system } = process.cpuUsage(start);
  row(`ns to come and go where ${rate(waiting)} wait`, Math.round(((user + system) * 1000) / more));
  for (const place of places) place.release();
}
