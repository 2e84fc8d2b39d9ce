import type { TokenGauge } from './gauge.js';

/** Fewer tokens say little: what a provider adds to every request weighs too much in them. */
const minSample = 500;
/** What is further off is no matter of vocabularies: usage without the cached tokens, or of another request. */
const lowest = 0.4;
const highest = 4;

/** By how much the provider's own counts differ from ours, per model and way of counting. */
export interface Calibration {
  /** What our count is multiplied with; 1 as long as nothing is known. */
  factor(model: string | undefined, gauge: TokenGauge['name']): number;
  /** Compares our count of a request with the usage that the provider reported for that very request; nonsense is ignored. */
  learn(model: string | undefined, gauge: TokenGauge['name'], counted: number, reported: number): void;
  /** Takes over what was learnt elsewhere, unless something is known already. */
  suggest(model: string | undefined, gauge: TokenGauge['name'], factor: number): void;
}

export const createCalibration = (): Calibration => {
  const byGauge: Record<TokenGauge['name'], Map<string, number>> = {
    estimate: new Map(),
    o200k_base: new Map(),
    cl100k_base: new Map(),
  };
  const isPlausible = (factor: number): boolean => factor >= lowest && factor <= highest;
  return {
    factor: (model, gauge) => byGauge[gauge].get(model ?? '') ?? 1,
    learn: (model, gauge, counted, reported) => {
      if (counted >= minSample && isPlausible(reported / counted)) byGauge[gauge].set(model ?? '', reported / counted);
    },
    suggest: (model, gauge, factor) => {
      const known = byGauge[gauge];
      if (!known.has(model ?? '') && isPlausible(factor)) known.set(model ?? '', factor);
    },
  };
};
