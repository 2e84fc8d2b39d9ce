import type { Message } from '@h/turn';
import { createTokenCounter } from '../src/index.js';
import type { SummarizeStrategyContext } from '../src/strategies/summarize.js';
import type { CompactionOptions } from '../src/options.js';
import { settingsOf } from '../src/settings.js';
import { runChain, type ChainResult } from '../src/run-chain.js';
import type { Answers } from '../src/summary/interview.js';

const counter = createTokenCounter();

export const tokensOf = (messages: readonly Message[]): number => counter.messages(messages);

/** Timers that a test advances. */
export interface ManualTimers {
  readonly after: SummarizeStrategyContext['after'];
  /** Fires the timers with at most this delay. */
  pass(delayMs: number): void;
  readonly waiting: readonly number[];
}

export const manualTimers = (): ManualTimers => {
  const timers = new Map<() => void, number>();
  return {
    after: (delayMs, callback) => {
      timers.set(callback, delayMs);
      return () => timers.delete(callback);
    },
    pass: (delayMs) => {
      for (const [callback, due] of timers) {
        if (due > delayMs) continue;
        timers.delete(callback);
        callback();
      }
    },
    get waiting() {
      return [...timers.values()];
    },
  };
};

export const answersIn = (map: Map<string, string>): Answers => ({
  get: (question) => map.get(question),
  set: (question, answer) => void map.set(question, answer),
});

/** What strategies get, with a real counter. */
export const contextOf = (
  messages: readonly Message[],
  changes: Partial<SummarizeStrategyContext> = {},
): SummarizeStrategyContext => ({
  messages,
  trigger: 'threshold',
  targetTokens: 20_000,
  protectTokens: 4_000,
  turn: 'turn-1',
  session: 'alice',
  count: (message) => counter.message(message),
  countText: (text) => counter.text(text),
  archive: () => Promise.resolve(undefined),
  signal: new AbortController().signal,
  after: (delayMs, callback) => {
    // Pauses pass at once, and deadlines never.
    if (delayMs > 60_000) return () => undefined;
    const timer = setTimeout(callback, 0);
    return () => clearTimeout(timer);
  },
  answers: answersIn(new Map()),
  ...changes,
});

/** Runs the strategies that these options name. */
export const compactWith = (
  messages: readonly Message[],
  options: CompactionOptions,
  changes: Partial<SummarizeStrategyContext> = {},
  bounds: { readonly goalTokens: number; readonly maxTokens: number } = { goalTokens: 30_000, maxTokens: 60_000 },
): Promise<ChainResult> => runChain(contextOf(messages, changes), settingsOf(options).chain, bounds);
