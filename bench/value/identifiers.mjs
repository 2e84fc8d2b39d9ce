/**
 * Identifiers that the later part of a run used and that a compaction left in the context, at equal size. A summary costs a
 * model; the stand-in is a text without any identifier, the same for all, so every figure is a lower bound.
 */
import { compact } from '../../packages/compaction/dist/index.js';
import { sum, textOf, tokensOf } from './cache.mjs';
import { messagesOf } from './run.mjs';

export const summary =
  'The user asked for a fix. Several files were read and changed, and the tests ran. Some of them still fail; the work continues.';
/** The compaction happens after this share of the steps, and leaves this share of the tokens. */
const cutAt = 0.6;
const keptShare = 0.2;
const minTokens = 4000;

/** Paths, addresses, hashes, UUIDs and error codes. */
const identifier =
  /https?:\/\/[\w.-]+(?:\/[\w./~%-]*[\w/])?|\b(?:[\w.@-]+\/)+[\w.@-]*\w|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}\b|\b[A-Z]{1,5}-?\d{3,6}\b/g;

const sizeOf = (messages) => sum(messages.map(tokensOf));
const textsOf = (messages) => messages.map(textOf).join('\n');

/** Returns the identifiers of a run that were known before the cut and used by a call after it. */
export const needlesOf = (run, cut) => {
  const before = textsOf(messagesOf(run, cut));
  const used = run.steps.slice(cut).flatMap(({ calls }) => calls.map(({ input }) => JSON.stringify(input ?? '')));
  return [...new Set(used.flatMap((text) => text.match(identifier) ?? []))].filter((needle) => before.includes(needle));
};

/** Keeps whole steps from the end. */
export const slidingWindow = (messages, budget) => {
  let from = messages.length;
  let size = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    size += tokensOf(messages[index]);
    if (size > budget) break;
    // A result is not kept without its call.
    if (messages[index].role !== 'tool') from = index;
  }
  return messages.slice(from);
};

/** Finds the largest setting whose result fits the budget, since the settings of libraries mean different things. */
export const fitted = async (budget, reduce, highest) => {
  let best = [];
  let [low, high] = [0, highest];
  for (let round = 0; round < 9; round += 1) {
    const middle = Math.round((low + high) / 2);
    const kept = await reduce(middle);
    if (sizeOf(kept) <= budget) {
      if (sizeOf(kept) >= sizeOf(best)) best = kept;
      low = middle;
    } else high = middle;
  }
  return best;
};

const ours = (options) => (messages, budget) =>
  fitted(
    budget,
    async (window) => (await compact(messages, { window: Math.max(2000, window), reserve: 0, ...options })).messages,
    sizeOf(messages) * 2,
  );

/** The ways to compact a history, each `(messages, budget) => messages`. */
export const methods = {
  'sliding window': slidingWindow,
  '`@h/compaction`, no summarizer': ours({ strategy: ['clear-tool-results', 'compact'] }),
  '`@h/compaction`, with a summary': ours({ strategy: 'summarize', summarize: () => summary }),
};

/**
 * Compares methods on runs that are long enough.
 *
 * @returns for each method, the identifiers that were needed, those still in context, and the size left
 */
export const compareCompactions = async (runs, compared) => {
  const rows = Object.fromEntries(
    Object.keys(compared).map((name) => [name, { needed: 0, kept: 0, tokens: 0, budget: 0 }]),
  );
  for (const run of runs) {
    const cut = Math.floor(run.steps.length * cutAt);
    const messages = messagesOf(run, cut);
    const budget = Math.round(sizeOf(messages) * keptShare);
    const needles = needlesOf(run, cut);
    if (budget < minTokens || needles.length === 0) continue;
    for (const [name, method] of Object.entries(compared)) {
      const kept = await method(messages, budget);
      const text = textsOf(kept);
      const row = rows[name];
      row.needed += needles.length;
      row.kept += needles.filter((needle) => text.includes(needle)).length;
      row.tokens += sizeOf(kept);
      row.budget += budget;
    }
  }
  return rows;
};
