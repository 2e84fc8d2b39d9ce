import { LruMap } from '@h/bounded';
import { anyFunction, checkOptions, CodedError } from '@h/options';
import type { ModelPrice as CatalogPrice } from '@pydantic/genai-prices';
import { priceRecord, priceTable, type CostOf, type PriceTable } from './price-table.js';
import { cleanUsage, type TokenUsage } from './usage.js';

type Catalog = typeof import('@pydantic/genai-prices');

/** Options of {@link loadPrices}. */
export interface LoadPricesOptions {
  /** Prices that take precedence over the catalog, in US dollars per million tokens. */
  readonly overrides?: PriceTable | undefined;
  /**
   * The time for which prices are looked up; some models cost less at night.
   *
   * @defaultValue the current time at each lookup
   */
  readonly now?: (() => Date) | undefined;
}

/** Maximum number of models with cached rates. */
const maxModels = 500;

/** Provider names of model ids that differ from those of the catalog. An empty name means any provider. */
const aliases: Readonly<Record<string, string>> = {
  bedrock: 'aws',
  'amazon-bedrock': 'aws',
  gemini: 'google',
  vertex: 'google',
  xai: 'x-ai',
  'openai-compatible': '',
};

/**
 * Loads a catalog of model prices and returns a cost function.
 *
 * The catalog is `@pydantic/genai-prices`, a peer dependency that is imported by this call; update it to update the
 * prices. Prices that rise with the input length or change by the hour are supported. The cost of a model that is not
 * in the catalog is `undefined`, never 0.
 *
 * @throws InvalidOptionError `invalid-option`; CodedError `no-catalog` if the peer dependency cannot be loaded
 *
 * @example
 * ```ts
 * const costOf = await loadPrices({ overrides: { 'ollama/*': { input: 0, output: 0 } } });
 * costOf({ input: 12_000, cacheRead: 10_000, cacheWrite: 0, output: 400, reasoning: 0 }, 'anthropic/claude-sonnet-4-5');
 * ```
 */
export const loadPrices = async (options: LoadPricesOptions = {}): Promise<CostOf> => {
  checkOptions('loadPrices()', options, { overrides: priceRecord, now: anyFunction });
  // oxlint-disable-next-line h/no-clock -- the default clock, which callers may replace
  const { overrides = {}, now = () => new Date() } = options;
  const catalog = await import('@pydantic/genai-prices').catch((cause: unknown) => {
    const message =
      'loadPrices() needs the package "@pydantic/genai-prices", which cannot be loaded. Run: npm install @pydantic/genai-prices';
    throw new CodedError('no-catalog', message, { cause });
  });
  return priceTable(overrides, catalogCost(catalog, now));
};

const catalogCost = (catalog: Catalog, now: () => Date): CostOf => {
  const known = new LruMap<string, Rates | 'unknown' | 'changing'>(maxModels);
  return (usage, model) => {
    if (model === undefined) return undefined;
    const clean = cleanUsage(usage);
    let rates = known.get(model);
    if (rates === undefined) {
      rates = lookUp(catalog, model, now());
      known.set(model, rates);
    }
    if (rates === 'unknown') return undefined;
    return rates === 'changing' ? priceOf(catalog, clean, model, now())?.total_price : costAtRates(rates, clean);
  };
};

const lookUp = (catalog: Catalog, model: string, at: Date): Rates | 'unknown' | 'changing' => {
  const found = priceOf(catalog, cleanUsage({}), model, at);
  // A model that is listed without token prices is not free.
  if (!found || found.model_price['input_mtok'] === undefined || found.model_price['output_mtok'] === undefined) {
    return 'unknown';
  }
  return (Array.isArray(found.model.prices) ? undefined : ratesOf(found.model_price)) ?? 'changing';
};

/** Looks up `provider/model`, or the whole name if its first part is not a provider (`meta-llama/llama-3`). */
const priceOf = (
  catalog: Catalog,
  usage: TokenUsage,
  model: string,
  timestamp: Date,
): ReturnType<Catalog['calcPrice']> => {
  const slash = model.indexOf('/');
  const prefix = slash < 0 ? '' : model.slice(0, slash).toLowerCase();
  const provider = (Object.hasOwn(aliases, prefix) ? aliases[prefix] : prefix) ?? '';
  const quantities = {
    input_tokens: usage.input,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    output_tokens: usage.output,
  };
  const calculate = (name: string, providerId?: string): ReturnType<Catalog['calcPrice']> => {
    try {
      return catalog.calcPrice(quantities, name, { timestamp, ...(providerId !== undefined && { providerId }) });
    } catch {
      return null;
    }
  };
  if (slash < 0) return calculate(model);
  const name = model.slice(slash + 1);
  return provider !== '' && catalog.findProvider({ providerId: provider }) !== undefined
    ? calculate(name, provider)
    : (calculate(model) ?? null);
};

/** A price per million tokens; with tiers, the price depends on the length of the whole input. */
type Rate =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] };

interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
}

/**
 * Returns the rates of a model whose price depends on tokens alone, and `undefined` for any other.
 *
 * With known rates a cost takes 1 % of the time that the catalog needs, most of which validates its arguments.
 */
const ratesOf = (price: CatalogPrice): Rates | undefined => {
  const {
    input_mtok: input,
    output_mtok: output,
    cache_read_mtok: cacheRead = input,
    cache_write_mtok: cacheWrite = input,
  } = price;
  if (input === undefined || output === undefined || cacheRead === undefined || cacheWrite === undefined) {
    return undefined;
  }
  // Rates cannot express a fee per request.
  return 'requests_kcount' in price ? undefined : { input, output, cacheRead, cacheWrite };
};

const costAtRates = ({ input, output, cacheRead, cacheWrite }: Rates, usage: TokenUsage): number => {
  const at = (rate: Rate): number => rateAt(rate, usage.input);
  const uncached = usage.input - usage.cacheRead - usage.cacheWrite;
  return (
    (uncached * at(input) +
      usage.cacheRead * at(cacheRead) +
      usage.cacheWrite * at(cacheWrite) +
      usage.output * at(output)) /
    1_000_000
  );
};

const rateAt = (rate: Rate, inputTokens: number): number => {
  if (typeof rate === 'number') return rate;
  let price = rate.base;
  for (const tier of rate.tiers) if (inputTokens > tier.start) ({ price } = tier);
  return price;
};
