/**
 * Measures the overhead of `hooks()` per step, compared with the loop without it in the same run. A step has 20 deltas
 * and one tool call with a result of 400 characters. The rounds alternate, so that the load affects all subjects
 * equally.
 *
 *   node bench/step.mjs        (after a build)
 */
import { Observable } from 'rxjs';
import { harness, intercept, memorySessions } from '@h/turn';
import { hooks } from '@h/hooks';

const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const line = 'src/a.ts:12:  const total = items.reduce((sum, item) => sum + item.price, 0); // see docs/prices.md\n';
const result = line.repeat(5).slice(0, 400);
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);

const model =
  (steps, deltas) =>
  (request, { step }) =>
    new Observable((subscriber) => {
      for (const text of deltas) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
      const input = { path: 'a.txt' };
      const calls = step < steps ? [{ type: 'tool-call', toolCallId: `call-${step}`, toolName: 'read', input }] : [];
      const content = [{ type: 'text', text: 'words' }, ...calls];
      const finishReason = calls.length > 0 ? 'tool-calls' : 'stop';
      subscriber.next({ type: 'response', response: { content, finishReason, usage } });
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

/** The minimal operator with a handler. */
const empty = () => intercept('empty', () => ({ decide: { 'tool.result': () => undefined } }));
const nothing = () => undefined;
const gates = { name: 'gates', beforeModel: nothing, beforeTool: nothing, afterTool: nothing, beforeEnd: nothing };
const variants = {
  'no operator': () => [],
  'an empty operator': () => [empty()],
  'hooks([])': () => [hooks([])],
  'one gate at each point': () => [hooks([gates])],
  'one observer': () => [hooks([{ name: 'observer', afterReply: () => undefined }])],
};

let turns = 0;
const agentOf = (operators, steps, deltas) => {
  const sessions = memorySessions();
  const agent = harness({ model: model(steps, deltas), tools, sessions, maxModelCalls: Infinity }).pipe(...operators());
  return () =>
    new Promise((resolve) => {
      const session = `bench-${(turns += 1)}`;
      agent.turn({ session, input: 'go' }).subscribe({
        complete: () => {
          sessions.delete(session);
          resolve();
        },
      });
    });
};

/**
 * Returns the CPU time per step in microseconds, from the fastest round, because other work only slows a round down.
 */
const measure = async (steps, deltas, rounds) => {
  const agents = Object.values(variants).map((operators) => agentOf(operators, steps, deltas));
  const repeat = Math.max(1, Math.round(4000 / steps));
  const best = agents.map(() => Infinity);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, run] of agents.entries()) {
      const before = process.cpuUsage();
      for (let turn = 0; turn < repeat; turn += 1) await run();
      const { user, system } = process.cpuUsage(before);
      best[index] = Math.min(best[index], (user + system) / (repeat * steps));
    }
  }
  return best;
};

await measure(100, words, 4);
const columns = [];
for (const steps of [10, 100, 1000]) columns.push(await measure(steps, words, 9));
const many = Array.from({ length: 500 }, (_, index) => `word${index} `);
const [withMany, withNone] = [await measure(20, many, 5), await measure(20, [], 5)];
columns.push(withMany.map((spent, index) => (spent - (withNone[index] ?? 0)) / many.length));

const titles = ['@10', '@100', '@1000', 'a delta'];
console.log(`Node ${process.version}, µs of CPU per step, and the overhead\n`);
console.log(''.padEnd(30), ...titles.map((title) => title.padStart(16)));
for (const [index, name] of Object.keys(variants).entries()) {
  const cells = columns.map((column) => {
    const added = column[index] - column[0];
    return `${column[index].toFixed(2)} ${`(+${added.toFixed(2)})`.padStart(9)}`.padStart(16);
  });
  console.log(name.padEnd(30), ...cells);
}
