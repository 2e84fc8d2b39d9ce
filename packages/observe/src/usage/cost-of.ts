import type { Usage } from '@h/turn';
import { cleanUsage } from './clean-usage.js';

/**
 * What a model call costs in US dollars, or `undefined` where the price of the model is not known. The model is named
 * as requests name it: `provider/model`, or `model`.
 */
export type CostOf = (usage: Usage, model: string | undefined) => number | undefined;

/** What a model costs, in US dollars for a million tokens. */
export interface ModelPrice {
  /** Input that is neither read from nor written to the cache. */
  readonly input: number;
  readonly output: number;
  /** @defaultValue the price of input */
  readonly cacheRead?: number | undefined;
  /** @defaultValue the price of input */
  readonly cacheWrite?: number | undefined;
}

/** Prices by the names of models. A `*` at the end of a name stands for any rest; the longest name that fits counts. */
export type PriceTable = Readonly<Record<string, ModelPrice>>;

/**
 * Costs by a table of your own: for contracts, gateways and models at home.
 *
 * A model is looked for as `provider/model`, then without its provider.
 *
 * @param fallback asked for models that are not in the table
 *
 * @example
 * ```ts
 * const costOf = priceTable({ 'ollama/*': { input: 0, output: 0 }, 'gpt-5': { input: 1.25, cacheRead: 0.125, output: 10 } });
 * ```
 */
export const priceTable = (table: PriceTable, fallback?: CostOf): CostOf => {
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

/** What a usage costs at a price, in US dollars. */
export const costAt = ({ input, output, cacheRead = input, cacheWrite = input }: ModelPrice, given: Usage): number => {
  const usage = cleanUsage(given);
  const fresh = usage.input - usage.cacheRead - usage.cacheWrite;
  return (
    (fresh * input + usage.cacheRead * cacheRead + usage.cacheWrite * cacheWrite + usage.output * output) / 1_000_000
  );
};
