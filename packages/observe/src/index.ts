export { observe } from './observe.js';
export type { ObserveOptions } from './options.js';
export * from './observation.js';
export type { RedactEvent } from './plain-data.js';
export { record, type RecordOptions } from './record/record.js';
export { hashSessionKey } from './session-key.js';
export { callbackSink, type CallbackSink, type CallbackSinkOptions } from './sinks/callback.js';
export { jsonLinesSink, type JsonLinesSink, type JsonLinesSinkOptions } from './sinks/json-lines.js';
export { parseLevels, type Levels } from './sinks/levels.js';
export { memorySink, type MemorySink, type MemorySinkOptions } from './sinks/memory.js';
export { pinoSink, subsystemLoggers, type PinoLogger, type SubsystemLoggersOptions } from './sinks/pino.js';
export { closeSinks, type Follower, type Sink } from './sinks/sink.js';
export { addTotals, formatTotals, noTotals, type UsageTotals } from './usage/totals.js';
export {
  createUsageMeter,
  type MeteredTurn,
  type UsageEntry,
  type UsageMeter,
  type UsageMeterOptions,
} from './usage/usage-meter.js';
