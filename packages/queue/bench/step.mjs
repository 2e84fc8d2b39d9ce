/**
 * What `queue()` adds to a step of the loop: 20 deltas and one tool call with a result of 400 characters, measured in turns with the
 * same loop without it. The model answers at once, or after a promise as a network does.
 *
 *   node bench/step.mjs        (after a build)
 */
import { harness, memorySessions } from '@h/turn';
import { createLanes, queue } from '@h/queue';
import { Observable } from 'rxjs';

const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const result = { status: 'ok', output: { type: 'text', value: 'x'.repeat(400) } };

const modelOf =
  (steps, words, isAsync) =>
  (request, { step }) =>
    new Observable((subscriber) => {
      const answer = () => {
        for (const text of words) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
        const call = { type: 'tool-call', toolCallId: `call-${step}`, toolName: 'read', input: { path: 'a.txt' } };
        const content = [{ type: 'text', text: 'words' }, ...(step < steps ? [call] : [])];
        const finishReason = step < steps ? 'tool-calls' : 'stop';
        subscriber.next({ type: 'response', response: { content, finishReason, usage } });
        subscriber.complete();
      };
      if (isAsync) void Promise.resolve().then(answer);
      else answer();
    });

const definitions = [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' }, effect: 'read-only' }];
const tools = {
  definitions: () => definitions,
  run: (calls) =>
    new Observable((subscriber) => {
      for (const { id } of calls) subscriber.next({ type: 'result', id, outcome: result });
      subscriber.complete();
    }),
};

let turns = 0;
const runner = (operators) => {
  const agents = new Map();
  return (steps, words, isAsync) =>
    new Promise((resolve, reject) => {
      const key = `${steps}:${words.length}:${isAsync}`;
      if (!agents.has(key)) {
        const sessions = memorySessions();
        const options = { model: modelOf(steps, words, isAsync), tools, sessions, maxModelCalls: Infinity };
        agents.set(key, { sessions, agent: harness(options).pipe(...operators) });
      }
      const { agent, sessions } = agents.get(key);
      const session = `bench-${(turns += 1)}`;
      agent.turn({ session, input: 'go' }).subscribe({
        error: reject,
        complete: () => {
          sessions.delete(session);
          resolve();
        },
      });
    });
};

/** CPU microseconds a step of each, the best of rounds that take turns, so that both meet the same machine. */
const perStep = async (runs, steps, words, isAsync) => {
  const repeat = Math.max(1, Math.round(10_000 / steps));
  const rounds = runs.map(() => []);
  for (let round = 0; round < 9; round += 1) {
    for (const [index, run] of runs.entries()) {
      const start = process.cpuUsage();
      for (let turn = 0; turn < repeat; turn += 1) await run(steps, words, isAsync);
      const { user, system } = process.cpuUsage(start);
      rounds[index].push((user + system) / (repeat * steps));
    }
  }
  return rounds.map((each) => Math.min(...each));
};

const print = (label, ...columns) =>
  console.log(label.padEnd(40), ...columns.map((column) => String(column).padStart(10)));
const micros = (value) => `${value.toFixed(2)} µs`;
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);
const many = Array.from({ length: 500 }, () => 'x');

const lanes = createLanes();
const runs = [runner([]), runner([queue(lanes)])];
for (const run of runs) await run(2000, words, false);
console.log(`Node ${process.version}\n`);
print('', 'without', 'with', 'adds');
for (const isAsync of [false, true]) {
  for (const steps of [10, 100, 1000]) {
    const [without, added] = await perStep(runs, steps, words, isAsync);
    const label = `a step, turns of ${steps}, ${isAsync ? 'asynchronous' : 'synchronous'}`;
    print(label, micros(without), micros(added), micros(added - without));
  }
}
const withMany = await perStep(runs, 100, many, false);
const withNone = await perStep(runs, 100, [], false);
const [bare, ours] = withMany.map((spent, index) => (spent - withNone[index]) / many.length);
print('a delta', micros(bare), micros(ours), micros(ours - bare));
await lanes.shutdown();
