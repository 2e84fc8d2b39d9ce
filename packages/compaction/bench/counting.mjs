/**
 * What counting and compacting cost, side by side with js-tiktoken as it is.
 *
 *   node --expose-gc bench/counting.mjs        (after a build)
 */
import { performance } from 'node:perf_hooks';
import { Subject } from 'rxjs';
import { MessageList } from '@h/turn';
import { readCorpus } from './corpus.mjs';

const importedAt = performance.now();
const { compaction, createTokenCounter } = await import('@h/compaction');
const importMs = performance.now() - importedAt;
const { countNaively, loadNaive } = await import('./naive.mjs');

const model = 'gpt-5';
let seed = 7;
const random = (below) => {
  seed = (seed * 48271) % 2147483647;
  return seed % below;
};
/** Text as agents read it: the sources and pages of this repository. */
const corpus = await readCorpus();
const prose = (length) => {
  const start = random(corpus.length - length);
  return corpus.slice(start, start + length);
};
const step = (index, size) => [
  {
    role: 'assistant',
    content: [
      { type: 'text', text: prose(200) },
      { type: 'tool-call', toolCallId: `c${index}`, toolName: 'read', input: { path: `src/file-${index}.ts` } },
    ],
  },
  {
    role: 'tool',
    content: [
      { type: 'tool-result', toolCallId: `c${index}`, toolName: 'read', output: { type: 'text', value: prose(size) } },
    ],
  },
];
const historyOf = (steps, size) => [
  { role: 'user', content: prose(400) },
  ...Array.from({ length: steps }, (_, index) => step(index, size)).flat(),
];

/** Milliseconds of CPU, which others on the machine cannot lengthen. */
const time = (work) => {
  const before = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(before);
  return [(user + system) / 1000, result];
};
const row = (what, ours, theirs, target) =>
  console.log(`${what.padEnd(64)}${ours.padStart(13)}${theirs.padStart(26)}   ${target}`);
const ms = (value) => `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`;

console.log(`Node ${process.version}, milliseconds of CPU`);
row('', '@h/compaction', 'js-tiktoken', 'target');
row('import of the package, without a tokenizer', ms(importMs), '', '');

const [theirLoad, encoder] = time(loadNaive);
const beforeLoading = process.cpuUsage();
await createTokenCounter().load(model);
const { user, system } = process.cpuUsage(beforeLoading);
row('loading the vocabulary, once in a process', ms((user + system) / 1000), ms(theirLoad), '');

const exactCounter = async () => {
  const counter = createTokenCounter();
  await counter.load(model);
  return counter;
};

{
  const history = historyOf(170, 4500);
  const [once, tokens] = time(() => countNaively(encoder, history));
  const run = (counter, kind) =>
    time(() => {
      const gauge = counter.gauge(model, kind);
      for (let index = 0; index < 100; index += 1) for (const message of history) gauge.message(message);
    })[0];
  row(
    `${Math.round(tokens / 1000)}k tokens at each of 100 steps, exact`,
    ms(run(await exactCounter(), 'best')),
    `${ms(once * 100)} = 100 × ${ms(once)}`,
    '≤ 500 ms',
  );
  row('the same, estimated', ms(run(createTokenCounter(), 'estimate')), '', '');
}
{
  const counter = await exactCounter();
  const text = 'a'.repeat(2 ** 20);
  const [ours] = time(() => counter.text(text, model));
  const [small] = time(() => encoder.encode(text.slice(0, 4096), [], []));
  row('1 MB of one letter, exact', ms(ours), `${ms(small)} for 4 kB, n²`, '≤ 50 ms');
  row('the same, estimated', ms(time(() => createTokenCounter().text(text))[0]), '', '');
}
{
  const text = prose(2 ** 20);
  const counter = await exactCounter();
  const [ours, count] = time(() => counter.text(text, model));
  const [theirs, expected] = time(() => encoder.encode(text, [], []).length);
  if (count !== expected) throw new Error(`${count} is not ${expected}.`);
  row('1 MB of prose, cold, exact', ms(ours), ms(theirs), '≤ 250 ms');
  row('the same, estimated', ms(time(() => createTokenCounter().text(text))[0]), '', '');
}

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];

/** A loop of requests, each with two messages more; what an operator adds to it, in microseconds a request (the median, as the garbage collector comes in between). */
const requestCost = (messages, options, rounds = 2000) => {
  const lists = [];
  let list = MessageList.of(historyOf(messages / 2, 100));
  for (let index = 0; index < rounds; index += 1) {
    list = list.append(...step(index, 100));
    lists.push(list);
  }
  const source = new Subject();
  let held = 0;
  const subscription = source.pipe(compaction(options)).subscribe((event) => {
    if (event.type !== 'model.request') held += 1;
  });
  const common = { turn: 't', at: 0 };
  const base = {
    ...common,
    type: 'model.request',
    attempt: 1,
    model,
    system: [{ text: 'You are helpful.' }],
    tail: [],
    tools: [],
    settings: {},
  };
  source.next({ ...common, type: 'session.loaded', session: 's', messages: lists[0], state: {}, repairs: [] });
  const requests = lists.map((each, index) => ({ ...base, step: index, messages: each }));
  const appended = lists.map((each) => ({
    ...common,
    type: 'history.append',
    origin: 'results',
    messages: each.slice(-2),
  }));
  const spent = [];
  const spentAppending = [];
  for (const [index, request] of requests.entries()) {
    const start = performance.now();
    source.next(appended[index]);
    const middle = performance.now();
    source.next(request);
    const end = performance.now();
    if (index < rounds / 2) continue;
    spentAppending.push(middle - start);
    spent.push(end - middle);
  }
  subscription.unsubscribe();
  return [median(spent) * 1000, median(spentAppending) * 1000];
};
for (const messages of [100, 1_000, 10_000]) {
  const [cost, counting] = requestCost(messages, { window: 1e9 });
  row(
    `a request that needs no compaction, after ${messages} messages`,
    `${cost.toFixed(2)} µs`,
    '',
    `≤ 10 µs (and ${counting.toFixed(1)} µs to count 300 new characters)`,
  );
}
{
  const counter = await exactCounter();
  const size = createTokenCounter().messages(historyOf(5_000, 100));
  // From nine tenths of the threshold on, which is where estimates do no longer.
  const [cost, counting] = requestCost(10_000, { window: size * 1.09, reserve: 0, threshold: 1, counter }, 400);
  row(
    'the same near the threshold, with the tokenizer',
    `${cost.toFixed(2)} µs`,
    '',
    `≤ 10 µs (and ${counting.toFixed(1)} µs)`,
  );
}
{
  const history = historyOf(100, 4000);
  const source = new Subject();
  const done = new Promise((resolve) => {
    source
      .pipe(compaction({ window: 120_000, reserve: 0, summarize: () => 'The report.', maxCorrections: 0 }))
      .subscribe((event) => {
        if (event.type === 'compaction.done') resolve(event);
      });
  });
  const start = performance.now();
  const common = { turn: 't', at: 0, system: [], tail: [], tools: [], settings: {} };
  source.next({ ...common, type: 'model.request', step: 1, attempt: 1, messages: MessageList.of(history) });
  const { tokensBefore, tokensAfter } = await done;
  row(
    `a compaction, ${Math.round(tokensBefore / 1000)}k to ${Math.round(tokensAfter / 1000)}k tokens, without the summariser`,
    ms(performance.now() - start),
    '',
    '',
  );
}
