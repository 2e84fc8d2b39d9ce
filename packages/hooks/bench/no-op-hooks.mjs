/**
 * Measures the time per step of ten empty hooks, synchronous and asynchronous, compared with no operator and with a
 * hand-written operator that awaits ten callbacks before each request, call and result.
 *
 * The events of a step (a request, 20 deltas, a response, a call, its result) are sent through the operator alone.
 *
 *   node --expose-gc bench/no-op-hooks.mjs        (after a build)
 */
import { hooks } from '@h/hooks';
import { intercept, MessageList, noUsage } from '@h/turn';
import { Subject } from 'rxjs';

const steps = 5000;
const rounds = 15;
const deltas = 20;

const envelope = { turn: 't', at: 0 };
const call = { id: 'call-1', name: 'noop', input: { path: 'a' } };
const messages = MessageList.of([{ role: 'user', content: 'Go' }]);
const stepEvents = [
  { ...envelope, type: 'model.request', step: 1, attempt: 1, messages, system: [], tail: [], tools: [], settings: {} },
  ...Array.from({ length: deltas }, () => ({
    ...envelope,
    type: 'model.delta',
    step: 1,
    attempt: 1,
    delta: { type: 'text', text: 'word ' },
  })),
  {
    ...envelope,
    type: 'model.response',
    step: 1,
    attempt: 1,
    content: [{ type: 'text', text: 'x' }],
    finishReason: 'tool-calls',
    usage: noUsage,
  },
  { ...envelope, type: 'history.append', origin: 'response', messages: [] },
  { ...envelope, type: 'tool.call', step: 1, index: 0, call },
  { ...envelope, type: 'tool.result', step: 1, call, status: 'ok', output: { type: 'text', value: 'ok' } },
  { ...envelope, type: 'history.append', origin: 'results', messages: [] },
];

const ten = (make) => Array.from({ length: 10 }, (_, index) => make(index));
const noop = (index) => ({
  name: `hook-${index}`,
  beforeModel: () => undefined,
  beforeTool: () => undefined,
  afterTool: () => undefined,
  beforeEnd: () => undefined,
  afterReply: () => undefined,
});
const noopLater = (index) => ({
  name: `hook-${index}`,
  beforeModel: async () => undefined,
  beforeTool: async () => undefined,
  afterTool: async () => undefined,
});

const byHand = () => {
  const callbacks = ten(() => async () => undefined);
  const all = async () => {
    for (const callback of callbacks) await callback();
    return undefined;
  };
  return intercept('by-hand', () => ({ decide: { 'model.request': all, 'tool.call': all, 'tool.result': all } }));
};

const variants = {
  'no operator': () => (source) => source,
  'an empty operator': () => intercept('empty', () => ({})),
  'hooks([])': () => hooks([]),
  '10 no-op hooks': () => hooks(ten(noop)),
  '10 asynchronous ones': () => hooks(ten(noopLater)),
  'by hand, 10 awaited': () => byHand(),
};

/** Returns the CPU time of the process in microseconds, which excludes other processes. */
const cpuTime = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** Sends each event after the previous one has left, as the loop does. @returns microseconds per step */
const run = async (operator) => {
  const source = new Subject();
  let left = 0;
  let onLeft = () => undefined;
  const subscription = source.pipe(operator).subscribe(() => {
    left += 1;
    onLeft();
  });
  source.next({ ...envelope, type: 'turn.start', session: 's', input: [], trigger: 'user' });
  let sent = left;
  const started = cpuTime();
  for (let step = 0; step < steps; step += 1) {
    for (const event of stepEvents) {
      sent += 1;
      source.next(event);
      if (left < sent) await new Promise((resolve) => (onLeft = resolve));
    }
  }
  const own = (cpuTime() - started) / steps;
  subscription.unsubscribe();
  return own;
};

const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
for (let round = 0; round < rounds; round += 1) {
  for (const [name, operator] of Object.entries(variants)) {
    globalThis.gc?.();
    const perStep = await run(operator());
    if (round > 2) times[name].push(perStep);
  }
}
const median = (values) => values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)];
const bare = median(times['no operator']);
for (const [name, values] of Object.entries(times)) {
  const own = median(values);
  console.log(`${name.padEnd(22)} ${own.toFixed(2).padStart(7)} µs per step   +${(own - bare).toFixed(2)}`);
}
