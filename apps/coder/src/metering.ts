import { createUsageMeter, type UsageMeter } from '@h/observe';
import { loadPrices } from '@h/prices';

/** Counts what is used, at the prices that are known. Models on one's own machine cost nothing. */
export const openMeter = async (): Promise<UsageMeter> =>
  createUsageMeter({ costOf: await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 } } }) });
