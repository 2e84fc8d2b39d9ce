import type { Postgres } from './postgres.js';

/** A condition: the process in this column renews its lease. */
export const isAlive = (database: Postgres, column: string): string =>
  `exists (select 1 from ${database.name('process')} p where p.id = ${column} and p.lease_until > clock_timestamp())`;

/** Registers this process as a holder of a store. */
export const hold = async (database: Postgres, store: string): Promise<void> => {
  await database.lease();
  await database.query(
    `insert into ${database.name('holder')} (store, process) values ($1, $2) on conflict do nothing`,
    [store, database.id],
  );
};

/** A common table expression that removes the dead processes among the holders of the store `$1`. */
export const deadHolders = (database: Postgres): string =>
  `dead as (delete from ${database.name('holder')} h where h.store = $1 and not ${isAlive(database, 'h.process')}
    returning h.process)`;

/** A common table expression with the row of the holder `$2` of the store `$1`, locked against its removal. */
export const ownHolder = (database: Postgres): string =>
  `own as (select process from ${database.name('holder')} where store = $1 and process = $2 for share)`;
