/**
 * What limits cost for each piece of an answer and for each step, next to the two things that people write by hand:
 * a step counter, and a counter that estimates the whole request before each step.
 *
 *   node bench/allowance.mjs        (after a build)
 */
import { Subject } from 'rxjs';
import { intercept, MessageList, stop } from '@h/turn';
import { createBudget, guardrails, repeatedAtSeam } from '@h/guardrails';

/** Nanoseconds of CPU, which others on the machine cannot lengthen. */
const time = (count, work) => {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index += 1) work(index);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1000) / count;
};

const costOf = ({ input, output }) => (input + 5 * output) / 1e6;
const most = 1e12;
const everything = () =>
  guardrails({
    maxSteps: most,
    maxToolCalls: most,
    maxTokens: most,
    maxCost: most,
    maxDurationMs: most,
    maxExceptions: most,
    maxConsecutiveExceptions: most,
    maxOutputChars: most,
    costOf,
    session: { maxTokens: most, maxCost: most },
    budget: createBudget({ maxTokens: most, maxCost: most }).share({ maxSteps: most }),
  });

/** The usual configuration: a limit on steps. */
const counter = () =>
  intercept('counter', () => ({
    decide: { 'model.request': ({ step }) => (step > most ? stop('max-steps') : undefined) },
  }));

/** What people write for tokens: all of the request, a token for every four characters. */
const naive = () =>
  intercept('naive', () => {
    let used = 0;
    return {
      decide: {
        'model.request': ({ messages, system, tools }) => {
          const estimate = JSON.stringify([system, tools, messages]).length / 4;
          return used + estimate > most ? stop('budget-exceeded') : undefined;
        },
        'model.response': ({ usage }) => {
          used += usage.input + usage.output;
        },
      },
    };
  });

const turn = 'turn-1';
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20);
const tools = [
  {
    name: 'read',
    description: 'Reads a file.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  },
];
const system = [{ text: text.repeat(5) }];

/** A turn that has come to this step, and how to make the next one. */
const turnAt = (operator, steps) => {
  const source = new Subject();
  source.pipe(operator).subscribe();
  let history = MessageList.of([{ role: 'user', content: 'Go.' }]);
  let step = 0;
  source.next({
    type: 'turn.start',
    turn,
    at: 0,
    session: 's',
    input: [{ role: 'user', content: 'Go.' }],
    trigger: 'user',
  });
  source.next({
    type: 'session.loaded',
    turn,
    at: 0,
    session: 's',
    messages: MessageList.empty,
    state: {},
    repairs: [],
  });
  const usage = { input: 1000, cacheRead: 900, cacheWrite: 50, output: 50, reasoning: 0 };
  const ask = () => {
    step += 1;
    source.next({
      type: 'model.request',
      turn,
      at: step,
      step,
      attempt: 1,
      messages: history,
      system,
      tools,
      tail: [],
      settings: {},
    });
  };
  const next = () => {
    ask();
    const call = { id: `c${step}`, name: 'read', input: { path: `src/file-${step}.ts` } };
    const content = [
      { type: 'text', text: 'Let me look.' },
      { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: call.input },
    ];
    const output = { type: 'text', value: text };
    source.next({
      type: 'model.response',
      turn,
      at: step,
      step,
      attempt: 1,
      content,
      finishReason: 'tool-calls',
      usage,
    });
    source.next({ type: 'tool.call', turn, at: step, step, index: 0, call });
    source.next({ type: 'tool.result', turn, at: step, step, call, status: 'ok', output });
    const messages = [
      { role: 'assistant', content },
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: call.id, toolName: call.name, output }] },
    ];
    source.next({ type: 'history.append', turn, at: step, origin: 'results', messages });
    history = history.concat(messages);
  };
  for (let index = 0; index < steps; index += 1) next();
  return {
    next,
    ask,
    delta: () =>
      source.next({ type: 'model.delta', turn, at: step, step, attempt: 1, delta: { type: 'text', text: ' fox' } }),
  };
};

const nothing = () => intercept('nothing', () => ({}));
const subjects = {
  'nothing at all': nothing,
  'a step counter': counter,
  'an estimate of all': naive,
  'guardrails()': guardrails,
  'guardrails, all limits': everything,
};

for (const make of [nothing, counter, guardrails, everything]) {
  const warm = turnAt(make(), 10);
  for (let index = 0; index < 3000; index += 1) warm.next();
}

const row = (name, ...cells) => console.log(name.padEnd(24), ...cells.map((cell) => String(cell).padStart(14)));
row('', 'ns a delta', 'µs at step 10', 'µs at 1,000', 'µs at 5,000');
for (const [name, make] of Object.entries(subjects)) {
  const streaming = turnAt(make(), 10);
  streaming.ask();
  time(100_000, streaming.delta);
  const perDelta = time(500_000, streaming.delta);
  const steps = [10, 1000, 5000].map((place) => {
    // It would take minutes.
    if (make === naive && place === 5000) return 'not run';
    const warm = turnAt(make(), place);
    const count = make === naive ? 20 : 500;
    time(make === naive ? 2 : 200, warm.next);
    return (time(count, warm.next) / 1000).toFixed(1);
  });
  row(name, perDelta.toFixed(0), ...steps);
}

const before = text.repeat(20);
const repeat = before.slice(-900);
row('a seam, 900 characters', `${(time(2000, () => repeatedAtSeam(before, `${repeat} and on`)) / 1000).toFixed(1)} µs`);
process.exit(0);
