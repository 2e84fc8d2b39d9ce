import type { Pool } from 'pg';
import { PostgresError, toPostgresError } from './errors.js';
import { laneTables } from './migrations/lanes.js';
import { sessionTables } from './migrations/sessions.js';
import { storeTables } from './migrations/stores.js';

/**
 * The changes of the schema, from the first. Released ones never change; a new one is added at the end.
 *
 * `since` is the number of the oldest change that a process must know to work with the tables after this one: an
 * addition keeps the number, so that processes of the previous release continue to work.
 */
const migrations: readonly { readonly since: number; readonly sql: readonly string[] }[] = [
  { since: 1, sql: [...sessionTables, ...laneTables, ...storeTables] },
];

const timeoutMs = 60_000;

/**
 * Creates or updates the tables of a schema. Processes that start at once wait for the first of them.
 *
 * @throws PostgresError `database-schema` if a later release has changed the tables
 */
export const migrate = async (pool: Pool, schema: string): Promise<void> => {
  const client = await pool.connect();
  let failure: Error | undefined;
  const run = (text: string, values: readonly unknown[] = []) => {
    const query = { text, values: [...values], query_timeout: timeoutMs };
    return client.query<Record<string, unknown>>(query);
  };
  // A checked-out connection without a listener ends the process when it is cut.
  const onError = (error: Error): void => {
    failure = error;
  };
  client.on('error', onError);
  try {
    const known = await run('select to_regclass($1) as tables', [`${schema}.migration`]);
    if (known.rows[0]?.['tables'] !== null && (await versionOf(run, schema)) >= migrations.length) return;
    await run('begin');
    await run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`h:${schema}`]);
    // `if not exists` requires the privilege to create schemas even if the schema exists.
    const found = await run('select to_regnamespace($1) as schema', [schema]);
    if (found.rows[0]?.['schema'] === null) await run(`create schema "${schema}"`);
    await run(`set local search_path to "${schema}"`);
    await run(
      'create table if not exists migration (version integer primary key, since integer not null, applied_at timestamptz not null default now())',
    );
    // Another process may have created the tables since they were found missing, perhaps one of a later release.
    for (let version = await versionOf(run, schema); version < migrations.length; version += 1) {
      const { since = 1, sql = [] } = migrations[version] ?? {};
      for (const statement of sql) await run(statement);
      await run('insert into migration (version, since) values ($1, $2)', [version + 1, since]);
    }
    await run('commit');
  } catch (error) {
    // The connection ends, and with it the transaction. A server that has not answered would not answer `rollback` either.
    failure = toPostgresError(error);
    throw failure;
  } finally {
    client.off('error', onError);
    client.release(failure);
  }
};

type Run = (text: string) => Promise<{ readonly rows: readonly Record<string, unknown>[] }>;

/** The latest change of the tables. */
export interface TableVersion {
  readonly version: number;
  readonly since: number;
}

/** Columns with the {@link TableVersion} of a schema, for a statement that returns rows of another table. */
export const latestVersion = (table: string): string =>
  `(select max(version) from ${table}) as version, (select since from ${table} order by version desc limit 1) as since`;

/** @throws PostgresError `database-schema` if this release does not know a change of the tables that it must know */
export const checkVersion = (schema: string, { version, since }: TableVersion): void => {
  if (since <= migrations.length) return;
  throw new PostgresError(
    'database-schema',
    `The tables of schema ${JSON.stringify(schema)} have version ${version}, and this release of @h/postgres knows ${migrations.length}. Update the package.`,
  );
};

/** Returns the number of the latest change. @throws PostgresError if this release is too old for it */
const versionOf = async (run: Run, schema: string): Promise<number> => {
  const { rows } = await run(`select version, since from "${schema}".migration order by version desc limit 1`);
  const tables = { version: Number(rows[0]?.['version'] ?? 0), since: Number(rows[0]?.['since'] ?? 0) };
  checkVersion(schema, tables);
  return tables.version;
};
