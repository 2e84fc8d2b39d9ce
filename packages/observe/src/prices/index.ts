export { loadPrices, type LoadPricesOptions } from './load-prices.js';
