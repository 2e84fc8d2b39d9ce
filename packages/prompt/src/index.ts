export { hasBootstrap, type BootstrapScan } from './bootstrap.js';
export { budgetMarks, type MarkBudget, type WantedMark } from './cache-marks.js';
export { contextFiles, type ContextFilesOptions } from './context-files/context-files.js';
export { contextFileNames, sortContextFiles, type OrderedFile } from './context-files/order.js';
export type { ContextScan, ScanResult } from './context-files/scan.js';
export { comparePrefixes, type PrefixChange } from './drift.js';
export type { KeptPrompt, PartPrint, PrefixPart, PrefixPrint } from './kept-prompt.js';
export { normalizeCapabilities, normalizeText } from './normalize.js';
export type { PromptCaching, PromptOptions, TurnFacts } from './options.js';
export {
  PromptCache,
  type PromptCacheOptions,
  type RenderedItem,
  type RenderedTier,
  type SortedTools,
} from './prompt-cache.js';
export { prompt } from './prompt.js';
export type { PromptAnnotation } from './request-shaper.js';
export type * from './sections.js';
export { shorten } from './shorten.js';
