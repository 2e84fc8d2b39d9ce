/**
 * Measures the time per delta of languageModel(), compared with a bare loop over the same stream.
 *
 * Run after a build: `npm run bench`, or `node --expose-gc bench/deltas.mjs`.
 */
import { languageModel } from '@h/ai-sdk';
import { MessageList } from '@h/turn';

const deltas = 200_000;
const rounds = 7;
const usage = { inputTokens: {}, outputTokens: {} };

/** Creates a stream that generates its parts on demand. */
const stream = () => {
  let sent = 0;
  return new ReadableStream({
    pull: (controller) => {
      if (sent === 0) controller.enqueue({ type: 'text-start', id: '0' });
      for (let index = 0; index < 1_000; index += 1) {
        controller.enqueue({ type: 'text-delta', id: '0', delta: 'word ' });
      }
      sent += 1_000;
      if (sent < deltas) return;
      controller.enqueue({ type: 'text-end', id: '0' });
      controller.enqueue({ type: 'finish', finishReason: { unified: 'stop', raw: 'stop' }, usage });
      controller.close();
    },
  });
};

const model = {
  specificationVersion: 'v4',
  provider: 'bench',
  modelId: 'bench-1',
  supportedUrls: {},
  doStream: async () => ({ stream: stream() }),
  doGenerate: () => Promise.reject(new Error('Only streams.')),
};

const request = {
  system: [],
  messages: MessageList.of([{ role: 'user', content: 'Go.' }]),
  tail: [],
  tools: [],
  settings: {},
};

const bare = async () => {
  const reader = stream().getReader();
  let text = '';
  let count = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return count;
    if (value.type !== 'text-delta') continue;
    text += value.delta;
    count += 1;
  }
};

const driver = languageModel(model);
const driven = () =>
  new Promise((resolve, reject) => {
    let count = 0;
    driver(request, { turn: 't', session: 's', step: 1, attempt: 1, signal: new AbortController().signal }).subscribe({
      next: (output) => {
        if (output.type === 'delta') count += 1;
      },
      error: reject,
      complete: () => resolve(count),
    });
  });

/** Returns the CPU time per delta, in nanoseconds. */
const time = async (run) => {
  globalThis.gc?.();
  const before = process.cpuUsage();
  if ((await run()) !== deltas) throw new Error('Some deltas are missing.');
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / deltas;
};

const median = (times) => times.toSorted((left, right) => left - right)[Math.floor(times.length / 2)];

const without = [];
const within = [];
for (let round = -2; round < rounds; round += 1) {
  const [one, other] = [await time(bare), await time(driven)];
  if (round < 0) continue;
  without.push(one);
  within.push(other);
}
console.log(`bare loop over the stream  ${median(without).toFixed(0)} ns of CPU per delta`);
console.log(`languageModel()            ${median(within).toFixed(0)} ns of CPU per delta`);
