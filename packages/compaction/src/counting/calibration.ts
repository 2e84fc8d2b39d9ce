import type { TokenGauge } from './gauge.js';

/** Smaller requests are ignored: what a provider adds to every request distorts their ratio. */
const minSample = 500;
/**
 * Ratios beyond this are not caused by the vocabulary: the usage lacks cached tokens, or belongs to another request.
 */
const lowest = 0.4;
const highest = 4;

/** The ratio of the provider's counts to ours, per model and method of counting. */
export interface Calibration {
  /** The factor for our count; 1 until something is known. */
  factor(model: string | undefined, gauge: TokenGauge['name']): number;
  /** Compares our count of a request with its reported usage; implausible values are ignored. */
  learn(model: string | undefined, gauge: TokenGauge['name'], counted: number, reported: number): void;
  /** Adopts a stored factor unless one is known already. */
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
