/** Rounds of turns of one loop, and the CPU time they take. */
import { deltaAt, deltasPerStep } from './workload.mjs';

/** Deltas of a step on top of the usual ones, where the price of a delta is measured. */
export const extraDeltas = 500;

// A collection is forced only where memory is measured: it throws optimized code away and shrinks the young generation,
// which a process at work never sees. Collections within a round count, as do the threads that do them.
const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** Measures rounds until the budget of CPU time is spent, one at least, and returns the best: other work only adds. */
export const best = async (round, budgetMicros) => {
  let least = Infinity;
  let total = 0;
  do {
    const spent = await cpuMicros(round);
    least = Math.min(least, spent);
    total += spent;
  } while (total < budgetMicros);
  return least;
};

/** CPU time of a round, in microseconds: long beside the resolution of the clock, short beside any budget. */
const roundMicros = 50_000;

// The compiler works beside the loop: what is not optimized yet takes several times longer. A loop of much code needs more
// time than a loop of little, so each is warmed up until two blocks in succession are no faster: one alone may only be slow
// because the machine is busy.
const warmUpMicros = 2_000_000;
const maxWarmUps = 6;
const stillFaster = 0.97;

/** Loads the loop of a subject and warms it up. @param {import('./subjects.mjs').Subject} subject */
export const startLoop = async ({ module, options = {} }) => {
  const { create } = await import(`./loops/${module}.mjs`);
  const loop = await create(options);

  const expectedCharacters = (steps, deltas) => {
    let characters = 0;
    for (let step = 1; step <= steps; step += 1) {
      for (let index = 0; index < deltas; index += 1) characters += deltaAt(step, index).length;
    }
    return characters;
  };

  /** A turn that fails when text got lost: a loop that does less is not faster. */
  const turnOf = (steps, deltas) => {
    const expected = expectedCharacters(steps, deltas);
    return async () => {
      const received = await loop.run(steps, deltas);
      if (received !== expected) throw new Error(`${module}: received ${received} of ${expected} characters`);
    };
  };

  /** A round of turns one after the other, with the number of its steps. */
  const turnsOf = async (steps, deltas) => {
    const turn = turnOf(steps, deltas);
    const repeat = Math.ceil(roundMicros / (await cpuMicros(turn)));
    const round = async () => {
      for (let count = 0; count < repeat; count += 1) await turn();
    };
    return { round, steps: repeat * steps };
  };

  let least = Infinity;
  let noFaster = 0;
  for (let block = 0; block < maxWarmUps && noFaster < 2; block += 1) {
    const before = least;
    least = Math.min(least, await best(turnOf(20, deltasPerStep), warmUpMicros));
    noFaster = least > before * stillFaster ? noFaster + 1 : 0;
  }
  return { loop, turnOf, turnsOf };
};
