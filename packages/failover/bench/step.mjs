/**
 * What `failover()` adds to a step that succeeds, over a history that grows; beside it, a retry helper of the usual make
 * (p-retry's shape: an operation and a promise around each call).
 *
 *   node bench/step.mjs        (after a build)
 */
import { createCredentialPool, failover, classifyError } from '@h/failover';
import { intercept, MessageList } from '@h/turn';
import { Subject } from 'rxjs';

const usage = { input: 10, cacheRead: 0, cacheWrite: 0, output: 5, reasoning: 0 };
const content = [
  { type: 'text', text: 'Let me look.' },
  { type: 'tool-call', toolCallId: 'call_1', toolName: 'ls', input: {} },
];
const start = { type: 'turn.start', turn: 't', at: 0, session: 's', input: [], trigger: 'user' };
const pool = createCredentialPool({
  profiles: ['a1', 'a2', 'b1', 'b2'].map((id) => ({
    id,
    provider: id[0] === 'a' ? 'alpha' : 'beta',
    key: `key-of-${id}`,
  })),
});
const models = ['alpha/one', 'beta/two'];

/** CPU microseconds a step, the best of several rounds. */
const perStep = (work, steps) => {
  const rounds = [];
  for (let round = 0; round < 15; round += 1) {
    const begin = process.cpuUsage();
    work(steps);
    const { user, system } = process.cpuUsage(begin);
    rounds.push((user + system) / steps);
  }
  return Math.min(...rounds);
};

/** The events of a step that the operator has handlers for: request, response, and the answer that joins the history. */
const turn = (operators) => (steps) => {
  const source = new Subject();
  let seen = 0;
  const subscription = source.pipe(...operators).subscribe((event) => (seen += event.type === 'model.request' ? 1 : 0));
  source.next(start);
  let messages = MessageList.of([{ role: 'user', content: 'Go.' }]);
  for (let step = 1; step <= steps; step += 1) {
    source.next({
      type: 'model.request',
      turn: 't',
      at: step,
      step,
      attempt: 1,
      system: [],
      messages,
      tail: [],
      tools: [],
      settings: {},
    });
    source.next({
      type: 'model.response',
      turn: 't',
      at: step,
      step,
      attempt: 1,
      content,
      finishReason: 'tool-calls',
      usage,
    });
    const answer = { role: 'assistant', content };
    source.next({ type: 'history.append', turn: 't', at: step, messages: [answer], origin: 'response' });
    messages = messages.append(answer, { role: 'tool', content: [] });
  }
  subscription.unsubscribe();
  if (seen !== steps) throw new Error(`${seen} of ${steps} requests came through`);
};

const withPool = turn([failover({ pool, models })]);
const without = turn([failover()]);
/** The least that any operator costs that looks at these events and stands alone; in a pipe of ours it is shared. */
const look = () => undefined;
const empty = turn([
  intercept('empty', () => ({ decide: { 'model.request': look, 'model.response': look, 'history.append': look } })),
]);
const bare = turn([]);

/** What people write by hand around each call. */
const retryHelper = async (steps) => {
  const retry = async (call) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await call();
      } catch (error) {
        if (attempt > 3) throw error;
        await new Promise((resolve) => setTimeout(resolve, 1_000 * 2 ** attempt));
      }
    }
  };
  for (let step = 0; step < steps; step += 1) await retry(async () => ({ content }));
};
const perAwaited = async (steps) => {
  let best = Infinity;
  for (let round = 0; round < 15; round += 1) {
    const begin = process.cpuUsage();
    await retryHelper(steps);
    const { user, system } = process.cpuUsage(begin);
    best = Math.min(best, (user + system) / steps);
  }
  return best;
};

const error = {
  name: 'AI_APICallError',
  message: 'Rate limited',
  status: 429,
  headers: { 'retry-after': '12' },
  body: {
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message: 'This request would exceed the rate limit of 20,000 input tokens per minute.',
    },
  },
};
const classify = (calls) => {
  for (let index = 0; index < calls; index += 1) classifyError(error, { now: 0 });
};

const print = (label, micros) => console.log(label.padEnd(58), `${micros.toFixed(2)} µs`.padStart(12));
console.log(`Node ${process.version}\n`);
for (const steps of [100, 10_000]) {
  const repeat = (work) =>
    perStep((count) => {
      for (let time = 0; time < 20_000 / steps; time += 1) work(count);
    }, steps) /
    (20_000 / steps);
  const stream = repeat(bare);
  const operator = repeat(empty) - stream;
  const added = repeat(withPool) - stream;
  print(`a step that succeeds, of ${steps}: pool and two models`, added);
  print('  without a pool and models', repeat(without) - stream);
  print('  an operator that does nothing', operator);
  print('  what failover adds to that', added - operator);
}
for (const id of ['a2', 'b1']) pool.failed(id, 'alpha/one', classifyError({ status: 402 }));
print(
  'the same while two other keys are in cooldown',
  perStep((count) => {
    for (let time = 0; time < 2; time += 1) withPool(count);
  }, 10_000) / 2,
);
print('a hand-written retry helper around a call', await perAwaited(20_000));
print('classifying an error', perStep(classify, 5_000));
