/**
 * What the loop costs: ten operators that pass everything, 20 deltas and one tool call with a result of 400 characters
 * a step, side by side with a bare async generator that does the same work.
 *
 *   node --expose-gc bench/loop.mjs        (after a build)
 */
import { Observable } from 'rxjs';
import { harness, intercept, memorySessions } from '@h/turn';
import { bareLoop } from './bare-loop.mjs';

const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const result = 'x'.repeat(400);
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);

const answerOf = (step, steps) =>
  step < steps ? [{ type: 'tool-call', toolCallId: `call-${step}`, toolName: 'read', input: { path: 'a.txt' } }] : [];

const modelOf =
  (steps, deltas) =>
  (request, { step }) =>
    new Observable((subscriber) => {
      for (const text of deltas) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
      const calls = answerOf(step, steps);
      const content = [{ type: 'text', text: 'words' }, ...calls];
      subscriber.next({
        type: 'response',
        response: { content, finishReason: calls.length > 0 ? 'tool-calls' : 'stop', usage },
      });
      subscriber.complete();
    });

const definitions = [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' }, effect: 'read-only' }];
const tools = {
  definitions: () => definitions,
  run: (calls) =>
    new Observable((subscriber) => {
      for (const { id } of calls) {
        subscriber.next({ type: 'result', id, outcome: { status: 'ok', output: { type: 'text', value: result } } });
      }
      subscriber.complete();
    }),
};

const operators = Array.from({ length: 10 }, (_, index) =>
  intercept(`pass-${index}`, () => ({ observe: { 'turn.end': () => undefined, 'tool.result': () => undefined } })),
);

/** One agent runs all turns of a kind; each turn has a session of its own, which is forgotten after it. */
const agents = new Map();
const agentOf = (steps, deltas) => {
  const key = `${steps}:${deltas.length}`;
  const sessions = memorySessions();
  const make = () =>
    harness({ model: modelOf(steps, deltas), tools, sessions, maxModelCalls: Infinity }).pipe(...operators);
  if (!agents.has(key)) agents.set(key, { agent: make(), sessions });
  return agents.get(key);
};

let turns = 0;
const runTurn = (steps, deltas = words) =>
  new Promise((resolve) => {
    const { agent, sessions } = agentOf(steps, deltas);
    const session = `bench-${(turns += 1)}`;
    let events = 0;
    agent.turn({ session, input: 'go' }).subscribe({
      next: () => {
        events += 1;
      },
      complete: () => {
        sessions.delete(session);
        resolve(events);
      },
    });
  });

const runBare = async (steps, deltas = words) => {
  let step = 0;
  const model = async function* () {
    step += 1;
    for (const text of deltas) yield { type: 'delta', text };
    yield { type: 'response', content: answerOf(step, steps) };
  };
  let events = 0;
  for await (const _ of bareLoop(model, async () => result, 'go', steps)) events += 1;
  return events;
};

// No collection is forced before a round: it would shrink the young generation and throw optimised code away, which a
// process that is at work never sees. What is collected in a round counts, the threads that do it included.
const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** The best round: what else the machine does can only make a round slower. */
const best = (numbers) => Math.min(...numbers);

/** CPU microseconds a step of each, the best of rounds that take turns, so that both meet the same machine. */
const perStep = async (runs, steps, deltas) => {
  const repeat = Math.max(1, Math.round(10_000 / steps));
  const rounds = runs.map(() => []);
  for (let round = 0; round < 9; round += 1) {
    for (const [index, run] of runs.entries()) {
      const spent = await cpuMicros(async () => {
        for (let turn = 0; turn < repeat; turn += 1) await run(steps, deltas);
      });
      rounds[index].push(spent / (repeat * steps));
    }
  }
  return rounds.map(best);
};

const print = (label, ...columns) =>
  console.log(label.padEnd(34), ...columns.map((column) => String(column).padStart(10)));
const micros = (value) => `${value.toFixed(2)} µs`;

console.log(
  `Node ${process.version}, ${operators.length} operators, ${words.length} deltas and one tool call a step\n`,
);
for (let warm = 0; warm < 3; warm += 1) await Promise.all([runTurn(2000), runBare(2000)]);

print('', 'bare loop', '@h/turn', 'ratio');
for (const steps of [10, 100, 1000, 10_000]) {
  const [bare, ours] = await perStep([runBare, runTurn], steps);
  print(`a step, turns of ${steps}`, micros(bare), micros(ours), (ours / bare).toFixed(2));
}

const many = Array.from({ length: 1000 }, () => 'x');
const none = [];
const withMany = await perStep([runBare, runTurn], 100, many);
const withNone = await perStep([runBare, runTurn], 100, none);
const [bareDelta, ourDelta] = withMany.map((spent, index) => (spent - withNone[index]) / many.length);
print('a delta', micros(bareDelta), micros(ourDelta), (ourDelta / bareDelta).toFixed(2));

const concurrent = async (run) => {
  const rounds = [];
  for (let round = 0; round < 5; round += 1) {
    rounds.push(await cpuMicros(() => Promise.all(Array.from({ length: 1000 }, () => run(10)))));
  }
  return best(rounds);
};
print(
  '1,000 turns at a time × 10 steps',
  ...[await concurrent(runBare), await concurrent(runTurn)].map((spent) => `${(spent / 1000).toFixed(0)} ms`),
);

const parked = 2000;
const park = () => {
  const model = () => new Observable(() => undefined);
  const agent = harness({ model, tools }).pipe(...operators);
  return Array.from({ length: parked }, (_, index) =>
    agent.turn({ session: `parked-${index}`, input: 'go' }).subscribe(),
  );
};
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const subscriptions = park();
await new Promise((resolve) => setTimeout(resolve, 50));
globalThis.gc?.();
print('heap of a parked turn', '', `${((process.memoryUsage().heapUsed - before) / parked / 1024).toFixed(1)} KB`);
for (const subscription of subscriptions) subscription.unsubscribe();
