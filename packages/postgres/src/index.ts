export { PostgresError, type PostgresErrorCode } from './errors.js';
export type { PostgresOptions } from './options.js';
export { connectPostgres, type Postgres } from './postgres.js';
export {
  postgresSessions,
  type HandOverOptions,
  type ListOptions,
  type PostgresSessions,
  type PostgresSessionsOptions,
} from './sessions/postgres-sessions.js';
export {
  liveEvents,
  type LiveEvents,
  type LiveEventsOptions,
  type UnendedStream,
  type WriteOptions,
} from './live-events.js';
export type { ReadOptions, StreamItem, StreamStatus } from './stream-reader.js';
export type { AppendOptions, EventWriter } from './stream-writer.js';
