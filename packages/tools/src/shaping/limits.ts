import { charsPerToken } from '@h/tokens';

/** Maximum shares of the context window: for one result, and for all results of a step. */
const resultShare = 0.3;
const stepShare = 0.5;
const resultsPerStep = 4;

/** Caps of results, in characters. */
export interface ResultLimits {
  readonly maxChars: number;
  readonly maxStepChars: number;
  /** 30 % of the window; `Infinity` if the window is unknown. */
  readonly shareChars: number;
}

/**
 * Returns the caps for a context window in tokens.
 *
 * One result gets 16,000 characters, 32,000 from 100,000 tokens on and 64,000 from 200,000 on, but at most 30 % of the
 * window. All results of a step get four times that, but at most half of the window. An unknown window counts as small.
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
/** From here on, characters are about a token each. */
const firstDense = 0x1100;
const denseScript = /[\u1100-\uffff]/;

/**
 * Returns how many characters of Latin text one character of this text equals in tokens: from 1 for Latin text to 4 for
 * text with about one token for each character (Chinese, Japanese, Korean, emoji). Samples both ends of the text.
 */
export const weightOf = (text: string): number => {
  const sample = text.length <= 2 * sampleSize ? text : text.slice(0, sampleSize) + text.slice(-sampleSize);
  if (!denseScript.test(sample)) return 1;
  let dense = 0;
  for (let index = 0; index < sample.length; index += 1) if (sample.charCodeAt(index) >= firstDense) dense += 1;
  return 1 + ((charsPerToken - 1) * dense) / sample.length;
};

/** The characters that remain for the results of a step. */
export interface StepBudget {
  /**
   * Returns the cap of the next result: the rest, without the shares of the other calls.
   *
   * @param pending - sizes of results that have not left the pipeline and are not subtracted yet
   */
  allowance(pending?: Iterable<number>): number;
  /** Subtracts the size of a result. */
  spend(amount: number): void;
}

/**
 * Divides the characters of a step among its calls: each has an equal share, and later calls get what earlier ones
 * left.
 */
export const stepBudget = (total: number, calls: number): StepBudget => {
  const share = Math.floor(total / Math.max(1, calls));
  let left = total;
  let open = calls;
  return {
    allowance: (pending = []) => {
      const sizes = [...pending];
      const rest = sizes.reduce((sum, size) => sum - size, left);
      return Math.max(0, rest - Math.max(0, open - sizes.length - 1) * share);
    },
    spend: (amount) => {
      left -= amount;
      open -= 1;
    },
  };
};
