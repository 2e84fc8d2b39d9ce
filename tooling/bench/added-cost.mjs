/**
 * Measures the overhead of operators: each one alone, compared with the loop without operators in the same run.
 *
 * Each step has 20 deltas and one tool call with a result of 400 characters. The model and the tool take no time.
 *
 *   node tooling/bench/added-cost.mjs guardrails failover        (in the root, after a build)
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const built = (name) => import(new URL(`../../packages/${name}/dist/index.js`, import.meta.url));
const fromTurn = createRequire(new URL('../../packages/turn/package.json', import.meta.url));
const { harness, intercept, memorySessions } = await built('turn');
const { Observable } = await import(pathToFileURL(fromTurn.resolve('rxjs')));

const nothing = () => undefined;
const gates = { name: 'gates', beforeModel: nothing, beforeTool: nothing, afterTool: nothing, beforeEnd: nothing };
const paragraph = 'Prefer small functions, and run the tests before you say that you are done. '.repeat(20);
const sections = { frozen: [{ id: 'identity', text: paragraph }], session: [{ id: 'project', text: () => paragraph }] };

/** Pipes by package and label. Each function creates the operators of a pipe. */
const subjectsOf = {
  'loop-detect': ({ loopDetect }) => ({ 'loopDetect()': () => [loopDetect()] }),
  turn: () => ({ 'an empty operator': () => [intercept('empty', () => ({ decide: { 'tool.result': nothing } }))] }),
  queue: ({ createLanes, queue }) => {
    const lanes = createLanes();
    return { 'queue()': () => [queue(lanes)] };
  },
  hooks: ({ hooks }) => ({
    'hooks([])': () => [hooks([])],
    'hooks, a gate at each point': () => [hooks([gates])],
    'hooks, one observer': () => [hooks([{ name: 'observer', afterReply: nothing }])],
  }),
  prompt: ({ prompt }) => ({ 'prompt()': () => [prompt()], 'prompt, sections': () => [prompt(sections)] }),
  security: ({ security }) => ({
    'security()': () => [security()],
    'security without a redactor': () => [security({ redactor: false })],
  }),
  observe: ({ createUsageMeter, observe }) => ({
    'observe()': () => [observe()],
    'observe, a sink': () => [observe({ sinks: [{ name: 'none', write: nothing }] })],
    'observe, a meter': () => [observe({ meter: createUsageMeter() })],
  }),
  reasoning: ({ reasoning }) => ({ 'reasoning()': () => [reasoning()] }),
  tools: ({ tools }) => ({ 'tools()': () => [tools()] }),
  guardrails: ({ guardrails }) => ({
    'guardrails()': () => [guardrails({ maxSteps: Infinity })],
    'guardrails, tokens': () => [guardrails({ maxSteps: Infinity, maxTokens: 1e12, session: { maxTokens: 1e12 } })],
  }),
  failover: ({ failover, createCredentialPool }) => {
    const pool = createCredentialPool({ profiles: [{ id: 'a', provider: 'alpha', key: 'key-of-alpha' }] });
    return {
      'failover()': () => [failover()],
      'failover, pool': () => [failover({ pool, models: ['alpha/one', 'beta/two'] })],
    };
  },
};

const defaultModel = 'anthropic/claude-opus-5-5';
const thought = { type: 'reasoning', text: 'Hm.', providerOptions: { anthropic: { signature: 'c2lnbmF0dXJl' } } };
const usage = { input: 1000, cacheRead: 900, cacheWrite: 0, output: 60, reasoning: 0 };
const words = Array.from({ length: 20 }, (_, index) => `word${index} `);
const definitions = [{ name: 'read', description: 'Reads', inputSchema: { type: 'object' }, effect: 'read-only' }];

/** Returns a different result in every step, as in a run that makes progress. */
const resultOf = (id) => `${id}: ${'The quick brown fox reads line after line of it. '.repeat(9)}`.slice(0, 400);

const modelOf =
  (steps, deltas) =>
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
      const content = [thought, { type: 'text', text: 'Let me look.' }, ...calls];
      const finishReason = calls.length > 0 ? 'tool-calls' : 'stop';
      subscriber.next({ type: 'response', response: { content, finishReason, usage } });
      subscriber.complete();
    });

const toolsOf = () => ({
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

/** Prints the table. */
const addedCost = async (subjects, { rounds = 9, stepsPerRound = 4000, sizes = [10, 100, 1000] } = {}) => {
  const all = { 'no operator': () => [], ...subjects };
  const runner = (make, steps, deltas) => {
    const sessions = memorySessions();
    const model = modelOf(steps, deltas);
    const agent = harness({ model, defaultModel, tools: toolsOf(), sessions, maxModelCalls: Infinity }).pipe(...make());
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
  /**
   * Returns the fastest round of each subject. Rounds of the subjects alternate, so that the load affects all equally.
   */
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

const given = process.argv.slice(2);
const subjects = {};
for (const name of given.length === 0 ? Object.keys(subjectsOf) : given) {
  Object.assign(subjects, subjectsOf[name](await built(name)));
}
await addedCost(subjects);
process.exit(0);
