import { checkOptions, checkValue, instanceOf, integerFrom, nonEmptyString } from '@h/options';
import type { ChildRecord, ChildStore } from '@h/subagents';
import { TurnError } from '@h/turn';
import { newId } from './clock.js';
import { hasNoHolder, hold, ownHolder, removeDeadHolders, unowned } from './holders.js';
import { keyOf } from './keys.js';
import { Postgres } from './postgres.js';

/** Options of {@link postgresChildren}. */
export interface PostgresChildrenOptions {
  /**
   * The name of the store. Each `subagents()` of a process has a separate name; other processes use the same names.
   *
   * @defaultValue `'children'`
   */
  readonly name?: string | undefined;
  /**
   * Maximum number of records of dead processes that `list` does not want and leaves to other processes. The oldest
   * ones beyond it are removed.
   *
   * @defaultValue `1000`, the default of `limits.unread`
   */
  readonly mostLeft?: number | undefined;
}

const owner = 'postgresChildren()';

/**
 * Stores records of sub-agents in PostgreSQL. `list` takes over the records of processes whose lease has ended, and those
 * of trees whose root session this process has open; each goes to one process.
 *
 * With workers, call `recover()` when a session with an unfinished turn was opened, as in the example.
 *
 * @throws InvalidOptionError
 *
 * @example
 * ```ts
 * const team = subagents({ agents, store: postgresChildren(database) });
 * const sessions = postgresSessions(database, {
 *   onUnfinished: async ({ session }) => void (await team.recover({ sessions: (root) => root === session })),
 * });
 * ```
 */
export const postgresChildren = (database: Postgres, options: PostgresChildrenOptions = {}): ChildStore => {
  checkValue(owner, 'database', database, instanceOf(Postgres, 'a connection of connectPostgres()'));
  checkOptions(owner, options, { name: nonEmptyString, mostLeft: integerFrom(0, Infinity) });
  const { mostLeft = 1000 } = options;
  const name = keyOf(options.name ?? 'children');
  const store = `children:${name}`;
  const table = database.name('child');
  let holding: Promise<string> | undefined;
  const held = (): Promise<string> => {
    const id = newId();
    holding ??= hold(database, store, id).then(
      () => id,
      (error: unknown) => {
        holding = undefined;
        throw error;
      },
    );
    return holding;
  };
  // Statements of a pool of connections may overtake each other.
  let last: Promise<unknown> = Promise.resolve();
  const inOrder = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
  const ordered = (children: ChildStore): ChildStore => ({
    save: (record) => inOrder(async () => children.save(record)),
    delete: (id) => inOrder(async () => children.delete(id)),
    list: (isWanted) => inOrder(async () => children.list(isWanted)),
  });
  return ordered({
    save: async (record) => {
      const holder = await held();
      const [row] = await database.query<{ is_own: boolean; is_saved: boolean }>(
        `with ${ownHolder(database)},
         saved as (
           insert into ${table} as c (store, key, owner, root, spawned_at, body)
           select $2, $3, own.id, $6, $4, $5 from own
           on conflict (store, key) do update set body = excluded.body where c.owner = excluded.owner
           returning 1
         )
         select exists (select 1 from own) as is_own, exists (select 1 from saved) as is_saved`,
        [holder, name, keyOf(record.id), record.spawnedAt, JSON.stringify(record), keyOf(record.root)],
      );
      // After the takeover of all records, later ones belong to this process again.
      if (row?.is_own !== true) holding = undefined;
      if (row?.is_saved !== true) throw takenError(record.id);
    },
    delete: async (id) => {
      const holder = await held();
      const sql = `delete from ${table} where store = $1 and key = $2 and owner = $3`;
      await database.query(sql, [name, keyOf(id), holder]);
    },
    list: async (isWanted = () => true) => {
      const holder = await held();
      // Records of dead processes belong to no process until one that wants them takes them over.
      await removeDeadHolders(database, store);
      await database.query(
        `update ${table} c set owner = $2 where c.store = $1 and ${hasNoHolder(database, 'c.owner')}`,
        [name, unowned],
      );
      // A process that handed its sessions over may live on.
      await database.query(
        `update ${table} c set owner = $2 from ${database.name('session')} s
         where c.store = $1 and c.owner <> $3 and c.owner <> $2 and s.key = c.root and s.owner = $4`,
        [name, unowned, holder, database.id],
      );
      const rows = await database.query<{ key: string; owner: string; body: string }>(
        `select key, owner, body from ${table} where store = $1 and owner in ($2, $3) order by spawned_at, key`,
        [name, holder, unowned],
      );
      const found = rows.map(({ body, ...row }) => ({ ...row, record: JSON.parse(body) as ChildRecord }));
      const left = found.filter((each) => each.owner === unowned && !isWanted(each.record));
      const wanted = found.filter(({ record }) => isWanted(record));
      const taken = await database.query<{ key: string }>(
        `with ${ownHolder(database)}
         update ${table} c set owner = own.id from own
         where c.store = $2 and c.key = any ($4) and c.owner in ($1, $3) returning c.key`,
        [holder, name, unowned, wanted.map(({ key }) => key)],
      );
      const beyond = left.slice(0, Math.max(0, left.length - mostLeft)).map(({ key }) => key);
      if (beyond.length > 0) {
        const sql = `delete from ${table} where store = $1 and owner = $2 and key = any ($3)`;
        await database.query(sql, [name, unowned, beyond]);
      }
      const own = new Set(taken.map(({ key }) => key));
      return wanted.filter(({ key }) => own.has(key)).map(({ record }) => record);
    },
  });
};

const takenError = (id: string): TurnError =>
  new TurnError(
    'store-taken',
    `Another process has taken over the record ${JSON.stringify(id)}, because the lease of this one ended or its session was handed over. The record was not stored.`,
  );
