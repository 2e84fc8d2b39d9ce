/**
 * How long a turn waits for its store: steps with one tool call, over a store whose writes take 1 ms to come back.
 *
 *   node bench/store.mjs        (after a build)
 */
import { harness, memorySessions, reply } from '@h/turn';

const steps = 100;
const roundTripMs = 1;
const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };

const model = (_, { step }) => {
  const content =
    step < steps
      ? [{ type: 'tool-call', toolCallId: `call-${step}`, toolName: 'act', input: { path: 'a.txt' } }]
      : [{ type: 'text', text: 'Done.' }];
  return [{ type: 'response', response: { content, finishReason: step < steps ? 'tool-calls' : 'stop', usage } }];
};

const toolsWith = (effect) => ({
  definitions: () => [{ name: 'act', description: 'Acts', inputSchema: { type: 'object' }, effect }],
  run: (calls) =>
    calls.map(({ id }) => ({ type: 'result', id, outcome: { status: 'ok', output: { type: 'text', value: 'done' } } })),
});

/** A store in memory whose writes are confirmed after a round trip, in order. Counts writes. */
const remote = () => {
  const inner = memorySessions();
  let writes = 0;
  const sessions = {
    ...inner,
    open: (name) => {
      const open = inner.open(name);
      return {
        snapshot: open.snapshot,
        journal: open.journal,
        close: () => open.close(),
        append: (record) => {
          writes += 1;
          open.append(record);
          return new Promise((resolve) => setTimeout(resolve, roundTripMs));
        },
      };
    },
  };
  return { sessions, writes: () => writes };
};

const measure = async (effect, sessions) => {
  const agent = harness({ model, tools: toolsWith(effect), sessions }).pipe();
  const begin = performance.now();
  const { outcome } = await reply(agent.turn({ session: 'a', input: 'Go.' }));
  if (outcome !== 'completed') throw new Error(outcome);
  return (performance.now() - begin) / steps;
};

console.log(`${steps} steps, a store with a round trip of ${roundTripMs} ms\n`);
console.log('tool          in memory      remote     records/step   round trips waited for/step');
for (const [label, effect] of [
  ['read-only', 'read-only'],
  ['local-write', 'local-write'],
]) {
  await measure(effect, memorySessions());
  const base = await measure(effect, memorySessions());
  const trip = await measureTrip();
  const { sessions, writes } = remote();
  const each = await measure(effect, sessions);
  const waits = (each - base) / trip;
  console.log(
    `${label.padEnd(12)} ${base.toFixed(3).padStart(7)} ms ${each.toFixed(3).padStart(9)} ms ${(writes() / steps).toFixed(1).padStart(12)} ${waits.toFixed(2).padStart(18)}`,
  );
}

/** What a timer of a round trip takes here, which is more than it says. */
async function measureTrip() {
  const begin = performance.now();
  for (let count = 0; count < 50; count += 1) await new Promise((resolve) => setTimeout(resolve, roundTripMs));
  return (performance.now() - begin) / 50;
}
