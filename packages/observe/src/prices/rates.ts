import type { Usage } from '@h/turn';
import type { ModelPrice as CatalogPrice } from '@pydantic/genai-prices';

/** A price for a million tokens, or one that depends on how long the whole input is. */
type Rate =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] };

/** What a model costs, read from the catalog. */
export interface Rates {
  readonly input: Rate;
  readonly output: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
}

/**
 * The rates of a model whose price hangs on tokens alone; `undefined` for any other.
 *
 * The catalog computes the same in a hundred times the time, most of it checks.
 */
export const ratesOf = (price: CatalogPrice): Rates | undefined => {
  const {
    input_mtok: input,
    output_mtok: output,
    cache_read_mtok: cacheRead = input,
    cache_write_mtok: cacheWrite = input,
  } = price;
  if (input === undefined || output === undefined || cacheRead === undefined || cacheWrite === undefined) {
    return undefined;
  }
  // A fee for each request would be missing.
  return 'requests_kcount' in price ? undefined : { input, output, cacheRead, cacheWrite };
};

export const costAtRates = ({ input, output, cacheRead, cacheWrite }: Rates, usage: Usage): number => {
  const at = (rate: Rate): number => rateAt(rate, usage.input);
  const fresh = usage.input - usage.cacheRead - usage.cacheWrite;
  return (
    (fresh * at(input) +
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
