export { PostgresError, type PostgresErrorCode } from './errors.js';
export type { PostgresOptions } from './options.js';
export { connectPostgres, type Postgres } from './postgres.js';
export {
  postgresSessions,
  SessionClaimedError,
  type ListOptions,
  type PostgresSessions,
} from './sessions/postgres-sessions.js';
