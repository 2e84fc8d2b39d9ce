export { PostgresError, type PostgresErrorCode } from './errors.js';
export type { PostgresOptions } from './options.js';
export { connectPostgres, type Postgres } from './postgres.js';
export {
  postgresSessions,
  SessionClaimedError,
  type ListOptions,
  type PostgresSessions,
  type PostgresSessionsOptions,
} from './sessions/postgres-sessions.js';
export {
  liveEvents,
  type AppendOptions,
  type EventWriter,
  type LiveEvents,
  type LiveEventsOptions,
  type ReadOptions,
  type StreamItem,
  type StreamStatus,
  type UnendedStream,
  type WriteOptions,
} from './live-events.js';
