import type { PoolState, PoolStore } from '@h/failover';
import { checkOptions, checkValue, instanceOf, nonEmptyString } from '@h/options';
import { newId } from './clock.js';
import { PostgresError } from './errors.js';
import { keyOf } from './keys.js';
import { Postgres } from './postgres.js';

/** Options of {@link postgresPool}. */
export interface PostgresPoolOptions {
  /**
   * The name of the pool. Pools with the same name share their cooldowns.
   *
   * @defaultValue `'pool'`
   */
  readonly name?: string | undefined;
}

const owner = 'postgresPool()';
/** Each lost race means that another process has written. */
const maxAttempts = 100;
/** More than processes write between two attempts of one statement. */
const maxWriters = 16;

/**
 * Shares the cooldowns of a credential pool between processes. Keys are never stored.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const pool = createCredentialPool({ profiles, store: postgresPool(database) });
 * ```
 */
export const postgresPool = (database: Postgres, options: PostgresPoolOptions = {}): PoolStore => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, { name: nonEmptyString });
  const name = keyOf(options.name ?? 'pool');
  const table = database.name('pool');
  const load = async (): Promise<{ readonly version: string; readonly state: PoolState }> => {
    const [row] = await database.query<{ version: string; body: string }>(
      `select version, body from ${table} where name = $1`,
      [name],
    );
    return { version: row?.version ?? '0', state: row ? stateIn(row.body) : empty };
  };
  return {
    read: async () => (await load()).state,
    update: async (change) => {
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const { version, state } = await load();
        const next = change(state);
        // A repeated statement finds that the first attempt has written, also if others have since.
        const written = await database.query(
          `with written as (
             insert into ${table} as p (name, version, body, writers) values ($1, 1, $2, array[$4::uuid])
             on conflict (name) do update set version = p.version + 1, body = excluded.body,
               writers = (excluded.writers || p.writers)[1:${maxWriters}]
               where p.version = $3 and not $4 = any (p.writers)
             returning 1
           )
           select 1 from written union all select 1 from ${table} where name = $1 and $4 = any (writers)`,
          [name, JSON.stringify(next), version, newId()],
        );
        if (written.length > 0) return next;
      }
      throw new PostgresError(
        'database-conflict',
        `The credential pool ${JSON.stringify(name)} was changed by other processes ${maxAttempts} times in a row. Retry the call.`,
      );
    },
  };
};

const empty: PoolState = { version: 1, windows: {} };

/** A state of a later release counts as empty. */
const stateIn = (body: string): PoolState => {
  const found = JSON.parse(body) as Partial<PoolState>;
  return found.version === 1 && typeof found.windows === 'object' ? { version: 1, windows: found.windows } : empty;
};
