import { createUsageMeter, type UsageMeter } from '@h/observe';
import { loadPrices } from '@h/prices';

/** Creates the usage meter with the known prices. Ollama models are free. */
export const openMeter = async (): Promise<UsageMeter> =>
  createUsageMeter({ costOf: await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 } } }) });
