import type { Usage } from '@h/turn';
import { anyFunction, anyObject, checkOptions } from '@h/options';
import { cleanUsage } from '../usage/clean-usage.js';
import { priceTable, type CostOf, type PriceTable } from '../usage/cost-of.js';
import { lru } from '../usage/lru.js';
import { ratesOf, costAtRates, type Rates } from './rates.js';

type Catalog = typeof import('@pydantic/genai-prices');

/** Options of {@link loadPrices}. */
export interface LoadPricesOptions {
  /** Prices that win over those of the catalog, in US dollars for a million tokens, by `provider/model` or `model`. */
  readonly overrides?: PriceTable | undefined;
  /**
   * The time for which prices are looked up: some change by the hour.
   *
   * @defaultValue the time of the call
   */
  readonly now?: (() => Date) | undefined;
}

/** Models that are remembered with their price. */
const maxModels = 500;

/**
 * Loads the prices of some thousand models, and gives the function that knows what a call costs.
 *
 * They come from `@pydantic/genai-prices`, which has to be installed; updating it updates the prices. It is loaded with
 * the call and not before. Prices that rise with the length of the input and such that change by the hour are regarded.
 * A model that is not in the catalog has no cost: `undefined`, never 0.
 *
 * @throws InvalidOptionError `invalid-option`
 *
 * @example
 * ```ts
 * const costOf = await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 } } });
 * costOf({ input: 12_000, cacheRead: 10_000, cacheWrite: 0, output: 400, reasoning: 0 }, 'anthropic/claude-sonnet-4-5');
 * ```
 */
export const loadPrices = async (options: LoadPricesOptions = {}): Promise<CostOf> => {
  checkOptions('loadPrices()', options, { overrides: anyObject, now: anyFunction });
  // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
  const { overrides = {}, now = () => new Date() } = options;
  const catalog = await import('@pydantic/genai-prices');
  return priceTable(overrides, catalogCost(catalog, now));
};

const catalogCost = (catalog: Catalog, now: () => Date): CostOf => {
  const known = lru<Rates | 'unknown' | 'changing'>(maxModels);
  return (given, model) => {
    if (model === undefined) return undefined;
    const usage = cleanUsage(given);
    let rates = known.get(model);
    if (rates === undefined) {
      rates = lookUp(catalog, model, now());
      known.set(model, rates);
    }
    if (rates === 'unknown') return undefined;
    return rates === 'changing' ? priced(catalog, usage, model, now())?.total_price : costAtRates(rates, usage);
  };
};

const lookUp = (catalog: Catalog, model: string, at: Date): Rates | 'unknown' | 'changing' => {
  const found = priced(catalog, cleanUsage({}), model, at);
  // A model that is listed without the price of its tokens is not free.
  if (!found || found.model_price['input_mtok'] === undefined || found.model_price['output_mtok'] === undefined) {
    return 'unknown';
  }
  return (Array.isArray(found.model.prices) ? undefined : ratesOf(found.model_price)) ?? 'changing';
};

/** Names of providers here and in the catalog, where they differ. */
const aliases: Readonly<Record<string, string>> = {
  bedrock: 'aws',
  'amazon-bedrock': 'aws',
  gemini: 'google',
  vertex: 'google',
  xai: 'x-ai',
  'openai-compatible': '',
};

/** `provider/model`, and the name as a whole where its first part is no provider: `meta-llama/llama-3`. */
const priced = (catalog: Catalog, usage: Usage, model: string, timestamp: Date): ReturnType<Catalog['calcPrice']> => {
  const slash = model.indexOf('/');
  const prefix = slash < 0 ? '' : model.slice(0, slash).toLowerCase();
  const provider = (Object.hasOwn(aliases, prefix) ? aliases[prefix] : prefix) ?? '';
  const quantities = {
    input_tokens: usage.input,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    output_tokens: usage.output,
  };
  const ask = (name: string, providerId?: string): ReturnType<Catalog['calcPrice']> => {
    try {
      return catalog.calcPrice(quantities, name, { timestamp, ...(providerId !== undefined && { providerId }) });
    } catch {
      // The catalog cannot price such a call: its price is unknown.
      return null;
    }
  };
  if (slash < 0) return ask(model);
  const name = model.slice(slash + 1);
  return provider !== '' && catalog.findProvider({ providerId: provider }) !== undefined
    ? ask(name, provider)
    : (ask(model) ?? null);
};
