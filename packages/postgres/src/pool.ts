import type { PoolState, PoolStore } from '@h/failover';
import { checkOptions, checkValue, instanceOf, nonEmptyString } from '@h/options';
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
        const written = await database.query(
          `insert into ${table} as p (name, version, body) values ($1, 1, $2)
           on conflict (name) do update set version = p.version + 1, body = excluded.body where p.version = $3
           returning 1`,
          [name, JSON.stringify(next), version],
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
