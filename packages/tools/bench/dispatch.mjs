/**
 * Measures the overhead of a call from the driver to the shaped result: validation, waves, deadline, outcome, tools(). It
 * is compared with a naive loop that parses and awaits. The time of zod itself is subtracted.
 *
 *   node --expose-gc bench/dispatch.mjs        (after a build)
 */
import { Subject } from 'rxjs';
import * as z from 'zod';
import { defineTool, toolDriver, tools } from '@h/tools';

const input = z.object({ path: z.string(), limit: z.number().optional() });
const given = { path: '/a/b.txt', limit: 10 };
const signal = new AbortController().signal;
const context = { turn: 't', session: 's', step: 1, signal, skipSignal: signal };
const rounds = 9;

const noop = (isAsync) =>
  defineTool({
    name: 'noop',
    description: 'Does nothing.',
    input,
    effect: 'read-only',
    resources: ({ path }) => [`file:${path}`],
    run: isAsync ? async () => 'done' : () => 'done',
  });

const callsOf = (count) =>
  Array.from({ length: count }, (_, index) => ({ id: `call-${index}`, name: 'noop', input: given }));

const usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };
const answerTo = (calls) => {
  const content = calls.map(({ id }) => ({ type: 'tool-call', toolCallId: id, toolName: 'noop', input: given }));
  return { type: 'model.response', turn: 't', at: 0, step: 1, attempt: 1, content, finishReason: 'tool-calls', usage };
};

/** Returns the results of one step after the driver and the operator. */
const dispatcher = (isAsync) => {
  const driver = toolDriver([noop(isAsync)]);
  const events = new Subject();
  let shaped = 0;
  events.pipe(tools({ driver })).subscribe(() => (shaped += 1));
  events.next({ type: 'turn.start', turn: 't', at: 0, session: 's', input: [], trigger: 'user' });
  return (calls) =>
    new Promise((resolve) => {
      events.next(answerTo(calls));
      const before = shaped;
      driver.run(calls, context).subscribe({
        next: ({ outcome }) =>
          events.next({ type: 'tool.result', turn: 't', at: 0, step: 1, call: calls[0], ...outcome }),
        complete: () => resolve(shaped - before),
      });
    });
};

const naive = async (calls) => {
  let count = 0;
  for (const call of calls) {
    const { success, data } = input.safeParse(call.input);
    const run = async () => (success ? 'done' : 'bad');
    const text = await run(data);
    if (text.length < 16_000) count += 1;
  }
  return count;
};

const zodAlone = async (calls) => {
  let count = 0;
  for (const call of calls) if (input.safeParse(call.input).success) count += 1;
  return count;
};

/** Returns the CPU time per call in microseconds, from the fastest of several rounds. */
const perCall = async (run, count) => {
  const calls = callsOf(count);
  const repeat = Math.ceil(20_000 / count);
  const spent = [];
  for (let round = -2; round < rounds; round += 1) {
    globalThis.gc?.();
    const before = process.cpuUsage();
    for (let index = 0; index < repeat; index += 1) {
      if ((await run(calls)) !== count) throw new Error('Not all calls were answered.');
    }
    const { user, system } = process.cpuUsage(before);
    if (round >= 0) spent.push((user + system) / (repeat * count));
  }
  return Math.min(...spent);
};

const micros = (value) => `${value.toFixed(2)} µs`.padStart(12);

console.log(`Node ${process.version}, CPU per call in addition to zod\n`);
console.log(
  'calls in a step'.padEnd(18),
  'zod'.padStart(12),
  'naive loop'.padStart(12),
  'sync tool'.padStart(12),
  'async tool'.padStart(12),
);
for (const count of [1, 8, 64]) {
  const zod = await perCall(zodAlone, count);
  const others = [
    await perCall(naive, count),
    await perCall(dispatcher(false), count),
    await perCall(dispatcher(true), count),
  ];
  console.log(String(count).padEnd(18), micros(zod), ...others.map((spent) => micros(spent - zod)));
}

const slowest = 100;
const waiting = defineTool({
  name: 'noop',
  description: 'Waits.',
  input,
  effect: 'read-only',
  resources: () => [],
  run: () => new Promise((resolve) => void setTimeout(resolve, slowest, 'done')),
});
const begun = performance.now();
await new Promise((resolve) => void toolDriver([waiting]).run(callsOf(64), context).subscribe({ complete: resolve }));
console.log(`\n64 reads of ${slowest} ms: ${(performance.now() - begun).toFixed(0)} ms`);
