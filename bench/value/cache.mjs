/** A model of a provider's prefix cache, calibrated on recorded usage, and what usual mistakes cost in it. */
import { estimateTokens } from '../../packages/tokens/dist/index.js';
import { createRandom } from './random.mjs';
import { clockAt, replay } from './replay.mjs';
import { messagesOf, timeOf } from './run.mjs';

/** The rules of current providers: the smallest prefix, the step in which it grows, and how long it stays. */
const minTokens = 1024;
const timeToLiveMs = 5 * 60_000;
const unitOf = (isAnthropic) => (isAnthropic ? 1 : 128);
/** Requests of one session whose prefixes are compared. */
const maxRequests = 8;
/** Of runs without usage. */
const unknownOverhead = 14_000;
/** Tool results that a harness keeps if it removes older ones from every request. */
const keptResults = 5;

/** Serves requests, each a list of blocks with their tokens, as a provider's cache would. */
export class PrefixCache {
  #unit;
  #requests = [];

  constructor(unit = 1) {
    this.#unit = unit;
  }

  /** @returns the tokens of the request and those that were read from the cache */
  request(blocks, at) {
    let read = 0;
    for (const known of this.#requests) {
      if (at !== undefined && known.at !== undefined && at - known.at > timeToLiveMs) continue;
      let tokens = 0;
      for (let index = 0; index < blocks.length && blocks[index].key === known.blocks[index]?.key; index += 1) {
        tokens += blocks[index].tokens;
      }
      read = Math.max(read, tokens);
    }
    const input = Math.round(blocks.reduce((sum, { tokens }) => sum + tokens, 0));
    this.#requests = [...this.#requests.slice(1 - maxRequests), { blocks, at }];
    const whole = Math.floor(read / this.#unit) * this.#unit;
    return { input, cacheRead: whole < minTokens ? 0 : Math.min(input, whole) };
  }
}

const isAnthropicRun = (run) => run.steps.some(({ usage }) => (usage?.cacheWrite ?? 0) > 0);

/**
 * Fits the tokens of a run to its recorded usage: `input = overhead + scale × estimate`, by least squares over every other
 * request.
 */
export const fitTokens = (run) => {
  const estimates = estimatesOf(run);
  const known = run.steps.flatMap(({ usage }, index) =>
    usage && usage.input > 0 ? [{ index, x: estimates[index], y: usage.input }] : [],
  );
  const fitted = known.filter(({ index }) => index % 2 === 0);
  if (fitted.length < 3) return { scale: 1, overhead: unknownOverhead, held: [] };
  const [meanX, meanY] = [mean(fitted.map(({ x }) => x)), mean(fitted.map(({ y }) => y))];
  const spread = sum(fitted.map(({ x }) => (x - meanX) ** 2));
  const scale = spread === 0 ? 1 : sum(fitted.map(({ x, y }) => (x - meanX) * (y - meanY))) / spread;
  return { scale, overhead: Math.max(0, meanY - scale * meanX), held: known.filter(({ index }) => index % 2 === 1) };
};

/** The estimated tokens of the messages before each step. */
const estimatesOf = (run) => {
  let total = 0;
  let read = 0;
  return run.steps.map((_, index) => {
    for (const message of messagesOf(run, index).slice(read)) {
      total += tokensOf(message);
      read += 1;
    }
    return total;
  });
};

/** Compares the model with the recorded usage, over the requests that were not used to fit it. */
export const calibrate = (runs) => {
  const inputErrors = [];
  const shareErrors = [];
  let [recorded, predicted] = [0, 0];
  for (const run of runs) {
    const { scale, overhead, held } = fitTokens(run);
    const known = new Set(held.map(({ index }) => index));
    const cache = new PrefixCache(unitOf(isAnthropicRun(run)));
    for (const [index, { at, usage }] of run.steps.entries()) {
      const messages = messagesOf(run, index).map((message) => ({
        key: keyOf(message),
        tokens: scale * tokensOf(message),
      }));
      const { input, cacheRead } = cache.request([{ key: 'overhead', tokens: overhead }, ...messages], at);
      if (!known.has(index) || usage === undefined) continue;
      inputErrors.push(Math.abs(input - usage.input) / usage.input);
      shareErrors.push(Math.abs(cacheRead / input - usage.cacheRead / usage.input));
      recorded += usage.cacheRead;
      predicted += cacheRead;
    }
  }
  const requests = inputErrors.length;
  return {
    requests,
    inputError: requests === 0 ? undefined : median(inputErrors),
    shareError: requests === 0 ? undefined : mean(shareErrors),
    totalError: recorded === 0 ? undefined : (predicted - recorded) / recorded,
  };
};

/** What a harness does to its requests. `tiers` is `@h/prompt`; the others change the requests of a plain loop. */
export const habits = {
  'prompt tiers of `@h/prompt`': { names: ['prompt'] },
  'clock in the system prompt': {
    names: [],
    change: ({ system, ...rest }, { run, step }) => ({
      ...rest,
      system: [...system, { key: clockAt(timeOf(run, step)), tokens: 20 }],
    }),
  },
  'tools in another order each request': {
    names: [],
    change: ({ tools, ...rest }, { step }) => ({ ...rest, tools: createRandom(step).shuffled(tools) }),
  },
  'old results removed from the middle': {
    names: [],
    change: ({ messages, ...rest }) => {
      const results = messages.filter(({ isResult }) => isResult);
      const removed = new Set(results.slice(0, -keptResults));
      return {
        ...rest,
        messages: messages.map((block) =>
          removed.has(block) ? { ...block, key: `removed ${block.id}`, tokens: 12 } : block,
        ),
      };
    },
  },
};

/** Sums up what a run costs with a habit. */
export const spendingOf = async (run, { names, change = (blocks) => blocks }, costOf, recording) => {
  const { scale, overhead } = fitTokens(run);
  const { sent } = recording ?? (await replay(run, { names, overhead: overhead / scale }));
  const isAnthropic = isAnthropicRun(run);
  const cache = new PrefixCache(unitOf(isAnthropic));
  const total = { input: 0, cacheRead: 0, output: 0, cost: 0, largest: 0, requests: sent.length };
  for (const { step, at, request } of sent) {
    const { tools, system, messages, tail } = change(blocksOf(request, scale), { run, step });
    const { input, cacheRead } = cache.request([...tools, ...system, ...messages, ...tail], at);
    const { model, usage } = run.steps[step] ?? {};
    const output = usage?.output ?? 0;
    const cacheWrite = isAnthropic ? input - cacheRead : 0;
    total.input += input;
    total.cacheRead += cacheRead;
    total.output += output;
    total.largest = Math.max(total.largest, input);
    total.cost += costOf({ input, cacheRead, cacheWrite, output, reasoning: 0 }, model) ?? 0;
  }
  return total;
};

const blocksOf = ({ tools, system, messages, tail }, scale) => {
  const block = (value) => ({ key: keyOf(value), tokens: scale * tokensOf(value) });
  return {
    tools: tools.map(({ name, description, inputSchema }) =>
      block(`${name}\n${description}\n${JSON.stringify(inputSchema)}`),
    ),
    system: system.map(({ text }) => block(text)),
    messages: Array.from(messages, (message) => ({
      ...block(message),
      isResult: message.role === 'tool',
      id: message.role === 'tool' ? message.content[0]?.toolCallId : undefined,
    })),
    tail: tail.map(block),
  };
};

/** Texts and tokens of messages; the same messages are in many requests. */
const known = new WeakMap();
const strings = new Map();
const measured = (value) => {
  if (typeof value === 'string') {
    const tokens = strings.get(value) ?? estimateTokens(value);
    if (strings.size < 10_000) strings.set(value, tokens);
    return { key: value, tokens };
  }
  const found = known.get(value);
  if (found) return found;
  const key = JSON.stringify(value);
  const fresh = { key, tokens: estimateTokens(textOf(value)) };
  known.set(value, fresh);
  return fresh;
};
const keyOf = (value) => measured(value).key;
export const tokensOf = (value) => measured(value).tokens;

/** The text of a message that a model reads. */
export const textOf = ({ content }) =>
  typeof content === 'string'
    ? content
    : content
        .map((part) =>
          part.type === 'text'
            ? part.text
            : part.type === 'tool-call'
              ? `${part.toolName} ${JSON.stringify(part.input)}`
              : part.type === 'tool-result'
                ? typeof part.output.value === 'string'
                  ? part.output.value
                  : JSON.stringify(part.output.value)
                : '',
        )
        .join('\n');

export const sum = (values) => values.reduce((total, value) => total + value, 0);
export const mean = (values) => (values.length === 0 ? 0 : sum(values) / values.length);
export const median = (values) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
