import type { ModelRequest } from '@h/turn';
import { anyFunction, checkOptions, anyOf, numberFrom, objectWithMethods } from '@h/options';
import { createTokenCounter, type RequestTokens, type TokenCounter } from './counting/token-counter.js';
import { defaultWindow, limitsFor } from './limits.js';
import type { CompactionOptions } from './options.js';

/** Options of {@link contextUsage}: those of `compaction()` with the same names, and with the same defaults. */
export interface ContextUsageOptions extends Pick<CompactionOptions, 'window' | 'reserve' | 'threshold'> {
  /**
   * Counts tokens. Pass the counter of `compaction()`, which is calibrated for the model.
   *
   * @defaultValue a new one
   */
  readonly counter?: TokenCounter | undefined;
}

/** The use of a context window, in tokens. */
export interface ContextUsage extends RequestTokens {
  readonly window: number;
  /** Reserved for the answer. */
  readonly reserve: number;
  /** The size above which the history is compacted. */
  readonly limit: number;
  /** What is left until then. */
  readonly free: number;
}

/**
 * Returns what fills the window of a request (system prompt, tools, history, tail) and how much is left.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const { messages, tools, free } = contextUsage(request, { window: 200_000, counter });
 * ```
 */
export const contextUsage = (request: ModelRequest, options: ContextUsageOptions = {}): ContextUsage => {
  checkOptions('contextUsage()', options, {
    window: anyOf(numberFrom(1, Infinity), anyFunction),
    reserve: numberFrom(0, Infinity),
    threshold: numberFrom(0, 1),
    counter: objectWithMethods('gauge', 'load', 'request'),
  });
  const { window: given = defaultWindow, reserve: wanted, threshold = 0.7, counter = createTokenCounter() } = options;
  const settings = { window: given, reserve: wanted, threshold, protectTokens: undefined };
  const { window, reserve, limit } = limitsFor(settings, request.model, request.settings);
  const tokens = counter.request(request);
  return {
    ...tokens,
    window,
    reserve: Math.floor(reserve),
    limit: Math.floor(limit),
    free: Math.max(0, Math.floor(limit - tokens.total)),
  };
};
