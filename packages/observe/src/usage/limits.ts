import type { UsageTotals } from './totals.js';

/** Limits of a session. A session that has reached a limit starts no further call; `0` allows none, `Infinity` any. */
export interface UsageLimits {
  /**
   * Tokens that are sent, cached ones included.
   *
   * @defaultValue `2_000_000`
   */
  readonly maxInputTokens?: number | undefined;
  /**
   * Tokens that come back, reasoning included.
   *
   * @defaultValue `500_000`
   */
  readonly maxOutputTokens?: number | undefined;
  /**
   * US dollars. Calls without a known price do not count here, so set a limit of tokens besides.
   *
   * @defaultValue `Infinity`
   */
  readonly maxCost?: number | undefined;
}

/** A limit that was used up. */
export interface BudgetExceeded {
  readonly limit: keyof UsageLimits | 'killed';
  readonly used: number;
  readonly allowed: number;
  /** A sentence for people. */
  readonly reason: string;
}

/** The first limit that these totals have used up. */
export const exceededBy = (
  { usage, knownCost }: UsageTotals,
  { maxInputTokens = 2_000_000, maxOutputTokens = 500_000, maxCost = Infinity }: UsageLimits,
): BudgetExceeded | undefined => {
  if (usage.input >= maxInputTokens) {
    return exceeded(
      'maxInputTokens',
      usage.input,
      maxInputTokens,
      `${usage.input} input tokens`,
      String(maxInputTokens),
    );
  }
  if (usage.output >= maxOutputTokens) {
    return exceeded(
      'maxOutputTokens',
      usage.output,
      maxOutputTokens,
      `${usage.output} output tokens`,
      String(maxOutputTokens),
    );
  }
  if (knownCost >= maxCost) return exceeded('maxCost', knownCost, maxCost, `$${knownCost.toFixed(4)}`, `$${maxCost}`);
  return undefined;
};

const exceeded = (
  limit: keyof UsageLimits,
  used: number,
  allowed: number,
  have: string,
  may: string,
): BudgetExceeded => ({
  limit,
  used,
  allowed,
  reason: `The session has used ${have} of the ${may} that it may use.`,
});
