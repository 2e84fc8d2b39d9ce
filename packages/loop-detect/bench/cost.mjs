/**
 * Measures loop detection, compared with a naive detector that stores everything and compares `JSON.stringify`.
 *
 *   node bench/cost.mjs        (after a build)
 */
import { Subject } from 'rxjs';
import { createChantingDetector, createLoopDetector, loopDetect } from '@h/loop-detect';

/** Counts the occurrences of a call and its outcome in the history. */
const naiveDetector = (threshold = 3) => {
  const history = [];
  const count = (call) => {
    const asked = JSON.stringify([call.name, call.input]);
    return history.filter((past) => JSON.stringify([past.call.name, past.call.input]) === asked).length;
  };
  return {
    /** Stores a call without comparing it, because filling the history with comparisons would take minutes. */
    fill: (call, outcome) => history.push({ call, outcome }),
    before: (call) => count(call) >= threshold,
    after: (call, outcome) => {
      history.push({ call, outcome });
      const told = JSON.stringify([call.name, call.input, outcome]);
      return (
        history.filter((past) => JSON.stringify([past.call.name, past.call.input, past.outcome]) === told).length >=
        threshold
      );
    },
  };
};

/** Searches the whole text for its last fifty characters. */
const naiveChanting = (repeats = 10) => {
  let said = '';
  return {
    add: (text) => {
      said += text;
      return said.length >= 50 && said.split(said.slice(-50)).length > repeats;
    },
  };
};

const outputOf = (index, size) =>
  `${index} passed\n${'at Object.<anonymous> (test/cart.test.ts:12:34) in 12ms\n'.repeat(Math.ceil(size / 57))}`.slice(
    0,
    size,
  );
const callOf = (index) => ({
  id: String(index),
  name: index % 3 === 0 ? 'bash' : 'read',
  input: { command: `npx vitest run test/file-${index % 40}.test.ts`, path: `src/file-${index}.ts` },
});

/** Returns the CPU time per run, in microseconds. */
const time = (runs, work) => {
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run += 1) work(run);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
};
const fast = (value) => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const row = (what, ours, theirs) =>
  console.log(
    `${what.padEnd(58)}${`${fast(ours)} µs`.padStart(12)}${(theirs === undefined ? '' : `${fast(theirs)} µs`).padStart(14)}`,
  );

const perCall = (make, steps, size, runs) => {
  const detector = make();
  const fill = detector.fill ?? detector.record ?? detector.after;
  for (let index = 0; index < steps; index += 1) {
    fill(callOf(index), { status: 'ok', output: outputOf(index, steps > 100 ? 200 : size) });
  }
  const calls = Array.from({ length: runs }, (_, run) => [
    callOf(steps + run),
    { status: 'ok', output: outputOf(steps + run, size) },
  ]);
  return time(runs, (run) => {
    const [call, outcome] = calls[run];
    (detector.judge ?? detector.before)(call);
    (detector.record ?? detector.after)(call, outcome);
  });
};

const sentence = (index) => `Next I look at module ${index * 7919} because test ${index} says so. `;
const perDelta = (make, chars, runs) => {
  const detector = make();
  const text = Array.from({ length: (chars + runs * 20) / 50 + 2 }, (_, index) => sentence(index)).join('');
  for (let at = 0; at < chars; at += 20) detector.add(text.slice(at, at + 20));
  const pieces = Array.from({ length: runs }, (_, run) => text.slice(chars + run * 20, chars + run * 20 + 20));
  return time(runs, (run) => detector.add(pieces[run]));
};

const perResult = (operators, steps, runs) => {
  const source = new Subject();
  const subscription = source.pipe(...operators).subscribe();
  const event = (index) => ({
    type: 'tool.result',
    turn: 't',
    at: index,
    step: index,
    call: callOf(index),
    status: 'ok',
    output: { type: 'text', value: outputOf(index, 200) },
  });
  for (let index = 0; index < steps; index += 1) source.next(event(index));
  const events = Array.from({ length: runs }, (_, run) => event(steps + run));
  const took = time(runs, (run) => source.next(events[run]));
  subscription.unsubscribe();
  return took;
};

perCall(createLoopDetector, 1_000, 2_000, 2_000);
perDelta(createChantingDetector, 10_000, 10_000);
console.log(`Node ${process.version}, microseconds of CPU`);
console.log(`${''.padEnd(58)}${'@h/loop-detect'.padStart(12)}${'naive'.padStart(12)}`);
for (const size of [200, 2_000, 16_000]) {
  for (const steps of [10, 10_000]) {
    const runs = size > 2_000 ? 200 : 2_000;
    row(
      `before + after, output of ${size} characters, step ${steps}`,
      perCall(createLoopDetector, steps, size, runs),
      perCall(naiveDetector, steps, size, steps > 100 ? 5 : 20),
    );
  }
}
for (const steps of [10, 10_000]) {
  row(`tool.result through loopDetect(), 200 characters, step ${steps}`, perResult([loopDetect()], steps, 2_000));
}
for (const chars of [500, 50_000]) {
  row(
    `delta of 20 characters, after ${chars}`,
    perDelta(createChantingDetector, chars, 20_000),
    perDelta(naiveChanting, chars, chars > 1_000 ? 200 : 20),
  );
}
