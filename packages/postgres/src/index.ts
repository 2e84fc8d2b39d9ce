export { PostgresError, type PostgresErrorCode } from './errors.js';
export type { PostgresOptions } from './options.js';
export { connectPostgres, type Postgres } from './postgres.js';
export {
  postgresSessions,
  SessionClaimedError,
  type ListOptions,
  type PostgresSessions,
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
} from './live-events.js';
