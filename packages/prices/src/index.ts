export { loadPrices, type LoadPricesOptions } from './load-prices.js';
export { costAt, priceTable, type CostOf, type ModelPrice, type PriceTable } from './price-table.js';
export { cacheHitRate, cleanUsage, isEmptyUsage, type TokenUsage } from './usage.js';
