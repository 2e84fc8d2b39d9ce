import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { inject, onTestFinished } from 'vitest';
import { connectPostgres, type Postgres, type PostgresError, type PostgresOptions } from '../src/index.js';

/** A schema for one test, and connections to it. */
export interface TestSchema {
  readonly schema: string;
  readonly url: string;
  /** Problems that connections have reported. */
  readonly problems: readonly PostgresError[];
  connect(options?: PostgresOptions): Postgres;
  /** Closes the connections and removes the schema. */
  dispose(): Promise<void>;
}

/** Whether each statement runs twice, as it does when the answer of the first attempt was lost. */
export const repeats = { statements: false };

const repeatStatements = (pool: Pool): Pool => {
  const query = pool.query.bind(pool) as unknown as (given: { readonly text: string }) => Promise<unknown>;
  const twice = async (given: { readonly text: string }): Promise<unknown> => {
    // A removal of what has expired returns how much it has removed itself.
    if (!given.text.includes("interval '1 ms'")) await query({ ...given });
    return query(given);
  };
  return Object.assign(pool, { query: twice });
};

/** Creates an empty schema; the caller disposes it. */
export const createSchema = (url = inject('databaseUrl')): TestSchema => {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  const problems: PostgresError[] = [];
  const connected: Postgres[] = [];
  const pools: Pool[] = [];
  const connectionString = `${url}?application_name=${schema}`;
  const repeatingPool = (max = 4): Pool => {
    const pool = repeatStatements(new Pool({ connectionString, max }));
    pools.push(pool);
    return pool;
  };
  return {
    schema,
    url,
    problems,
    connect: (options = {}) => {
      const database = connectPostgres({
        ...(options.pool === undefined &&
          (repeats.statements ? { pool: repeatingPool(options.maxConnections) } : { connectionString })),
        schema,
        maxConnections: 4,
        // On a slow machine, no lease ends during a test, and none is renewed after `endLease()`.
        leaseMs: 600_000,
        onProblem: (error) => problems.push(error),
        ...options,
      });
      connected.push(database);
      return database;
    },
    dispose: async () => {
      await Promise.all(connected.map((database) => database.close()));
      await Promise.all(pools.map((pool) => pool.end()));
      const admin = new Pool({ connectionString: url, max: 1 });
      try {
        await admin.query(`drop schema if exists "${schema}" cascade`);
      } finally {
        await admin.end();
      }
    },
  };
};

/** A schema that is removed when the test has finished. */
export const testSchema = (): TestSchema => {
  const schema = createSchema();
  onTestFinished(() => schema.dispose());
  return schema;
};

/** Whether a statement fails: before it runs, or after it, so that its answer is lost. */
export interface Faults {
  before: (sql: string) => boolean;
  after: (sql: string) => boolean;
}

/** A pool whose connections are cut at chosen statements. */
export const faultyPool = ({ url }: TestSchema): { readonly pool: Pool; readonly faults: Faults } => {
  const pool = new Pool({ connectionString: url, max: 2 });
  const query = pool.query.bind(pool) as unknown as (given: { readonly text: string }) => Promise<unknown>;
  const faults: Faults = { before: () => false, after: () => false };
  const cut = (): Error => Object.assign(new Error('Connection terminated.'), { code: 'ECONNRESET' });
  const faulty = async (given: { readonly text: string }): Promise<unknown> => {
    if (faults.before(given.text)) throw cut();
    const result = await query(given);
    if (faults.after(given.text)) throw cut();
    return result;
  };
  Object.assign(pool, { query: faulty });
  onTestFinished(() => pool.end());
  return { pool, faults };
};

/** Ends the lease of a process, as if it had been suspended past it. */
export const endLease = (database: Postgres): Promise<unknown> => moveLease(database, -1_000);

/** Renews the lease of a process, as it does itself when it continues. */
export const renewLease = (database: Postgres): Promise<unknown> => moveLease(database, 600_000);

const moveLease = (database: Postgres, ms: number): Promise<unknown> =>
  database.query(
    `update ${database.name('process')} set lease_until = clock_timestamp() + $2 * interval '1 ms' where id = $1`,
    [database.id, ms],
  );

/** Cuts the connections of a schema's pools, except the one that runs this. */
export const cutConnections = async ({ url, schema }: TestSchema): Promise<number> => {
  const admin = new Pool({ connectionString: url, max: 1 });
  try {
    const { rowCount } = await admin.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()',
      [schema],
    );
    return rowCount ?? 0;
  } finally {
    await admin.end();
  }
};
