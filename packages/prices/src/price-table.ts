import { arrayOf, checkValue, numberFrom, objectOf, recordOf, required, type OptionCheck } from '@h/options';
import { cleanUsage, type TokenUsage } from './usage.js';

/**
 * Returns the cost of a model call in US dollars, or `undefined` if the price of the model is not known.
 *
 * `model` is `provider/model` or `model`.
 */
export type CostOf = (usage: TokenUsage, model: string | undefined) => number | undefined;

/** Price of a model in US dollars per million tokens. */
export interface ModelPrice {
  /** Input that is neither read from nor written to the cache. */
  readonly input: number;
  readonly output: number;
  /** @defaultValue the price of input */
  readonly cacheRead?: number | undefined;
  /** @defaultValue the price of input */
  readonly cacheWrite?: number | undefined;
}

/** Prices by model name. A name that ends with `*` matches every model with that prefix; the longest match wins. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/**
 * Creates a cost function from a table of prices: for contracts, gateways and self-hosted models.
 *
 * A model is looked up as `provider/model` first and without its provider second.
 *
 * @param fallback computes the cost of models that are not in the table
 * @throws InvalidOptionError for an unknown member and for a price that is not a number, which would make every cost unknown
 *
 * @example
 * ```ts
 * const costOf = priceTable({ 'ollama/*': { input: 0, output: 0 }, 'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10 } });
 * ```
 */
export const priceTable = (table: PriceTable, fallback?: CostOf): CostOf => {
  checkValue('priceTable()', 'table', table, priceRecord);
  checkValue('priceTable()', 'names of "table"', Object.keys(table), arrayOf(modelPattern));
  const exact = new Map(Object.entries(table).filter(([name]) => !name.endsWith('*')));
  const prefixes = Object.entries(table)
    .flatMap(([name, price]) => (name.endsWith('*') ? [{ prefix: name.slice(0, -1), price }] : []))
    .toSorted((left, right) => right.prefix.length - left.prefix.length);
  const find = (name: string): ModelPrice | undefined =>
    exact.get(name) ?? prefixes.find(({ prefix }) => name.startsWith(prefix))?.price;
  return (usage, model) => {
    if (model === undefined) return fallback?.(usage, model);
    const price = find(model) ?? find(model.slice(model.indexOf('/') + 1));
    return price === undefined ? fallback?.(usage, model) : costAt(price, usage);
  };
};

const dollars = numberFrom(0);

const modelPattern: OptionCheck = {
  expected: 'a name with at most one asterisk, at its end',
  accepts: (name) => typeof name === 'string' && !name.slice(0, -1).includes('*'),
};

/** Accepts a {@link PriceTable}. */
export const priceRecord = recordOf(
  objectOf({ input: required(dollars), output: required(dollars), cacheRead: dollars, cacheWrite: dollars }),
);

/** Returns the cost of a usage at a price, in US dollars. */
export const costAt = (
  { input, output, cacheRead = input, cacheWrite = input }: ModelPrice,
  usage: TokenUsage,
): number => {
  const clean = cleanUsage(usage);
  const uncached = clean.input - clean.cacheRead - clean.cacheWrite;
  return (
    (uncached * input + clean.cacheRead * cacheRead + clean.cacheWrite * cacheWrite + clean.output * output) / 1_000_000
  );
};
