import type { Allowance } from './limits.js';

/**
 * Allowances to begin with, from the practice of STATEK. They are small: a coding agent that reads files needs several times the tokens.
 *
 * - `development` leaves room for real failures to show, without burning through a large context.
 * - `interactive` is tight about failures in a row, and gives a conversation a little more with every completion.
 * - `batch` has more of everything, but still stops bad loops quickly.
 *
 * @example
 * ```ts
 * harness({ model }).pipe(guardrails({ ...presets.batch, maxTokens: 500_000 }));
 * ```
 */
export const presets = {
  development: { maxSteps: 8, maxExceptions: 5, maxConsecutiveExceptions: 2, maxTokens: 30_000 },
  interactive: {
    maxSteps: 5,
    maxExceptions: 3,
    maxConsecutiveExceptions: 1,
    maxTokens: 15_000,
    extension: { perCompletion: 0.25, limits: ['maxSteps', 'maxExceptions', 'maxTokens'] },
  },
  batch: { maxSteps: 15, maxExceptions: 4, maxConsecutiveExceptions: 1, maxTokens: 60_000 },
} as const satisfies Readonly<Record<string, Allowance>>;
