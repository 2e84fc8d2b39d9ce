import type { Postgres } from './postgres.js';

/** A condition: the process in this column renews its lease. */
export const isAlive = (database: Postgres, column: string): string =>
  `exists (select 1 from ${database.name('process')} p where p.id = ${column} and p.lease_until > clock_timestamp())`;

/** A condition: the process of the holder in this column renews its lease. */
export const isHolder = (database: Postgres, column: string): string =>
  `exists (select 1 from ${database.name('holder')} h where h.id = ${column} and ${isAlive(database, 'h.process')})`;

/** The holder of what belongs to no process. */
export const unowned = '00000000-0000-0000-0000-000000000000';

/** Registers a holder of a store in this process. */
export const hold = async (database: Postgres, store: string, id: string): Promise<void> => {
  await database.lease();
  const sql = `insert into ${database.name('holder')} (id, store, process) values ($1, $2, $3) on conflict do nothing`;
  await database.query(sql, [id, store, database.id]);
};

/**
 * Removes the holders of a store whose process is dead. What they have is found by {@link hasNoHolder} in a later
 * statement: this one waits for what they still store, but does not see it.
 */
export const removeDeadHolders = async (database: Postgres, store: string): Promise<void> => {
  const sql = `delete from ${database.name('holder')} h where h.store = $1 and not ${isAlive(database, 'h.process')}`;
  await database.query(sql, [store]);
};

/** A condition: the holder in this column was removed. */
export const hasNoHolder = (database: Postgres, column: string): string =>
  `(${column} <> '${unowned}' and not exists (select 1 from ${database.name('holder')} h where h.id = ${column}))`;

/** A common table expression with the holder `$1`, locked against its removal. */
export const ownHolder = (database: Postgres): string =>
  `own as (select id from ${database.name('holder')} where id = $1 for share)`;
