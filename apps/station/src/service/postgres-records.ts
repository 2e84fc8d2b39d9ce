import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LruMap } from '@h/bounded';
import type { Postgres } from '@h/postgres';
import { PostgresChanges } from './postgres-changes.js';
import {
  RecordsError,
  type RecordChange,
  type RecordKind,
  type RecordQuery,
  type Records,
  type StoredRecord,
} from './records.js';

/** How often a change is repeated because another process was faster. */
const maxAttempts = 100;
/** Kinds that the process of a turn changes again and again, and the records of them that it remembers. */
const remembered: ReadonlySet<RecordKind> = new Set(['session', 'turn']);
const maxRemembered = 1_000;

/** Opens the records in PostgreSQL, for several processes. Creates their table. */
export const openPostgresRecords = async (database: Postgres): Promise<Records> => {
  const table = database.name('station_record');
  await database.query(`do $$ begin
    perform pg_advisory_xact_lock(hashtextextended('h:station:${database.settings.schema}', 0));
    create table if not exists ${table} (
      kind text not null, id text not null, tenant text not null, at bigint not null, body text,
      version bigint not null default 1, nonce uuid not null, changed xid8 not null default pg_current_xact_id(),
      changed_at timestamptz not null default clock_timestamp(), primary key (kind, id));
    create index if not exists station_record_list on ${table} (kind, tenant, at desc, id) where body is not null;
    create index if not exists station_record_times on ${table} (kind, at desc, id) where body is not null;
    create index if not exists station_record_changed on ${table} (changed);
  end $$`);
  return new PostgresRecords(database, table);
};

interface Row {
  readonly kind: RecordKind;
  readonly id: string;
  readonly tenant: string;
  readonly at: string;
  readonly body: string;
  /** Other than that of each earlier version. */
  readonly nonce: string;
}

class PostgresRecords implements Records {
  readonly #database: Postgres;
  readonly #table: string;
  readonly #changes: PostgresChanges;
  /** What this process wrote or changed last. It may be outdated. */
  readonly #known = new LruMap<string, Row>(maxRemembered);
  #wanted = new Map<string, readonly [RecordKind, string]>();
  #reading: Promise<ReadonlyMap<string, Row>> | undefined;

  constructor(database: Postgres, table: string) {
    this.#database = database;
    this.#table = table;
    this.#changes = new PostgresChanges(database, table);
  }

  async get<Kind extends RecordKind>(kind: Kind, id: string): Promise<StoredRecord<Kind> | undefined> {
    const row = await this.#row(kind, id);
    return row && recordOf(row);
  }

