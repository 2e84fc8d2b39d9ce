import { TurnError } from '@h/turn';

/**
 * What went wrong in the database.
 *
 * - `database-unavailable`: no connection, or the server is starting, shutting down or overloaded
 * - `database-timeout`: the server did not answer in time
 * - `database-conflict`: a deadlock or a serialization failure
 * - `database-full`: the disk or a quota of the server is full
 * - `database-denied`: the password or a privilege is missing
 * - `database-schema`: the tables do not match this version of the package
 * - `database-pooler`: notifications do not arrive, because a pooler shares the connections of the server, or the pooler
 *   allows no transactions
 * - `database-closed`: `close()` was called
 * - `database-failed`: any other error of the server
 */
export type PostgresErrorCode =
  | 'database-unavailable'
  | 'database-timeout'
  | 'database-conflict'
  | 'database-full'
  | 'database-denied'
  | 'database-schema'
  | 'database-pooler'
  | 'database-closed'
  | 'database-failed';

/** Thrown if a statement failed. `isRetryable` tells whether the same call may succeed later. */
export class PostgresError extends TurnError {
  declare readonly code: PostgresErrorCode;
  readonly isRetryable: boolean;
  /** The SQLSTATE of the server or the code of the network error, if there is one. */
  readonly sqlState: string | undefined;

  constructor(
    code: PostgresErrorCode,
    message: string,
    options: ErrorOptions & { sqlState?: string | undefined } = {},
  ) {
    super(code, message, options);
    this.isRetryable = retryable.has(code);
    this.sqlState = options.sqlState;
  }
}

const retryable: ReadonlySet<PostgresErrorCode> = new Set<PostgresErrorCode>([
  'database-unavailable',
  'database-timeout',
  'database-conflict',
  'database-full',
]);

const advice: Readonly<Record<PostgresErrorCode, string>> = {
  'database-unavailable': 'Retry when the server accepts connections again.',
  'database-timeout': 'Retry, or raise "queryTimeoutMs" or the "statement_timeout" of the server.',
  'database-conflict': 'Retry the call.',
  'database-full': 'Free space on the server, then retry.',
  'database-denied': 'Check the password and the privileges of the role.',
  'database-schema': 'Use one version of the package in all processes, and let it run its migrations.',
  'database-pooler': 'Connect to the server directly, or through a pooler in session mode.',
  'database-closed': 'Connect again.',
  'database-failed': 'A retry will not help; see the cause.',
};

/** Creates the error for anything that the driver throws. */
export const toPostgresError = (thrown: unknown): PostgresError => {
  if (thrown instanceof PostgresError) return thrown;
  const sqlState = codeOf(thrown);
  const code = kindOf(sqlState, messageOf(thrown));
  const state = sqlState === undefined ? '' : ` (${sqlState})`;
  return new PostgresError(code, `PostgreSQL: ${messageOf(thrown)}${state}. ${advice[code]}`, {
    cause: thrown,
    sqlState,
  });
};

const messageOf = (thrown: unknown): string => {
  // Node reports a refused connection to several addresses as an error without a message.
  if (thrown instanceof AggregateError && thrown.message === '') return messageOf(thrown.errors[0]);
  return (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/u, '');
};

const codeOf = (thrown: unknown): string | undefined => {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
};

/** Classes and codes of https://www.postgresql.org/docs/current/errcodes-appendix.html, by their first characters. */
const kinds: readonly (readonly [prefix: string, code: PostgresErrorCode])[] = [
  ['40', 'database-conflict'],
  ['55P03', 'database-conflict'],
  ['57014', 'database-timeout'],
  // `idle_in_transaction_session_timeout` and `transaction_timeout` of the server.
  ['25P03', 'database-timeout'],
  ['25P04', 'database-timeout'],
  ['57', 'database-unavailable'],
  ['08', 'database-unavailable'],
  ['53100', 'database-full'],
  ['53', 'database-unavailable'],
  // A server that was promoted or is in recovery accepts no writes for a while.
  ['25006', 'database-unavailable'],
  ['28', 'database-denied'],
  ['42501', 'database-denied'],
  ['3D000', 'database-denied'],
  ['42P01', 'database-schema'],
  ['42703', 'database-schema'],
  ['42883', 'database-schema'],
  ['3F000', 'database-schema'],
];

const kindOf = (code: string | undefined, message: string): PostgresErrorCode => {
  // PgBouncer has one code for all its errors, also for those that pass.
  if (/pooling mode/u.test(message)) return 'database-pooler';
  if (code !== undefined && /^[0-9A-Z]{5}$/u.test(code) && !code.startsWith('E')) {
    return kinds.find(([prefix]) => code.startsWith(prefix))?.[1] ?? 'database-failed';
  }
  if (/timeout/iu.test(message)) return /connect/iu.test(message) ? 'database-unavailable' : 'database-timeout';
  // Network errors of Node, and connections that the driver reports as ended.
  const isCut = code !== undefined || /terminated|ended|closed|not queryable/iu.test(message);
  return isCut ? 'database-unavailable' : 'database-failed';
};
