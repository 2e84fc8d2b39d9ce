/**
 * Measures what operators add to the loop: each alone, and all together, side by side with the loop without operators.
 *
 * One workload: 20 deltas, and one tool call with a result of 400 characters, in each step. Model and tool take no time.
 * Modules are passed in, so that each package measures the build that it depends on.
 */

const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);
const definitions = [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' }, effect: 'read-only' }];

/** A new result in every step, as from a run that makes progress. */
const resultOf = (id) => `${id}: ${'The quick brown fox reads line after line of it. '.repeat(9)}`.slice(0, 400);

const modelOf =
  ({ Observable }, steps, deltas) =>
  (request, { step }) =>
    new Observable((subscriber) => {
      for (const text of deltas) subscriber.next({ type: 'delta', delta: { type: 'text', text } });
      const calls =
        step < steps
          ? [
              {
                type: 'tool-call',
                toolCallId: `call-${step}`,
                toolName: 'read',
                input: { path: `src/file-${step}.ts` },
              },
            ]
          : [];
      const content = [{ type: 'text', text: 'Let me look.' }, ...calls];
      const finishReason = calls.length > 0 ? 'tool-calls' : 'stop';
      subscriber.next({ type: 'response', response: { content, finishReason, usage } });
      subscriber.complete();
    });

const toolsOf = ({ Observable }) => ({
  definitions: () => definitions,
  run: (calls) =>
    new Observable((subscriber) => {
      for (const { id } of calls) {
        const output = { type: 'text', value: resultOf(id) };
        subscriber.next({ type: 'result', id, outcome: { status: 'ok', output } });
      }
      subscriber.complete();
    }),
});

const cpuMicros = async (work) => {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
};

/**
 * @param modules - `{ turn, rxjs }`
 * @param subjects - operators by name: functions that make the list of operators
 */
export const addedCost = async (
  { turn, rxjs },
  subjects,
  { rounds = 9, stepsPerRound = 4000, sizes = [10, 100, 1000] } = {},
) => {
  const { harness, memorySessions } = turn;
  const all = { 'no operator': () => [], ...subjects };
  const runner = (make, steps, deltas) => {
    const sessions = memorySessions();
    const model = modelOf(rxjs, steps, deltas);
    const agent = harness({ model, tools: toolsOf(rxjs), sessions, maxModelCalls: Infinity }).pipe(...make());
    let turns = 0;
    return () =>
      new Promise((resolve, reject) => {
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
  /** The best round of each subject; the rounds take turns, so that all meet the same machine. */
  const measure = async (steps, deltas) => {
    const runs = Object.values(all).map((make) => runner(make, steps, deltas));
    const best = runs.map(() => Infinity);
    const repeat = Math.max(1, Math.round(stepsPerRound / steps));
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, run] of runs.entries()) {
        const spent = await cpuMicros(async () => {
          for (let count = 0; count < repeat; count += 1) await run();
        });
        best[index] = Math.min(best[index], spent / (repeat * steps));
      }
    }
    return best;
  };
  const columns = [];
  for (const steps of sizes) columns.push(await measure(steps, words));
  const many = Array.from({ length: 400 }, (_, index) => words[index % words.length]);
  const [withMany, withNone] = [await measure(50, many), await measure(50, [])];
  columns.push(withMany.map((spent, index) => (spent - withNone[index]) / many.length));
  const row = (name, cells) => console.log(name.padEnd(28), ...cells.map((cell) => String(cell).padStart(12)));
  row('µs', [...sizes.map((steps) => `step of ${steps}`), 'a delta']);
  for (const [index, name] of Object.keys(all).entries()) {
    const isBase = index === 0;
    row(
      isBase ? name : `+ ${name}`,
      columns.map((values) => (isBase ? values[0] : values[index] - values[0]).toFixed(2)),
    );
  }
};
