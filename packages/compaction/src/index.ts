export { repairHistory, type Repair, type RepairedHistory, type RepairProblem } from '@h/turn';
export { compaction } from './compaction.js';
export { contextUsage, type ContextUsage, type ContextUsageOptions } from './context-usage.js';
export type { Calibration } from './counting/calibration.js';
export type { TokenGauge } from './counting/gauge.js';
export {
  createTokenCounter,
  type RequestTokens,
  type TokenCounter,
  type TokenCounterOptions,
} from './counting/token-counter.js';
export { groupMessages, type MessageGroup } from './cutting/groups.js';
export {
  splitHistory,
  type HistoryChunk,
  type SplitHistory,
  type SplitHistoryOptions,
} from './cutting/split-history.js';
export type { CompactionTrigger, IdentifierReport } from './events.js';
export { CompactionError, type CompactionFailureReason } from './failure.js';
export type { LastResort } from './last-resort.js';
export type { Limit } from './limit.js';
export { compactionMemory, type CompactionMemory, type CompactionMemoryOptions, type Projection } from './memory.js';
export type { Notes } from './notes.js';
export type { ArchivedHistory, CompactionOptions } from './options.js';
export { isContextOverflow } from '@h/provider-errors';
export type { BuiltInStrategy, CompactedHistory, CompactionContext, CompactionStrategy } from './strategy.js';
export { filesOfCall, type TouchedFiles } from './summary/files.js';
export { extractIdentifiers, missingIdentifiers, type Identifier, type IdentifierKind } from './summary/identifiers.js';
export { redactSecrets } from './summary/redact.js';
export type { Summarize, SummarizeAnswer, SummarizeContext, SummarizeRequest } from './summary/summarize.js';
export { SummarizerError, summarizeWith, type SummarizeWithOptions } from './summarize-with.js';
