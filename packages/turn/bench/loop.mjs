/**
 * The overhead of the loop: 20 deltas and one tool call with a result of 400 characters per step. Three loops do the
 * same work: a bare async generator, a harness without operators, and a harness with ten operators that decide about
 * every request and call and observe every answer and result.
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

const pass = () => undefined;
const trivial = {
  decide: { 'model.request': pass, 'tool.call': pass },
  observe: { 'model.response': pass, 'tool.result': pass },
};
const tenOperators = Array.from({ length: 10 }, (_, index) => intercept(`pass-${index}`, () => trivial));

/** One agent runs all turns of a kind. Each turn has its own session, which is deleted afterwards. */
const agents = new Map();
const agentOf = (operators, steps, deltas) => {
  const key = `${operators.length}:${steps}:${deltas.length}`;
  const sessions = memorySessions();
  const make = () =>
    harness({ model: modelOf(steps, deltas), tools, sessions, maxModelCalls: Infinity }).pipe(...operators);
  if (!agents.has(key)) agents.set(key, { agent: make(), sessions });
  return agents.get(key);
};

let turns = 0;
const runWith =
  (operators) =>
  (steps, deltas = words) =>
    new Promise((resolve) => {
      const { agent, sessions } = agentOf(operators, steps, deltas);
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

const loops = [runBare, runWith([]), runWith(tenOperators)];

// No collection is forced before a round: it would shrink the young generation and discard optimized code, which does
// not happen in a working process. Collections during a round count, and so do the threads that do them.
const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/** The best round: other load on the machine can only make a round slower. */
const best = (numbers) => Math.min(...numbers);

/** CPU microseconds per step of each loop, the best of interleaved rounds. */
const perStep = async (steps, deltas) => {
  const repeat = Math.max(1, Math.round(10_000 / steps));
  const rounds = loops.map(() => []);
  for (let round = 0; round < 9; round += 1) {
    for (const [index, run] of loops.entries()) {
      const spent = await cpuMicros(async () => {
        for (let turn = 0; turn < repeat; turn += 1) await run(steps, deltas);
      });
      rounds[index].push(spent / (repeat * steps));
    }
  }
  return rounds.map(best);
};

const print = (label, ...columns) =>
  console.log(label.padEnd(34), ...columns.map((column) => String(column).padStart(13)));
const micros = (value) => `${value.toFixed(2)} µs`;
const compare = ([bare, none, ten], unit) => [
  unit(bare),
  unit(none),
  (none / bare).toFixed(2),
  unit(ten),
  unit(ten - none),
];

console.log(`Node ${process.version}, ${words.length} deltas and one tool call per step\n`);
for (let warm = 0; warm < 3; warm += 1) await Promise.all(loops.map((run) => run(2000)));

print('', 'bare loop', 'no operator', 'ratio', 'ten operators', 'added by ten');
for (const steps of [10, 100, 1000, 10_000]) print(`step, turns of ${steps}`, ...compare(await perStep(steps), micros));

const many = Array.from({ length: 1000 }, () => 'x');
const withMany = await perStep(100, many);
const withNone = await perStep(100, []);
print(
  'delta',
  ...compare(
    withMany.map((spent, index) => (spent - withNone[index]) / many.length),
    micros,
  ),
);

const concurrent = async (run) => {
  const rounds = [];
  for (let round = 0; round < 5; round += 1) {
    rounds.push(await cpuMicros(() => Promise.all(Array.from({ length: 1000 }, () => run(10)))));
  }
  return best(rounds);
};
const atOnce = [];
for (const run of loops) atOnce.push(await concurrent(run));
print('1,000 turns at once × 10 steps', ...compare(atOnce, (spent) => `${(spent / 1000).toFixed(0)} ms`));

const parkedTurns = 2000;
const heapOf = async (park) => {
  globalThis.gc?.();
  const before = process.memoryUsage().heapUsed;
  const release = park();
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc?.();
  const each = (process.memoryUsage().heapUsed - before) / parkedTurns / 1024;
  release();
  return each;
};

/** Turns that wait for a model, or for a tool. */
const parkTurns = (operators, model) => () => {
  const waiting = { definitions: () => definitions, run: () => new Observable(() => undefined) };
  const agent = harness({ model, tools: waiting }).pipe(...operators);
  const subscriptions = Array.from({ length: parkedTurns }, (_, index) =>
    agent.turn({ session: `parked-${index}`, input: 'go' }).subscribe(),
  );
  return () => {
    for (const subscription of subscriptions) subscription.unsubscribe();
  };
};
const parkBare = () => {
  const pending = new Promise(() => undefined);
  const kept = Array.from({ length: parkedTurns }, () => {
    const model = async function* () {
      await pending;
    };
    const turn = bareLoop(model, async () => result, 'go', 1);
    void turn.next();
    return turn;
  });
  return () => void kept.splice(0);
};
const kilobytes = (value) => `${value.toFixed(1)} KB`;
for (const [label, model] of [
  ['heap, waiting for the model', () => new Observable(pass)],
  ['heap, waiting for a tool', modelOf(2, words)],
]) {
  const heaps = [
    await heapOf(parkBare),
    await heapOf(parkTurns([], model)),
    await heapOf(parkTurns(tenOperators, model)),
  ];
  print(label, ...compare(heaps, kilobytes));
}