  async insert<Kind extends RecordKind>({ kind, id, tenant, at, body }: StoredRecord<Kind>): Promise<boolean> {
    // The nonce finds out whether the statement was repeated after its first answer was lost.
    const row = { kind, id, tenant, at: String(at), body: JSON.stringify(body), nonce: randomUUID() };
    const rows = await this.#database.query(
      `insert into ${this.#table} as r (kind, id, tenant, at, body, nonce) values ($1, $2, $3, $4, $5, $6)
       on conflict (kind, id) do update set tenant = excluded.tenant, at = excluded.at, body = excluded.body,
         nonce = excluded.nonce, version = r.version + 1, changed = pg_current_xact_id(), changed_at = clock_timestamp()
       where r.body is null or r.nonce = excluded.nonce returning 1`,
      [kind, id, tenant, at, row.body, row.nonce],
    );
    this.#changes.announce();
    if (rows.length > 0) this.#remember(row);
    return rows.length > 0;
  }

  async update<Kind extends RecordKind>(
    kind: Kind,
    id: string,
    change: (current: StoredRecord<Kind> | undefined) => StoredRecord<Kind> | undefined,
  ): Promise<StoredRecord<Kind> | undefined> {
    const key = keyOf(kind, id);
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const known = this.#known.get(key);
      this.#known.delete(key);
      const current = known ?? (await this.#row(kind, id));
      const next = change(current && recordOf(current));
      if (!next) {
        // What this process knows may be outdated: the change is decided by the record that is stored.
        if (known) continue;
        return current && recordOf(current);
      }
      if (!current) {
        if (await this.insert(next)) return next;
        continue;
      }
      const row = {
        kind,
        id,
        tenant: next.tenant,
        at: String(next.at),
        body: JSON.stringify(next.body),
        nonce: randomUUID(),
      };
      const rows = await this.#database.query(
        `update ${this.#table} set tenant = $3, at = $4, body = $5, nonce = $6, version = version + 1,
           changed = pg_current_xact_id(), changed_at = clock_timestamp()
         where kind = $1 and id = $2 and nonce in ($6, $7) and body is not null returning 1`,
        [kind, id, row.tenant, row.at, row.body, row.nonce, current.nonce],
      );
      if (rows.length === 0) continue;
      this.#changes.announce();
      this.#remember(row);
      return next;
    }
    throw new RecordsError(
      'records-busy',
      `The record ${kind} ${id} is changed by other processes all the time. Retry.`,
    );
  }

  async delete(kind: RecordKind, id: string): Promise<void> {
    await this.#database.query(
      `update ${this.#table} set body = null, version = version + 1, changed = pg_current_xact_id(),
         changed_at = clock_timestamp() where kind = $1 and id = $2 and body is not null`,
      [kind, id],
    );
    this.#known.delete(keyOf(kind, id));
    this.#changes.announce();
  }

  async list<Kind extends RecordKind>(kind: Kind, query: RecordQuery = {}): Promise<readonly StoredRecord<Kind>[]> {
    const { tenant, from, to, after, limit = 1000 } = query;
    const values: unknown[] = [kind, Math.min(limit, 1_000_000)];
    const conditions = ['kind = $1', 'body is not null'];
    const add = (sql: string, ...given: readonly unknown[]): void => {
      conditions.push(given.reduce<string>((text, value) => text.replace('?', `$${values.push(value)}`), sql));
    };
    if (tenant !== undefined) add('tenant = ?', tenant);
    if (from !== undefined) add('at >= ?', Math.round(from));
    if (to !== undefined) add('at <= ?', Math.round(to));
    if (after) add('(at < ? or (at = ? and id > ?))', after.at, after.at, after.id);
    const rows = await this.#database.query<Row>(
      `select * from ${this.#table} where ${conditions.join(' and ')} order by at desc, id collate "C" limit $2`,
      values,
    );
    return rows.map((row) => recordOf<Kind>(row));
  }

  async prune(kind: RecordKind, { before, keep }: { readonly before: number; readonly keep: number }): Promise<number> {
    const [row] = await this.#database.query<{ count: number }>(
      `with gone as (delete from ${this.#table} where kind = $1 and (at < $2 or at < (
         select at from ${this.#table} where kind = $1 order by at desc offset $3 limit 1)) returning 1),
       forgotten as (delete from ${this.#table} where body is null and kind <> $1
         and changed_at < clock_timestamp() - interval '1 day')
       select count(*)::integer as count from gone`,
      [kind, Math.round(before), keep],
    );
    return row?.count ?? 0;
  }

  onChange(callback: (change: RecordChange) => void): () => void {
    return this.#changes.onChange(callback);
  }

  close(): Promise<void> {
    return this.#changes.close();
  }

  #remember(row: Row): void {
    if (remembered.has(row.kind)) this.#known.set(keyOf(row.kind, row.id), row);
  }

  /** Reads a record. What is read in one turn of the event loop is one query. */
  async #row(kind: RecordKind, id: string): Promise<Row | undefined> {
    const key = keyOf(kind, id);
    this.#wanted.set(key, [kind, id]);
    this.#reading ??= this.#readWanted();
    return (await this.#reading).get(key);
  }

  async #readWanted(): Promise<ReadonlyMap<string, Row>> {
    await nextTurn();
    const wanted = [...this.#wanted.values()];
    this.#wanted = new Map();
    this.#reading = undefined;
    const rows = await this.#database.query<Row>(
      `select r.* from unnest($1::text[], $2::text[]) as wanted (kind, id) join ${this.#table} r using (kind, id)
       where r.body is not null`,
      [wanted.map(([kind]) => kind), wanted.map(([, id]) => id)],
    );
    const found = new Map(rows.map((row) => [keyOf(row.kind, row.id), row]));
    for (const [key, row] of found) if (this.#known.has(key)) this.#known.set(key, row);
    return found;
  }
}

const keyOf = (kind: RecordKind, id: string): string => `${kind}:${id}`;

const recordOf = <Kind extends RecordKind>({ kind, id, tenant, at, body }: Row): StoredRecord<Kind> => ({
  kind: kind as Kind,
  id,
  tenant,
  at: Number(at),
  body: JSON.parse(body) as StoredRecord<Kind>['body'],
});
