import { charsPerToken } from '@h/tokens';

/** Of the context window, for one result and for all results of a step. */
const resultShare = 0.3;
const stepShare = 0.5;
const resultsPerStep = 4;

/** How much of the context results may fill, in characters. */
export interface ResultLimits {
  readonly maxChars: number;
  readonly maxStepChars: number;
  /** 30 % of the window; without an end when the window is not known. */
  readonly shareChars: number;
}

/**
 * The caps for a model with a context window of so many tokens.
 *
 * One result gets 16,000 characters, 32,000 from 100,000 tokens on and 64,000 from 200,000 on, but never more than 30 % of the
 * window; the results of a step together get four times that, but never more than half of the window. An unknown window
 * counts as a small one.
 */
export const limitsFor = (
  contextWindow: number | undefined,
  given: { readonly maxChars?: number | undefined; readonly maxStepChars?: number | undefined } = {},
): ResultLimits => {
  const windowChars = contextWindow === undefined ? Infinity : contextWindow * charsPerToken;
  const shareChars = Math.floor(windowChars * resultShare);
  const maxChars = Math.min(given.maxChars ?? tierOf(contextWindow ?? 0), shareChars);
  const maxStepChars = given.maxStepChars ?? Math.min(maxChars * resultsPerStep, Math.floor(windowChars * stepShare));
  return { maxChars, maxStepChars, shareChars };
};

const tierOf = (contextWindow: number): number => {
  if (contextWindow >= 200_000) return 64_000;
  return contextWindow >= 100_000 ? 32_000 : 16_000;
};

const sampleSize = 1_000;

/**
 * How many characters of common text one character of this text stands for: 1 for Latin text, up to 4 where most characters
 * are tokens of their own (Chinese, Japanese, Korean, emoji). Told from both ends of the text.
 */
export const weightOf = (text: string): number => {
  const sample = text.length <= 2 * sampleSize ? text : text.slice(0, sampleSize) + text.slice(-sampleSize);
  let dense = 0;
  for (let index = 0; index < sample.length; index += 1) if (sample.charCodeAt(index) >= 0x1100) dense += 1;
  return sample.length === 0 ? 1 : 1 + ((charsPerToken - 1) * dense) / sample.length;
};

/** What the results of one step may still take. */
export interface StepBudget {
  /** The most that the next result may take: what is left, without the shares that are kept for the others. */
  allowance(): number;
  /** A result has taken so much of it. */
  spend(amount: number): void;
}

/**
 * Divides a step's characters among its calls: each is sure of an equal share, and what one leaves over goes to
 * those that come later.
 */
export const stepBudget = (total: number, calls: number): StepBudget => {
  const share = Math.floor(total / Math.max(1, calls));
  let left = total;
  let open = calls;
  return {
    allowance: () => Math.max(0, left - Math.max(0, open - 1) * share),
    spend: (amount) => {
      left -= amount;
      open -= 1;
    },
  };
};
